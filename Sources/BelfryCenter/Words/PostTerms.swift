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

        /// Joins both.
        public init(scope: PostScope, key: IdempotencyKey? = nil) {
            self.scope = scope
            self.key = key
        }
    }
}
