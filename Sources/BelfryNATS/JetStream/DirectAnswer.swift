/// One of the answers to a DIRECT.GET: messages with rising numbers and an end, or a refusal alone.
public enum DirectAnswer: Sendable, Equatable {
    /// A message; its payload is that of the answer.
    case message(StoredPlace)
    /// The end of the batch; `numPending` messages of the stream are behind it.
    case endOfBatch(numPending: UInt64)
    /// The stream has no message of this number, nor a later one.
    case notFound
    /// The request was malformed.
    case badRequest
    /// The stream does not exist, or none of its servers is there.
    case noResponders
    /// The server says something else.
    case other(HeaderStatus)

    /// Reads the headers of an answer.
    ///
    /// - Throws: `malformedHeaders` or `invalidField`.
    public init(_ message: Message) throws(NATSError) {
        let headers = try message.headers()
        switch headers.status {
        case nil: self = .message(try StoredPlace(headers))
        case .endOfBatch?:
            guard let numPending = try headers.number(of: .numPending) else {
                throw .invalidField(.numPending)
            }
            self = .endOfBatch(numPending: numPending)
        case .notFound?: self = .notFound
        case .badRequest?: self = .badRequest
        case .noResponders?: self = .noResponders
        case let status?: self = .other(status)
        }
    }
}
