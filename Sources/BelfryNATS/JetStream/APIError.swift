/// The refusal of a request by JetStream, as the member `error` of its answer has it.
public struct APIError: Error, Equatable, Sendable {
    /// The status, in the manner of HTTP.
    public private(set) var code = 0
    /// The number of the reason; `err_code` in JSON.
    public private(set) var errorCode = 0
    /// The reason in words.
    public private(set) var description = ""

    /// The reason that there is no such stream.
    public static let streamNotFound = 10_059
    /// The reason that the stream of this name has other settings.
    public static let streamNameInUse = 10_058
    /// The error of a full stream that discards new messages.
    public static let maximumBytesExceeded = 10_077
    /// The reason that not enough servers of a cluster can have a copy; its words say why.
    public static let noSuitablePeers = 10_005
    /// The reason that a server alone keeps no copies.
    public static let replicasNotSupported = 10_074
    /// The reason that the servers have no room that is not reserved.
    public static let insufficientStorage = 10_047

    /// Reads an answer, which is an object with the member `error`, or with members of its own.
    ///
    /// - Parameter member: Reads one of its own members, or skips it.
    /// - Returns: The error that the server tells, or `nil`.
    static func read(
        _ json: [UInt8], member: MemberReader.Member
    ) throws(NATSError) -> APIError? {
        var error: APIError?
        try MemberReader.read(json) { name, reader throws(NATSError) in
            guard name == "error" else { return try member(name, &reader) }
            var read = APIError()
            try reader.object { name, reader throws(NATSError) in
                switch name {
                case "code": read.code = try reader.number()
                case "err_code": read.errorCode = try reader.number()
                case "description": read.description = try reader.text()
                default: try reader.skip()
                }
            }
            error = read
        }
        return error
    }
}
