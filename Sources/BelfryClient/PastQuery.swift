/// A look at what is kept of a channel, or of several whose names begin alike.
public struct PastQuery: Equatable, Sendable {
    /// The notifications; their names are one, or a prefix.
    public var filter: NotificationFilter
    /// The number above which they are.
    public var after: UInt64?
    /// The number below which they are.
    public var before: UInt64?
    /// The time since which they were posted, such as `2026-11-22T06:00:00Z` (RFC 3339).
    public var from: String?
    /// The time before which they were posted.
    public var until: String?
    /// Whether the newest comes first; the default is false.
    public var isNewestFirst = false
    /// How many a page has at most, 1 to 1,000; the broker's default is 100.
    public var limit: Int?
    /// Only the newest so many, 1 to 1,000, on one page.
    public var last: Int?
    /// Only the newest so many of each name and object, 1 to 100, on one page.
    public var lastEach: Int?

    /// Makes a look at all that is kept of these.
    public init(_ filter: NotificationFilter) {
        self.filter = filter
    }

    /// Makes a look at all that is kept of a channel.
    public init(name: String) {
        self.init(NotificationFilter(names: .exactly(name)))
    }

    /// The same look at the page behind this one; nil when this is the last one.
    public func following(_ page: PastPage) -> PastQuery? {
        guard let next = page.next else { return nil }
        var query = self
        if isNewestFirst { query.before = next } else { query.after = next }
        return query
    }

    /// The parameters of a page, or of a removal.
    var parameters: [(name: String, value: String)] {
        var parameters = filter.query
        if let after { parameters.append(("after", "\(after)")) }
        if let before { parameters.append(("before", "\(before)")) }
        if let from { parameters.append(("from", from)) }
        if let until { parameters.append(("until", until)) }
        if isNewestFirst { parameters.append(("order", "newest")) }
        if let limit { parameters.append(("limit", "\(limit)")) }
        if let last { parameters.append(("last", "\(last)")) }
        if let lastEach { parameters.append(("lastEach", "\(lastEach)")) }
        return parameters
    }
}

/// A page of what is kept.
public struct PastPage: Equatable, Sendable {
    /// The notifications, in the order that was asked for.
    public let notifications: [ReceivedNotification]
    /// The losses behind `PastQuery.after`.
    public let gaps: [ReceivedNotification.Gap]
    /// The `after` of the next page or, newest first, its `before`; nil on the last one.
    public let next: UInt64?
    /// Whether it has only the newest of those that `PastQuery.last` or `lastEach` asked for.
    ///
    /// An answer has at most 1,000 notifications, and ends at 1 MiB.
    public let isPartial: Bool
    /// The number from which an observer goes on without a hole (`Beginning.after`).
    public let sequence: UInt64
    /// The life of the center that its numbers are of.
    public let epoch: String

    /// Reads an answer of the broker.
    package init(json: [UInt8]) throws(ClientError) {
        guard let page = JSONObject(json), page.raw("notifications") != nil,
            let sequence = page.integer("seq").flatMap({ UInt64(exactly: $0) }),
            let epoch = page.string("epoch")
        else { throw .notUnderstood }
        notifications = try page.objects("notifications").map { row throws(ClientError) in
            try ReceivedNotification(json: row.json)
        }
        gaps = page.objects("gaps").map { gap in
            ReceivedNotification.Gap(
                lostCount: gap.integer("lost"), reason: gap.string("reason") ?? "unknown")
        }
        next = page.integer("next").flatMap { UInt64(exactly: $0) }
        isPartial = page.raw("partial")?.elementsEqual("true".utf8) ?? false
        self.sequence = sequence
        self.epoch = epoch
    }
}
