/// The notifications of the past that a caller asks for.
public struct PastQuery: Sendable {
    /// The name; nil for any.
    public var name: [UInt8]?
    /// The object; nil for any.
    public var object: [UInt8]?
    /// A prefix or a condition beside them.
    public var terms: FilterTerms?
    /// The number above which they are.
    public var after: UInt64 = 0
    /// The number below which they are.
    public var before = UInt64.max
    /// The time from which on they were posted, in milliseconds since 1970.
    public var from = Int64.min
    /// The time before which they were posted.
    public var until = Int64.max
    /// The one notification that is meant.
    public var id: NotificationID?
    /// Whether the newest come first.
    public var isNewestFirst = false
    /// How many of them.
    public var limit = 100
    /// How many of the newest of each name and object; nil for all.
    public var lastEach: Int?

    /// Makes a query for everything.
    public init() {}
}

/// A page of the past.
public struct PastPage: Sendable {
    /// The notifications that were found so far, in the order that was asked for.
    public var notifications: [Notification] = []
    /// The number behind which the next look begins.
    public var cursor: UInt64
    /// Whether the look has ended: the page is full, or there is nothing more.
    public var isDone = false
    /// Whether a further notification follows.
    public var hasMore = false
    /// The last number that could no longer be found.
    public internal(set) var lostThrough: UInt64 = 0
    /// How many of each kind were found.
    var counts: [[UInt8]: Int] = [:]
    /// The bytes of the notifications.
    var byteCount = 0

    /// Begins at a number.
    init(cursor: UInt64) { self.cursor = cursor }
}
