/// The answer of a server's monitoring port about its JetStream (`GET /jsz?config=1`).
public struct MonitoredStorage: Sendable, Equatable {
    /// Whether the server writes to its disk before it answers (`sync_interval: "always"`).
    public let syncsAlways: Bool

    /// The target of the question.
    public static let target = Array("/jsz?config=1".utf8)

    /// Reads the answer; members that are not known are passed over.
    ///
    /// - Throws: `malformedJSON`, or `unexpectedMember` for a server without JetStream.
    public init(json: [UInt8]) throws(NATSError) {
        var syncsAlways: Bool?
        try MemberReader.read(json) { name, reader throws(NATSError) in
            guard name == "config" else { return try reader.skip() }
            // A server that does not tell it has it not.
            syncsAlways = false
            try reader.object { name, reader throws(NATSError) in
                if name == "sync_always" {
                    syncsAlways = try reader.flag()
                } else {
                    try reader.skip()
                }
            }
        }
        guard let syncsAlways else { throw .unexpectedMember("config") }
        self.syncsAlways = syncsAlways
    }
}
