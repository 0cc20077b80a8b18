/// The terms under which a post, or a batch of them, is accepted.
public struct PostTerms: Sendable {
    /// How long the poster waits for acknowledging observers, in nanoseconds; 0 is not at all.
    public var wait: Int64 = 0
    /// Whether the answer has one row for each observer.
    public var reportsObservers = false
    /// Whether stored changes are possible now.
    ///
    /// If not, a post that would have to be stored is refused, and nothing is accepted.
    public var canStore = true
    /// The owner that the queue entries count for.
    public var owner = Owner.none
    /// Bytes still free for the queues of the whole broker.
    public var queueByteRoom = Int.max
    /// Terms that only few posts have; nil for a caller that may post everything and sent no key.
    public var details: Details?

    /// Makes terms with the defaults.
    public init() {}

    /// Terms that only few posts have.
    public final class Details: Sendable {
        /// The scope of the caller: an entry outside it is neither merged with nor removed.
        public let scope: PostScope
        /// The Idempotency-Key.
        public let key: IdempotencyKey?
        /// The caller that sets a timer; nil for a command without timers.
        public let setter: TimerSetter?

        /// Joins the parts.
        public init(scope: PostScope, key: IdempotencyKey? = nil, setter: TimerSetter? = nil) {
            self.scope = scope
            self.key = key
            self.setter = setter
        }
    }

    /// The caller that sets a timer.
    public struct TimerSetter: Sendable {
        /// The client that calls; nil over HTTP.
        public let client: UInt64?
        /// The principal of the caller.
        public let principal: TimerRecord.Principal
        /// Bytes still free for the timers of the whole broker.
        public let byteRoom: Int

        /// Joins the parts.
        public init(client: UInt64?, principal: TimerRecord.Principal, byteRoom: Int) {
            self.client = client
            self.principal = principal
            self.byteRoom = byteRoom
        }
    }
}
