/// The answer to "who would be asked this?".
public struct AskExplanation: Sendable, Equatable {
    /// The result of the ask that is explained.
    public var outcome: Outcome
    /// The addresses that would be asked, in the order of the walk.
    public var path: [[UInt8]] = []
    /// Addresses and holders that the walk passed over, with the reasons.
    public var skipped: [Skipped] = []
    /// Whether the walk passed over more than ``skippedLimit``.
    public var isPartial = false

    /// How many entries ``skipped`` has at most.
    public static let skippedLimit = 1_000

    /// The result of an ask that is made now.
    public enum Outcome: Sendable, Equatable {
        /// This observer would be shown the ask.
        case delivered(observer: UInt64)
        /// The ask would wait for this observer.
        case held(observer: UInt64)
        /// The ask would end.
        case failed(AskFailure)
    }

    /// An address, or one of its holders, that does not take an ask.
    public struct Skipped: Sendable, Equatable {
        /// The address.
        public let object: [UInt8]
        /// The holder of the address; nil when it has none.
        public let observer: UInt64?
        /// The reason why it does not take the ask.
        public let reason: Reason
    }

    /// The reason why an ask is not taken.
    public enum Reason: Sendable, Equatable {
        /// The address has no holder.
        case noResponder
        /// The holder does not list the selector.
        case notImplemented
        /// The holder is suspended, and does not hold.
        case suspended
        /// The holder is at its limit of open asks, and does not hold.
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
