/// The answer to "who would be asked this?".
public struct AskExplanation: Sendable, Equatable {
    /// What would happen.
    public var outcome: Outcome
    /// The addresses that would be asked, in the order of the walk.
    public var path: [[UInt8]] = []
    /// Who was stepped over, and why.
    public var skipped: [Skipped] = []
    /// Whether more were stepped over than ``skippedLimit``.
    public var isPartial = false

    /// How many of those that were stepped over are told at most.
    public static let skippedLimit = 1_000

    /// What would happen to an ask.
    public enum Outcome: Sendable, Equatable {
        /// This observer would be shown it.
        case delivered(observer: UInt64)
        /// It would wait for this observer.
        case held(observer: UInt64)
        /// It would end.
        case failed(AskFailure)
    }

    /// An address, or one who holds it, that does not take an ask.
    public struct Skipped: Sendable, Equatable {
        /// The address.
        public let object: [UInt8]
        /// Who holds it; nil where nobody does.
        public let observer: UInt64?
        /// Why it does not take the ask.
        public let reason: Reason
    }

    /// Why an ask is not taken.
    public enum Reason: Sendable, Equatable {
        /// Nobody holds the address.
        case noResponder
        /// It does not list the selector.
        case notImplemented
        /// It is suspended, and does not hold.
        case suspended
        /// It has as many open asks as it may, and does not hold.
        case busy

        /// The word in JSON.
        public var text: String {
            switch self {
            case .noResponder: "no-responder"
            case .notImplemented: "not-implemented"
            case .suspended: "suspended"
            case .busy: "busy"
            }
        }
    }
}
