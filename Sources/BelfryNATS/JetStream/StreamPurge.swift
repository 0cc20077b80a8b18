/// The answer of STREAM.PURGE.
public struct StreamPurge: Sendable, Equatable {
    /// How many messages were removed.
    public private(set) var purged: UInt64 = 0

    /// Reads an answer.
    ///
    /// - Throws: `malformedJSON`, or `unexpectedMember` without `success`.
    public static func read(_ json: [UInt8]) throws(NATSError) -> Result<StreamPurge, APIError> {
        var answer = Self()
        var isSuccess = false
        let error = try APIError.read(json) { name, reader throws(NATSError) in
            switch name {
            case "purged": answer.purged = try reader.number()
            case "success": isSuccess = try reader.flag()
            default: try reader.skip()
            }
        }
        if let error { return .failure(error) }
        guard isSuccess else { throw .unexpectedMember("success") }
        return .success(answer)
    }
}
