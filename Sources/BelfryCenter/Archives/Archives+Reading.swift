import BelfryBytes

// Pages of the past for callers who do not observe.

extension PastQuery {
    /// Whether a notification is one of those; nil past the limit of work.
    func matches(_ notification: Notification, _ work: inout FilterWork) -> Bool? {
        guard notification.sequence > after, notification.sequence < before,
            notification.postedAt >= from, notification.postedAt < until,
            id.map({ $0 == notification.id }) ?? true
        else { return false }
        let content = notification.content
        if let name, !bytesAreEqual(content.name, name.span) { return false }
        if name == nil, terms?.namesChannels != true, content.isReserved { return false }
        if let object {
            guard let own = content.object, bytesAreEqual(own, object.span) else { return false }
        }
        guard let terms else { return true }
        if !terms.cover(content) { return false }
        guard let condition = FilterCondition(terms, for: content.name) else { return true }
        return work.isTrue(condition, of: content)
    }

    /// Whether the newest are looked at first.
    public var looksDown: Bool { isNewestFirst || lastEach != nil }
}

extension PastPage {
    /// Begins with the page of a query.
    public init(of query: PastQuery) {
        self.init(cursor: query.looksDown ? query.before : query.after)
    }
}

extension PastPage {
    /// Goes on with a page: archives have what is kept, and the ring the rest.
    mutating func read(
        _ query: PastQuery, in archives: borrowing Archives, _ ring: borrowing ReplayRing,
        _ index: borrowing ObserverIndex, at time: CommandTime,
        isVisible: (Notification) -> Bool
    ) {
        var pastWork = PastWork()
        while !isDone {  // Share: past
            let found =
                query.looksDown
                ? archives.next(below: cursor, ring, index, at: time, &pastWork)
                : archives.next(above: cursor, ring, index, at: time, &pastWork)
            guard let found else {
                isDone = !pastWork.isDone
                return
            }
            let notification = found.notification
            if query.looksDown
                ? notification.sequence <= query.after : notification.sequence >= query.before
            {
                isDone = true
                return
            }
            if found.isInArchive || archives.isOfRing(notification) {
                guard let matches = query.matches(notification, &pastWork.conditions) else {
                    return
                }
                if matches, isVisible(notification) { add(notification, query) }
            }
            if isDone { return }
            cursor = notification.sequence
        }
    }
}

extension PastPage {
    /// Adds a notification that is wanted, if the page has room.
    fileprivate mutating func add(_ notification: Notification, _ query: PastQuery) {
        if let most = query.lastEach {
            let kind = ArchivedKindKey(notification.content, in: 0, isOfObject: true).bytes
            guard counts[kind, default: 0] < most else { return }
            counts[kind, default: 0] += 1
        }
        if notifications.count == query.limit || byteCount >= Self.byteLimit {
            (isDone, hasMore) = (true, true)
        } else {
            notifications.append(notification)
            byteCount += notification.content.byteCount
        }
    }

    /// The bytes past which a page ends; at least one notification is in it.
    private static let byteLimit = 1 << 20
}
