// Looking inside a center changes nothing, so it needs no command (rule O8).

extension NotificationCenter {
    /// Decides whether the caller may see something with this filter.
    public typealias Visibility = (_ name: [UInt8]?, _ object: [UInt8]?) -> Bool

    /// How many rows one page looks at: a page may be short, and still have a next one.
    static let pageScanLimit = 20_000
    /// How many names `explain` compares for near misses.
    static let nearNameScanLimit = 100_000
    /// How many near misses `explain` tells.
    static let nearMissLimit = 20

    /// How many observers the center has.
    public var observerCount: Int { observers.count }

    /// How many clients the center has.
    public var clientCount: Int { clients.count }

    /// An observer, if the center has it.
    public func observer(_ serial: UInt64) -> ObserverRow? {
        observers.slot(of: serial).map { row(ofSlot: $0) }
    }

    /// What remains of a removed observer, if it is remembered.
    public func tombstone(_ serial: UInt64) -> Tombstone? { tombstones[serial] }

    /// A client, if the center has it.
    public func client(_ id: UInt64) -> ClientRow? {
        clients.slot(of: id).map { row(ofClientSlot: $0) }
    }

    /// The account of a post, unless it is forgotten (5 minutes, 100,000 posts).
    public func receipt(of id: NotificationID, at time: CommandTime) -> Receipt? {
        fates.receipt(of: id, at: time.monotonicNanoseconds)
    }

    /// The observers after a cursor in registration order.
    public func observers(
        matching query: ObserverQuery, visible: Visibility
    ) -> Page<ObserverRow> {
        page(of: observers.order, after: query.cursor, limit: query.limit) { slot in
            let row = row(ofSlot: slot)
            return query.includes(row) && visible(row.name, row.object) ? row : nil
        }
    }

    /// The clients after a cursor in the order of their numbers.
    public func clients(after cursor: UInt64, limit: Int, principal: [UInt8]?) -> Page<ClientRow> {
        page(of: clients.order, after: cursor, limit: limit) { slot in
            let row = row(ofClientSlot: slot)
            return principal == nil || principal == row.principal ? row : nil
        }
    }

    /// The channels after a cursor; their order has no meaning.
    public func channels(
        after cursor: UInt64, limit: Int, name: [UInt8]?, visible: Visibility
    ) -> Page<ChannelRow> {
        var page = Page<ChannelRow>()
        if let name {
            let row = index.channels.index(of: name.span).flatMap { index.channels.row(at: $0) }
            if let row, cursor == 0, visible(row.name, nil) { page.rows = [row] }
            return page
        }
        var position = Int(clamping: cursor)
        let scanEnd = min(index.channels.indexLimit, position + Self.pageScanLimit)
        while position < scanEnd, page.rows.count < limit {
            if let row = index.channels.row(at: UInt32(position)), visible(row.name, nil) {
                page.rows.append(row)
            }
            position += 1
        }
        page.next = position < index.channels.indexLimit ? UInt64(position) : nil
        return page
    }

    private func page<Row>(
        of order: PostingList, after cursor: UInt64, limit: Int, row: (UInt32) -> Row?
    ) -> Page<Row> {
        var page = Page<Row>()
        var position = order.position(after: cursor)
        let scanEnd = min(order.entries.count, position + Self.pageScanLimit)
        while position < scanEnd, page.rows.count < limit {
            let entry = order.entries[position]
            if !entry.isDead, let row = row(entry.slot) { page.rows.append(row) }
            position += 1
        }
        page.next = position < order.entries.count ? order.entries[position - 1].serial : nil
        return page
    }

    func row(ofSlot slot: UInt32) -> ObserverRow {
        let observer = observers[slot]
        let client = clients[observer.client]
        return ObserverRow(
            serial: observer.serial, client: client.id, name: index.name(of: observer.place),
            object: index.object(of: observer.place),
            selector: selectors.text(of: observer.selector),
            since: observer.since, createdAt: observer.createdAt, stateSince: client.connectedAt,
            principal: client.principal, delivered: observer.delivered,
            lastDeliveredAt: observer.delivered == 0 ? nil : observer.lastDeliveredAt,
            tokenHash: observer.tokenHash)
    }

    private func row(ofClientSlot slot: UInt32) -> ClientRow {
        let client = clients[slot]
        return ClientRow(
            id: client.id, transport: client.transport, connection: client.connection,
            principal: client.principal, observerCount: client.observerCount,
            connectedAt: client.connectedAt, sessionHash: client.sessionHash)
    }
}

/// Which observers a listing asks for; a field that is nil or zero asks for any.
public struct ObserverQuery: Sendable {
    /// The serial number after which the page starts.
    public var cursor: UInt64 = 0
    /// How many rows the page has at most.
    public var limit = 100
    /// The notification name of the filter.
    public var name: [UInt8]?
    /// The object of the filter.
    public var object: [UInt8]?
    /// The number of the client.
    public var client: UInt64?
    /// Who the client is.
    public var principal: [UInt8]?

    /// Asks for all observers.
    public init() {}

    func includes(_ row: ObserverRow) -> Bool {
        (name == nil || name == row.name) && (object == nil || object == row.object)
            && (client == nil || client == row.client)
            && (principal == nil || principal == row.principal)
    }
}

// MARK: - Explaining

extension NotificationCenter {
    /// Tells who would get a notification, and who nearly would; nothing is delivered or counted.
    ///
    /// Near misses are looked for among the first 100,000 names and observers.
    public func explain(name: [UInt8], object: [UInt8]?, visible: Visibility) -> Explanation {
        var explanation = Explanation()
        let channel = index.channels.index(of: name.span) ?? ObserverIndex.noList
        // The notification is never posted: only its name and object are looked up.
        let content = Notification.Content(name: name, object: object)
        index.forEachSlot(in: index.buckets(channel: channel, object: content.object)) { slot in
            let row = row(ofSlot: slot)
            if visible(row.name, row.object) { explanation.observers.append(row) }
        }
        let nearChannels = channelsNear(name)
        for entry in observers.order.entries.prefix(Self.nearNameScanLimit) where !entry.isDead {
            guard explanation.nearMisses.count < Self.nearMissLimit else { break }
            let place = observers[entry.slot].place
            let reason: NearMiss.Reason
            if place.channel == channel, channel != ObserverIndex.noList {
                guard let wanted = index.object(of: place), wanted != object else { continue }
                reason = .objectDiffers
            } else if let near = nearChannels[place.channel] {
                reason = near
            } else {
                continue
            }
            let row = row(ofSlot: entry.slot)
            guard visible(row.name, row.object) else { continue }
            explanation.nearMisses.append(NearMiss(observer: row, reason: reason))
        }
        return explanation
    }

    /// The channels whose names a reader would take for this one.
    private func channelsNear(_ name: [UInt8]) -> [UInt32: NearMiss.Reason] {
        var near: [UInt32: NearMiss.Reason] = [:]
        let text = String(decoding: name, as: UTF8.self)
        let lowercase = text.lowercased()
        for position in 0..<min(index.channels.indexLimit, Self.nearNameScanLimit) {
            let candidate = index.channels.name(at: UInt32(position))
            guard !candidate.isEmpty, candidate != name else { continue }
            let other = String(decoding: candidate, as: UTF8.self)
            // Swift compares strings by canonical equivalence, which is what is asked here.
            if other == text {
                near[UInt32(position)] = .nameDiffersInUnicodeForm
            } else if other.lowercased() == lowercase {
                near[UInt32(position)] = .nameDiffersInCase
            }
        }
        return near
    }
}

// MARK: - Reports

extension NotificationCenter {
    /// Observers that look forgotten: for now those that are registered twice by one client.
    public func leaks(limit: Int, visible: Visibility) -> [Leak] {
        var leaks: [Leak] = []
        var seen: Set<Registered> = []
        for entry in observers.order.entries where !entry.isDead {
            guard leaks.count < limit else { break }
            let observer = observers[entry.slot]
            let registered = Registered(
                client: observer.client, channel: observer.place.channel,
                object: observer.place.object, selector: observer.selector)
            guard !seen.insert(registered).inserted else { continue }
            let row = row(ofSlot: entry.slot)
            if visible(row.name, row.object) {
                leaks.append(Leak(observer: row, reason: .duplicate))
            }
        }
        return leaks
    }

    private struct Registered: Hashable {
        let client: UInt32
        let channel: UInt32
        let object: UInt32
        let selector: UInt32
    }

    /// Names that are posted and not observed, and observers of names that are not posted.
    public func unmatched(limit: Int, visible: Visibility) -> UnmatchedReport {
        var report = UnmatchedReport()
        for position in 0..<index.channels.indexLimit {
            guard report.postedNeverObserved.count < limit else { break }
            guard let row = index.channels.row(at: UInt32(position)), row.postCount > 0,
                !index.channels.wasMatched(at: UInt32(position)), visible(row.name, nil)
            else { continue }
            report.postedNeverObserved.append(
                UnobservedName(name: row.name, postCount: row.postCount))
        }
        for entry in observers.order.entries where !entry.isDead {
            guard report.observedNeverPosted.count < limit else { break }
            let channel = observers[entry.slot].place.channel
            guard channel != ObserverIndex.noList, index.channels.postCount(at: channel) == 0
            else { continue }
            let row = row(ofSlot: entry.slot)
            if visible(row.name, row.object) { report.observedNeverPosted.append(row) }
        }
        return report
    }
}
