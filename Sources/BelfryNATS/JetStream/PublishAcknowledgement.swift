/// The answer of a stream to a published message.
public struct PublishAcknowledgement: Sendable, Equatable {
    /// The name of the stream.
    public private(set) var stream = ""
    /// The number of the message in the stream: of the first one, for a duplicate.
    public private(set) var sequence: UInt64 = 0
    /// Whether the stream has a message of this id, and did not take another one.
    public private(set) var isDuplicate = false

    /// Reads an acknowledgement.
    ///
    /// - Throws: `malformedJSON`, or `unexpectedMember` without a sequence.
    public static func read(
        _ json: [UInt8]
    ) throws(NATSError) -> Result<PublishAcknowledgement, APIError> {
        var answer = Self()
        let error = try APIError.read(json) { name, reader throws(NATSError) in
            switch name {
            case "stream": answer.stream = try reader.text()
            case "seq": answer.sequence = try reader.number()
            case "duplicate": answer.isDuplicate = try reader.flag()
            default: try reader.skip()
            }
        }
        if let error { return .failure(error) }
        guard answer.sequence > 0 else { throw .unexpectedMember("seq") }
        return .success(answer)
    }
}
