/// The stored record of a timer.
public struct TimerRecord: Sendable, Equatable {
    /// The post with its options, which have the terms of the timer.
    ///
    /// They have the delay of the first firing, or of a farewell, unless a time of day was asked
    /// for.
    public let post: Post
    /// How long the chain of `causedBy` is with it at its end.
    public let depth: Int
    /// When it was posted, in milliseconds since 1970.
    public let postedAt: Int64
    /// The next due time, in milliseconds since 1970; nil for a farewell whose client is connected.
    public let dueAt: Int64?
    /// Whether a due post may have been posted in an earlier life of the broker.
    public let isRestored: Bool
    /// The scope of the poster.
    public let scope: PostScope
    /// The client that it ends with, or waits for; nil for other timers.
    public let client: UInt64?
    /// The principal whose rights a farewell needs when it fires; nil for other timers.
    public let principal: Principal?
    /// The history of a repeating timer; nil for other timers.
    public let repetition: Repetition?

    /// The maker of a farewell.
    public struct Principal: Sendable, Equatable {
        /// The name.
        public let name: [UInt8]
        /// Whether it has a key, which may be revoked.
        public let hasKey: Bool

        /// Joins both.
        public init(name: [UInt8], hasKey: Bool) {
            self.name = name
            self.hasKey = hasKey
        }
    }

    /// The history of a repeating timer.
    public struct Repetition: Sendable, Equatable {
        /// When its first firing was due, in milliseconds since 1970.
        public let startAt: Int64
        /// Which firing is next; the first one is 0.
        public let next: Int64
        /// How many were made.
        public let fired: Int64
        /// How many were due and not made.
        public let missed: Int64
        /// The last firing that was made; nil while there was none.
        public let lastMade: Int64?
        /// Nanoseconds that are left of its lease; nil is forever.
        public let leaseLeft: Int64?

        /// Joins the parts.
        public init(
            startAt: Int64, next: Int64, fired: Int64, missed: Int64, lastMade: Int64?,
            leaseLeft: Int64?
        ) {
            self.startAt = startAt
            self.next = next
            self.fired = fired
            self.missed = missed
            self.lastMade = lastMade
            self.leaseLeft = leaseLeft
        }
    }

    /// Joins the parts.
    public init(
        post: Post, depth: Int, postedAt: Int64, dueAt: Int64?, isRestored: Bool = false,
        scope: PostScope = .everything,
        client: UInt64? = nil, principal: Principal? = nil, repetition: Repetition? = nil
    ) {
        self.post = post
        self.depth = depth
        self.postedAt = postedAt
        self.dueAt = dueAt
        self.isRestored = isRestored
        self.scope = scope
        self.client = client
        self.principal = principal
        self.repetition = repetition
    }
}
