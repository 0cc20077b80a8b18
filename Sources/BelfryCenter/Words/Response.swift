/// What a client says to a delivery that it must answer.
public enum Response: Sendable, Equatable {
    /// It has done it; the result as JSON text.
    case result([UInt8])
    /// It refuses; the JSON-RPC error as it was sent, at most 1 KiB.
    case refusal([UInt8])
    /// It hands on: somebody else is to answer (rule R7).
    case passed
}

extension Response {
    /// The error of a refusal.
    public var refusal: [UInt8]? {
        if case .refusal(let error) = self { error } else { nil }
    }
}
