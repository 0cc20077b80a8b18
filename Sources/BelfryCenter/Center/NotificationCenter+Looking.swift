import BelfryBytes

// Looking inside a center changes nothing, so it needs no command (rule O8).

extension NotificationCenter {
    /// Decides whether the caller may see something with this filter.
    public typealias Visibility = (_ name: [UInt8]?, _ object: [UInt8]?) -> Bool

    /// The most rows that one page examines: a short page may still have a next one.
    static let pageScanLimit = 20_000
    /// The bytes of text at which a page ends: no answer grows with the texts of clients.
    static let pageTextByteLimit = 128 << 10
    /// The most names and the most observers that `explain` and the reports examine.
    static let scanLimit = 100_000
    /// The most names beyond ASCII that `explain` compares: those take a hundred times as long.
    static let unicodeScanLimit = 5_000
    /// The most near misses that `explain` lists.
    static let nearMissLimit = 20

    /// How many observers the center has.
    public var observerCount: Int { registry.observers.count }

    /// An upper bound of the deliveries of a notification and the looks of its actions.
    ///
    /// Both cost the same. Observers that were removed lately may count.
    ///
    /// - Parameter limit: The count at which it may stop.
    public func deliveryBound(of content: Notification.Content, limit: Int) -> Int {
        var bound = registry.index.observerBound(of: content)
        guard !registry.targets.isEmpty else { return bound }
        // loop: ends where the bound is passed, or where one post examines no more
        registry.index.forEachSlot(of: content) { slot, _ in
            if let target = registry.observers.target(at: slot) {
                let selector = registry.selectors.text(of: registry.observers[slot].selector)
                bound += walk(from: [target], for: selector.span, passing: FewList()).lookCount
            }
            return bound <= limit && bound < limits.actionLookLimit
        }
        return bound
    }

    /// How often the counts of clients have changed, so that a reader need not compare them all.
    @inline(__always)
    public var clientChangeCount: UInt64 { registry.clients.counts.changeCount }

    /// The counts of clients by transport and state.
    public var clientCounts: ClientCounts { registry.clients.counts }

    /// How many clients the center has.
    public var clientCount: Int { registry.clients.count }

    /// How many names the center knows.
    public var channelCount: Int { registry.index.channels.count }

    /// How many notifications the replay ring has.
    public var replayCount: Int { history.replay.count }

    /// How many idempotency keys the center knows.
    public var keyCount: Int { history.keys.count }

    /// An observer, if the center has it.
    public func observer(_ serial: UInt64) -> ObserverRow? {
        registry.observers.slot(of: serial).map { row(ofSlot: $0) }
    }

    /// The tombstone of a removed observer, if it is remembered.
    public func tombstone(_ serial: UInt64) -> Tombstone? { registry.tombstones[serial] }

    /// A client, if the center has it.
    public func client(_ id: UInt64) -> ClientRow? {
        registry.clients.slot(of: id).map { row(ofClientSlot: $0) }
    }

    /// The account of a post, unless it is forgotten (5 minutes, 100,000 posts).
    public func receipt(of id: NotificationID, at time: CommandTime) -> Receipt? {
        if let receipt = history.fates.receipt(of: id, at: time.monotonicNanoseconds) {
            return receipt
        }
        // An entry of the queue may wait for longer than fates are remembered.
        var receipt = Receipt(id: id, sequence: 0)
        if let timer = schedule.timers.slot(of: id) {
            receipt.state = timedState(of: timer)
        } else if schedule.queue.entry(id) != nil {
            receipt.state = .queued
        } else {
            return nil
        }
        return receipt
    }

    /// The observers after a cursor in registration order.
    ///
    /// - Parameters:
    ///   - query: The observers that are wanted.
    ///   - scanLimit: The most rows to examine, if fewer than usual.
    ///   - visible: The filters that the caller may see.
    public func observers(
        matching query: ObserverQuery, scanLimit: Int = .max, visible: Visibility
    ) -> Page<ObserverRow> {
        if query.isSurvey { return survey(query, scanLimit: scanLimit, visible: visible) }
        var page = page(
            of: registry.observers.order, after: query.cursor, limit: query.limit,
            scanLimit: scanLimit,
            textByteCount: \.textByteCount
        ) { slot in
            let row = row(ofSlot: slot)
            return query.includes(row) && row.reach.isAllowed(visible) ? row : nil
        }
        if query.includesAll, visible(nil, nil) { page.total = registry.observers.count }
        return page
    }

    /// The clients after a cursor in the order of their numbers, by principal and state.
    public func clients(
        matching query: ObserverQuery, scanLimit: Int = .max
    ) -> Page<ClientRow> {
        if query.isSurvey { return survey(clients: query, scanLimit: scanLimit) }
        var page = page(
            of: registry.clients.order, after: query.cursor, limit: query.limit,
            scanLimit: scanLimit,
            textByteCount: \.principal.count
        ) { slot in
            let row = row(ofClientSlot: slot)
            let isWanted =
                (query.principal == nil || query.principal == row.principal)
                && (query.state == nil || query.state == row.state)
            return isWanted ? row : nil
        }
        if query.includesAll { page.total = registry.clients.count }
        return page
    }

    /// The channels after a cursor; their order has no meaning.
    public func channels(
        matching query: ObserverQuery, scanLimit: Int = .max, visible: Visibility
    ) -> Page<ChannelRow> {
        if query.isSurvey {
            return survey(channels: query, scanLimit: scanLimit, visible: visible)
        }
        var page = Page<ChannelRow>()
        let (cursor, limit) = (query.cursor, query.limit)
        if query.includesAll, visible(nil, nil) { page.total = registry.index.channels.count }
        if let name = query.name {
            if cursor == 0, visible(name, nil), let row = registry.channelRow(of: name) {
                page.rows = [row]
            }
            return page
        }
        var position = Int(clamping: cursor)
        guard position < registry.index.channels.indexLimit else { return page }
        let scanEnd = min(
            registry.index.channels.indexLimit,
            position + min(Self.pageScanLimit, max(scanLimit, 1)))
        var textByteCount = 0
        while position < scanEnd, page.rows.count < max(limit, 1),  // Share: listings
            textByteCount <= Self.pageTextByteLimit
        {
            if let row = registry.channelRow(at: UInt32(position)), visible(row.name, nil) {
                page.rows.append(row)
                textByteCount += row.name.count
            }
            position += 1
        }
        page.next = position < registry.index.channels.indexLimit ? UInt64(position) : nil
        return page
    }

    func page<Row>(
        of order: PostingList, after cursor: UInt64, limit: Int, scanLimit: Int = .max,
        textByteCount: (Row) -> Int, row: (UInt32) -> Row?
    ) -> Page<Row> {
        var page = Page<Row>()
        var pageTextByteCount = 0
        var lastSerial = cursor
        let start = order.position(after: cursor)
        for position in start..<order.entries.count {  // Share: listings
            let entry = order.entries[position]
            let isFull =
                !entry.isDead
                && (page.rows.count >= max(limit, 1)
                    || pageTextByteCount > Self.pageTextByteLimit)
            if isFull || position - start == min(Self.pageScanLimit, max(scanLimit, 1)) {
                page.next = lastSerial
                break
            }
            lastSerial = entry.serial
            if !entry.isDead, let row = row(entry.slot) {
                page.rows.append(row)
                pageTextByteCount += textByteCount(row)
            }
        }
        return page
    }

    /// The row of the observer in a slot.
    ///
    /// It is inlined, as a call would copy the center.
    @inline(__always)
    func row(ofSlot slot: UInt32) -> ObserverRow {
        let observer = registry.observers[slot]
        let client = registry.clients[observer.client]
        return ObserverRow(
            serial: observer.serial, client: client.id, transport: client.transport,
            name: registry.index.name(of: observer.place),
            object: registry.index.object(of: observer.place),
            selector: registry.selectors.text(of: observer.selector), terms: observer.terms,
            since: observer.since, createdAt: observer.createdAt, state: client.state,
            stateSince: client.stateSince, principal: client.principal,
            tally: observer.tally, held: observer.heldCount, tokenHash: observer.tokenHash,
            role: registry.observers.role(at: slot),
            leaseEndsAt: leaseEndsAt(of: slot),
            toldGaps: backlog.toldGaps.isEmpty ? [] : backlog.toldGaps[observer.serial] ?? [])
    }

    /// The end of an observer's lease on the wall clock, if it runs.
    private func leaseEndsAt(of slot: UInt32) -> Int64? {
        let end = registry.leaseEnd(of: slot)
        return end == .max ? nil : lastWallTime.adding((end - lastTime) / 1_000_000)
    }

    /// The row of the client in a slot.
    func row(ofClientSlot slot: UInt32) -> ClientRow {
        let client = registry.clients[slot]
        return ClientRow(
            id: client.id, transport: client.transport, connection: client.connection,
            state: client.state, stateSince: client.stateSince, principal: client.principal,
            observerCount: client.observers.count, held: client.held.list.count,
            connectedAt: client.connectedAt, sessionHash: client.sessionHash)
    }
}

// MARK: - Queue and modes

extension NotificationCenter {
    /// The entries of the queue in posting order, and behind them the timers in due order.
    ///
    /// A query may ask for another selection or order. A cursor is the number of rows to skip.
    ///
    /// - Parameters:
    ///   - query: The rows that are wanted.
    ///   - scanLimit: The most rows, or the most timers of a page, to examine, if fewer than usual.
    ///   - visible: The filters that the caller may see.
    public func queue(
        matching query: ObserverQuery, scanLimit: Int = .max, visible: Visibility
    ) -> Page<QueueEntryRow> {
        let isWanted: Visibility = { name, object in
            (query.name == nil || query.name == name)
                && (query.object == nil || query.object == object) && visible(name, object)
        }
        if query.isSurvey { return survey(queue: query, scanLimit: scanLimit, visible: isWanted) }
        var page = queuePage(query, scanLimit: scanLimit, visible: isWanted)
        if query.includesAll, visible(nil, nil) { page.total = count(ofQueue: query) }
        return page
    }

    /// The number of entries and timers that a query asks for.
    func count(ofQueue query: ObserverQuery) -> Int {
        (query.isWaiting == true ? 0 : schedule.queue.count)
            + (query.isWaiting == false ? 0 : schedule.timers.count)
    }

    private func queuePage(
        _ query: ObserverQuery, scanLimit: Int, visible: Visibility
    ) -> Page<QueueEntryRow> {
        let (cursor, limit) = (query.cursor, query.limit)
        if query.isWaiting == true {
            return timers(after: cursor, limit: limit, scanLimit: scanLimit, visible: visible)
        }
        var page = entries(after: cursor, limit: limit, visible: visible)
        guard query.isWaiting == nil, page.next == nil, schedule.timers.count > 0 else {
            return page
        }
        let entryCount = UInt64(schedule.queue.count)
        guard page.rows.count < limit else {
            page.next = entryCount
            return page
        }
        let rest = timers(
            after: max(cursor, entryCount) - entryCount, limit: limit - page.rows.count,
            scanLimit: scanLimit, visible: visible)
        page.rows += rest.rows
        page.next = rest.next.map { $0 + entryCount }
        return page
    }

    /// The entries of the queue in posting order.
    ///
    /// - Parameter cursor: The number of entries to skip.
    func entries(after cursor: UInt64, limit: Int, visible: Visibility) -> Page<QueueEntryRow> {
        var page = Page<QueueEntryRow>()
        var position: UInt64 = 0
        schedule.queue.forEachInPostingOrder { entry in
            position += 1
            guard position > cursor else { return true }
            guard page.rows.count < max(limit, 1) else {
                page.next = position - 1
                return false
            }
            if visible(entry.content.nameText, entry.content.objectText) {
                page.rows.append(Self.row(of: entry))
            }
            return true
        }
        return page
    }

    /// A queue entry or a timer, if it still waits.
    public func queueEntry(_ id: NotificationID) -> QueueEntryRow? {
        schedule.queue.entry(id).map { Self.row(of: $0) } ?? timer(id)
    }

    static func row(of entry: NotificationQueue.Entry) -> QueueEntryRow {
        QueueEntryRow(
            id: entry.id, content: entry.content, style: entry.style,
            coalescing: entry.coalescing, modes: entry.modes, mergedCount: entry.mergedCount,
            enqueuedAt: entry.enqueuedAt)
    }

    /// The mode stack.
    public var modes: ModesRow {
        ModesRow(
            current: schedule.modeStack.current,
            stack: schedule.modeStack.leases.map {
                ModesRow.Lease(
                    serial: $0.serial, mode: $0.mode, client: $0.client, tokenHash: $0.tokenHash)
            }, common: limits.commonModes)
    }

    /// Whether an `endTurn` command would do something.
    public var needsTurnEnd: Bool { needs.turnEnd }

    /// Whether an `idle` command would do something.
    public var needsIdle: Bool { needs.idle }

    /// How many entries the queue has.
    public var queueCount: Int { schedule.queue.count }

    /// Bytes of name, object and userInfo of the queue.
    public var queueByteCount: Int { schedule.queue.byteCount }

    /// Bytes of name, object and userInfo of all held notifications.
    public var heldByteCount: Int { backlog.held.byteCount }

    /// The number of held notifications.
    public var heldCount: Int { backlog.held.notificationCount }
}
