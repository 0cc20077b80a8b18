/// The answer of STREAM.INFO and STREAM.CREATE: settings and state of a stream.
public struct StreamInfo: Sendable, Equatable {
    /// The content of a stream.
    public struct State: Sendable, Equatable {
        /// The number of the first message; one past the last for a stream that was emptied.
        public internal(set) var firstSequence: UInt64 = 0
        /// The number of the last message; 0 for a stream that never had one.
        public internal(set) var lastSequence: UInt64 = 0
        /// How many messages there are.
        public internal(set) var messages: UInt64 = 0
        /// The room that they take, in bytes.
        public internal(set) var bytes: UInt64 = 0
    }

    /// The settings.
    public private(set) var config: StreamConfiguration
    /// The contents.
    public private(set) var state: State
    /// The name of the server that leads the stream; empty while there is none.
    public private(set) var leader = ""

    /// Reads an answer.
    ///
    /// - Throws: `malformedJSON`, or `unexpectedMember` for a missing or unknown member.
    public static func read(_ json: [UInt8]) throws(NATSError) -> Result<StreamInfo, APIError> {
        var config: StreamConfiguration?
        var state: State?
        var leader = ""
        let error = try APIError.read(json) { name, reader throws(NATSError) in
            switch name {
            case "config": config = try StreamConfiguration(&reader)
            case "state": state = try State(&reader)
            case "cluster":
                try reader.object { name, reader throws(NATSError) in
                    if name == "leader" {
                        leader = try reader.text()
                    } else {
                        try reader.skip()
                    }
                }
            default: try reader.skip()
            }
        }
        if let error { return .failure(error) }
        guard let config else { throw .unexpectedMember("config") }
        guard let state else { throw .unexpectedMember("state") }
        return .success(StreamInfo(config: config, state: state, leader: leader))
    }
}

extension StreamInfo.State {
    fileprivate init(_ reader: inout MemberReader) throws(NATSError) {
        var state = Self()
        try reader.object { name, reader throws(NATSError) in
            switch name {
            case "first_seq": state.firstSequence = try reader.number()
            case "last_seq": state.lastSequence = try reader.number()
            case "messages": state.messages = try reader.number()
            case "bytes": state.bytes = try reader.number()
            default: try reader.skip()
            }
        }
        self = state
    }
}
