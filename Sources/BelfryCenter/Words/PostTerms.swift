/// Under which terms a post, or a batch of them, is accepted.
public struct PostTerms: Sendable {
    /// How long the poster waits for acknowledging observers, in nanoseconds; 0 is not at all.
    public var wait: Int64 = 0
    /// Whether the answer has one row for each observer.
    public var reportsObservers = false
    /// Whether what must last can be stored now.
    ///
    /// If not, a post that would have to be stored is refused, and nothing is accepted.
    public var canStore = true
    /// The owner that what waits in the queue counts for.
    public var owner = Owner.none
    /// Bytes that all queues of the broker together still have room for.
    public var queueByteRoom = Int.max
    /// What only few posts have; nil when the caller may post everything and sent no key.
    public var details: Details?

    /// Takes the defaults.
    public init() {}

    /// What only few posts have.
    public final class Details: Sendable {
        /// What the caller may post: an entry outside of it is neither merged with nor removed.
        public let scope: PostScope
        /// The Idempotency-Key.
        public let key: IdempotencyKey?
        /// Who sets a timer; nil for those who set none.
        public let setter: TimerSetter?

        /// Joins the parts.
        public init(scope: PostScope, key: IdempotencyKey? = nil, setter: TimerSetter? = nil) {
            self.scope = scope
            self.key = key
            self.setter = setter
        }
    }

    /// Who sets a timer.
    public struct TimerSetter: Sendable {
        /// The client that calls; nil over HTTP.
        public let client: UInt64?
        /// Who it is.
        public let principal: TimerRecord.Principal
        /// Bytes that all timers of the broker together still have room for.
        public let byteRoom: Int

        /// Joins the parts.
        public init(client: UInt64?, principal: TimerRecord.Principal, byteRoom: Int) {
            self.client = client
            self.principal = principal
            self.byteRoom = byteRoom
        }
    }
}
