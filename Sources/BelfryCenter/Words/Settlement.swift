/// The reason why an ask is over for a responder that was shown it.
public enum Settlement: UInt8, Sendable, CaseIterable {
    /// The time of the ask is over.
    case expired
    /// The asker no longer wants the answer.
    case withdrawn
    /// Another responder is asked now.
    case passed

    /// The word in JSON.
    public var text: String {
        switch self {
        case .expired: "expired"
        case .withdrawn: "withdrawn"
        case .passed: "passed"
        }
    }
}
