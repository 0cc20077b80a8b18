/// What a client says to a delivery that it must answer.
public enum Response: Sendable, Equatable {
    /// It has done it; the result as JSON text.
    case result([UInt8])
    /// It refuses; the JSON-RPC error as it was sent, at most 1 KiB.
    case refusal([UInt8])
    /// It hands on, so that somebody else answers (rule R7); the error as it was sent, for where there is nobody else.
    case passed([UInt8])
}

extension Response {
    /// The error of a response that is no result.
    public var refusal: [UInt8]? {
        switch self {
        case .result: nil
        case .refusal(let error), .passed(let error): error
        }
    }
}
