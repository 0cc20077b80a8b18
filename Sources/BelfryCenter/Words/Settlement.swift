/// Why an ask is over for a responder that was shown it.
public enum Settlement: UInt8, Sendable, CaseIterable {
    /// Its time is over.
    case expired
    /// Nobody wants the answer any more.
    case withdrawn
    /// Somebody else is asked now.
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
