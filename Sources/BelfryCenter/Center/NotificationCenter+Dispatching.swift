// The way of one notification: a sequence number, the matching observers, and for each of them a
// delivery, an entry among the held ones, or a counted loss.

extension NotificationCenter {
    /// A notification that is about to get its sequence number.
    struct Dispatch {
        let id: NotificationID
        let content: Notification.Content
        let causedBy: NotificationID?
        var depth = 1
        var isImmediate = false
        var expiresAt = Int64.max
        /// Whether it was queued in an earlier life of the broker.
        var isRestored = false
        /// The number of queue entries that it replaces.
        var dequeuedCount: UInt32 = 0
        /// Whether it is one of the center's own reports, on a reserved channel.
        var isReport = false
    }

    /// The state of the dispatch whose observers are being walked.
    struct Dispatching: Sendable {
        var isActive = false
        var id = NotificationID(high: 0, low: 0)
        /// Its position among the notifications of the effects.
        var position: UInt32 = 0
        /// Its slot among the held notifications, once it has a holder.
        var kept = HeldTable.none
        var isImmediate = false
        /// The form of the frames that are not acknowledged.
        var form = Delivery.Form.shared
        /// The slot of its place among the held notifications, once it marks an observer.
        var keptMark = HeldTable.none
        /// The client that is being flushed, so that it may be shown an ask.
        var flushed: UInt32?
        /// The observers whose marks were written meanwhile: the present value included the change.
        var toldMarks: Set<UInt32> = []
        var receipt = Receipt(id: NotificationID(high: 0, low: 0), sequence: 0)
        var rows: [ReportRow] = []
        /// Whether the poster waits for acknowledgements, and wants rows.
        var awaits = false
        var reports = false
        /// The awaited acknowledgements of all notifications of the command, and their held slots.
        var awaitedCount = 0
        var awaited: [(kept: UInt32, sequence: UInt64)] = []
        /// The number of holders that its actions have examined.
        var lookCount = 0
        /// The looks of the walks of the command.
        var walkLookCount = 0
        /// The observers that match it.
        var matched = Matches()
        /// Whether an account has changed after its receipt was written into the effects.
        var hasRecounted = false
        /// The rows that have changed after they were written into the effects.
        var recountedRows: [(id: NotificationID, row: ReportRow)] = []
    }

    /// The slots of the observers that match a notification, and of those whose conditions were
    /// past the limit of work.
    struct Matches {
        var slots: [UInt32] = []
        var unasked: [UInt32] = []
    }

    /// Numbers a notification, delivers it to all matching observers, and writes the receipt.
    mutating func dispatch(
        _ post: Dispatch, at time: CommandTime, into effects: inout Effects
    ) {
        history.sequence += 1
        reserveSequence(&effects)
        var isKept = false
        if archiveBox.value.count > 0 {
            let plain = post.notification(numbered: history.sequence, at: time)
            if let isKnown = archiveBox.value.keep(plain, after: nil, at: time) {
                isKept = isKnown
            } else {
                let last = registry.index.channels.lastPost(of: post.content.nameText, history)
                isKept = archiveBox.value.keep(plain, after: last, at: time) ?? false
            }
        }
        let notification = post.notification(
            numbered: history.sequence, at: time, isKept: isKept)
        let position = UInt32(effects.notifications.count)
        effects.notifications.append(notification)
        let channel = registry.index.countPost(
            name: notification.content.name, history.sequence, at: time.wallMilliseconds)
        let buckets =
            post.isReport
            ? registry.index.namedBuckets(channel: channel, object: notification.content.object)
            : registry.index.buckets(channel: channel, object: notification.content.object)
        var receipt = Receipt(id: post.id, sequence: history.sequence)
        receipt.dequeued = post.dequeuedCount
        receipt.isKept = isKept
        let deliveredBefore = effects.deliveries.count
        var special: ArraySlice<UInt32> = []
        if buckets.count > 0 || registry.index.hasFilters {
            special = deliver(
                notification, at: position, to: buckets, of: channel, time, &effects)
            receipt.delivered = UInt32(effects.deliveries.count - deliveredBefore)
            if registry.index.hasFilters {
                receipt.dropped = UInt32(dispatching.matched.unasked.count)
            }
            receipt.matched = receipt.delivered + UInt32(special.count) + receipt.dropped
            if receipt.matched > 0 {
                registry.index.noteMatch(channel: channel, deliveryCount: receipt.delivered)
            }
        }
        if !special.isEmpty || dispatching.reports {
            dispatching.position = position
            dispatching.isImmediate = post.isImmediate
            dispatching.rows = effects.deliveries[deliveredBefore...].map {
                ReportRow(observer: $0.observer, outcome: .delivered)
            }
            if receipt.dropped > 0 {
                dispatching.rows += dispatching.matched.unasked.map {
                    ReportRow(observer: registry.observers[$0].serial, outcome: .dropped)
                }
            }
            place(special, receipt, notification, at: time, &effects)
            receipt = dispatching.receipt
            if dispatching.reports { effects.reports.append(dispatching.rows) }
        }
        effects.receipts.append(receipt)
        history.replay.append(notification)
        history.fates.append(receipt, depth: post.depth, at: time.monotonicNanoseconds)
    }

    /// Writes a delivery for each observer in the buckets, up to the first that needs more checks.
    ///
    /// - Returns: That one and all that follow, in registration order.
    private mutating func deliver(
        _ notification: Notification, at position: UInt32, to buckets: ObserverIndex.Buckets,
        of channel: UInt32, _ time: CommandTime, _ effects: inout Effects
    ) -> ArraySlice<UInt32> {
        Effects.empty(&dispatching.matched.slots, capacityLimit: Self.keptMatchCount)
        if !registry.index.hasFilters {
            registry.index.appendSlots(in: buckets, to: &dispatching.matched.slots)
        } else {
            matchFilters(notification.content, in: buckets, of: channel, at: time, &effects)
        }
        guard !dispatching.matched.slots.isEmpty else { return [] }
        let firstSpecial = registry.observers.deliver(
            position, history.sequence, isRedelivered: notification.isRestored,
            to: dispatching.matched.slots, of: registry.clients, at: time.wallMilliseconds,
            into: &effects.deliveries)
        return firstSpecial == dispatching.matched.slots.count
            ? [] : dispatching.matched.slots[firstSpecial...]
    }

    /// The most observers of one notification whose storage is kept for the next one.
    private static let keptMatchCount = 1 << 16

    /// Delivers, holds or drops the notification for each of the observers, in registration order.
    private mutating func place(
        _ slots: ArraySlice<UInt32>, _ receipt: Receipt, _ notification: Notification,
        at time: CommandTime, _ effects: inout Effects
    ) {
        dispatching.isActive = true
        dispatching.id = notification.id
        dispatching.receipt = receipt
        dispatching.kept = HeldTable.none
        dispatching.lookCount = 0
        for slot in slots {  // Bound: observers, actions
            let row =
                if let target = registry.observers.target(at: slot) {
                    act(on: notification, at: slot, target: target, time, &effects)
                } else {
                    ReportRow(
                        observer: registry.observers[slot].serial,
                        outcome: place(notification, at: slot, time, &effects))
                }
            dispatching.receipt.count(row.outcome)
            if dispatching.reports { dispatching.rows.append(row) }
        }
        dispatching.isActive = false
    }

    /// Delivers, holds or drops a notification for one observer (rules D3 to D10).
    mutating func place(
        _ notification: Notification, at slot: UInt32, _ time: CommandTime,
        _ effects: inout Effects
    ) -> ReportRow.Outcome {
        let client = registry.observers[slot].client
        let suspension = registry.clients[client].suspension
        if suspension.isEmpty { return send(notification, to: slot, time, &effects) }
        if !suspension.isDisjoint(with: [.reading, .answering]),
            archiveBox.value.readers[client]?.member(at: slot) != nil
        {
            // It reads what is kept in its turn.
            return notification.isKept
                ? .held : hold(notification, at: slot, isReplaceable: false, time, &effects)
        }
        let terms = registry.observers[slot].terms
        let isImmediate =
            dispatching.isImmediate || terms.suspensionBehavior == .deliverImmediately
        if suspension.contains(.mailbox) {
            return file(notification, at: slot, isImmediate: isImmediate, time, &effects)
        }
        if suspension.isDisjoint(with: .suspended) {
            // Held notifications are still being written: no other one overtakes them.
            return hold(notification, at: slot, isReplaceable: false, time, &effects)
        }
        if isImmediate {
            let outcome = placeImmediate(notification, at: slot, time, &effects)
            noteImmediate(client, at: time, &effects)
            return outcome
        }
        switch terms.suspensionBehavior {
        case .drop:
            registry.observers[slot].tally.dropped += 1
            noteGap(.dropped, notification.sequence, at: slot, &effects)
            return .dropped
        case .coalesce:
            return hold(notification, at: slot, isReplaceable: true, time, &effects)
        case .hold, .deliverImmediately:
            return hold(notification, at: slot, isReplaceable: false, time, &effects)
        }
    }

    /// Places an immediate notification for an observer of a suspended client.
    private mutating func placeImmediate(
        _ notification: Notification, at slot: UInt32, _ time: CommandTime,
        _ effects: inout Effects
    ) -> ReportRow.Outcome {
        let client = registry.observers[slot].client
        // A notification that cannot be written now is written as soon as possible (rule D10), and
        // a running flush continues at its own pace.
        registry.clients[client].immediateSequence = notification.sequence
        guard
            registry.clients[client].suspension.isDisjoint(
                with: [.blocking, .flushing, .paced, .reading])
        else {
            return hold(notification, at: slot, isReplaceable: false, time, &effects)
        }
        flush(client, at: time, &effects)
        if dispatching.toldMarks.contains(slot) { return .delivered }
        let outcome =
            registry.isFlushed(client)
            ? send(notification, to: slot, time, &effects)
            : hold(notification, at: slot, isReplaceable: false, time, &effects)
        if outcome == .held || outcome == .coalesced {
            registry.clients[client].immediateSequence = notification.sequence
        }
        return outcome
    }

    /// Sends a notification to a client that may get it now.
    private mutating func send(
        _ notification: Notification, to slot: UInt32, _ time: CommandTime,
        _ effects: inout Effects
    ) -> ReportRow.Outcome {
        let client = registry.observers[slot].client
        let observer = registry.observers[slot].terms
        if let end = intervalEnd(for: notification, at: slot, time) {
            registry.clients[client].suspension.insert(.paced)
            addDeadline(at: end, .pace(client: registry.clients[client].id))
            return hold(notification, at: slot, isReplaceable: true, time, &effects)
        }
        if observer.acknowledges, owesTooMuch(slot) || clientOwesTooMuch(client) {
            noteOwing(slot, at: time)
            return hold(notification, at: slot, isReplaceable: false, time, &effects)
        }
        startInterval(of: notification, at: slot, time)
        guard observer.acknowledges else {
            write(
                dispatching.position, to: slot, form: dispatching.form,
                isRedelivered: notification.isRestored, time, &effects)
            return .delivered
        }
        let entry = makeEntry(
            notification, at: slot, account: .delivered, flags: [], time, &effects)
        addUnacknowledged(entry, of: client)
        if dispatching.awaits { awaitAnswer(to: entry) }
        write(
            dispatching.position, to: slot, form: .acknowledged,
            isRedelivered: notification.isRestored, time, &effects)
        // A responder owes answers to asks, too (rule R19).
        if asks.open.count > 0, registry.observers.isResponder(at: slot), owesTooMuch(slot) {
            noteOwing(slot, at: time)
        }
        return .pending
    }

    /// Lets the poster wait for the answer to an entry, unless its observer has often been late.
    mutating func awaitAnswer(to entry: UInt32) {
        let missed = registry.observers[backlog.held[entry].observer].debt.missedDeadlineCount
        guard missed < limits.missedDeadlineLimit else { return }
        backlog.held[entry].flags.insert(.awaited)
        dispatching.awaitedCount += 1
        let sequence = backlog.held.sequence(of: entry)
        if dispatching.awaited.last?.sequence != sequence {
            dispatching.awaited.append((backlog.held[entry].notification, sequence))
        }
    }

    /// Adds a delivery, and counts it for its observer.
    mutating func write(
        _ position: UInt32, to slot: UInt32, form: Delivery.Form, isRedelivered: Bool,
        _ time: CommandTime, _ effects: inout Effects
    ) {
        let client = registry.observers.noteDelivery(at: slot, time.wallMilliseconds)
        registry.observers[slot].writtenThrough = max(
            registry.observers[slot].writtenThrough, effects.notifications[Int(position)].sequence)
        let route = registry.clients.route(at: client)
        let isStream = registry.clients[client].suspension.contains(.mailbox)
        effects.deliveries.append(
            Delivery(
                connection: isStream ? registry.observers.readerName(at: slot) : route.connection,
                notification: position, observer: registry.observers[slot].serial,
                selector: registry.selector(of: slot, for: effects.notifications[Int(position)]),
                transport: isStream ? .ofMailboxStreams : route.transport, form: form,
                isRedelivered: isRedelivered))
    }

    /// Changes the account of a notification for a later outcome.
    mutating func recount(
        _ id: NotificationID, _ row: ReportRow, _ change: (inout Receipt) -> Void
    ) {
        if dispatching.isActive, dispatching.id == id {
            change(&dispatching.receipt)
            return dispatching.rows.update(row)
        }
        dispatching.hasRecounted = true
        if dispatching.reports { dispatching.recountedRows.append((id, row)) }
        history.fates.update(id, change)
        backlog.waiting.update(id, row, change)
    }

    /// The row of an entry for its receipt: that of an action is of the observer with the target.
    @inline(__always)
    func report(of entry: UInt32, _ outcome: ReportRow.Outcome) -> ReportRow {
        let observer =
            backlog.held[entry].flags.contains(.action)
            ? backlog.heldActions[entry]?.row
            : registry.observers[backlog.held[entry].observer].serial
        return ReportRow(observer: observer ?? 0, outcome: outcome)
    }

    /// Reserves sequence numbers ahead, so that a restart never uses one twice.
    mutating func reserveSequence(_ effects: inout Effects) {
        guard isStored, history.sequence > history.sequenceReserveAt else { return }
        reserveMoreSequence(&effects)
    }

    /// Reserves the next block of sequence numbers.
    mutating func reserveMoreSequence(_ effects: inout Effects) {
        history.reservedSequence = history.sequence + Self.sequenceBlock
        history.sequenceReserveAt = history.sequence + Self.sequenceBlock / 2
        effects.changes.append(.sequenceReserved(through: history.reservedSequence))
    }

    /// Reserves the used numbers only, as the center stops: a restart continues with the next.
    mutating func reserveExactly(_ effects: inout Effects) {
        history.reservedSequence = history.sequence
        history.sequenceReserveAt = history.sequence
        effects.changes.append(.sequenceReserved(through: history.sequence))
    }

    /// The number of sequence numbers that are reserved at a time.
    public static let sequenceBlock: UInt64 = SequenceBlock.length
}

extension [ReportRow] {
    /// Updates the outcome at one observer, if it has a row; its route stays unless there is one.
    ///
    /// - Complexity: O(log n): rows are in the order of registration.
    mutating func update(_ row: ReportRow) {
        let place = indices.firstPlace { self[$0].observer >= row.observer }
        guard place < count, self[place].observer == row.observer else { return }
        self[place].outcome = row.outcome
        if let route = row.route { self[place].route = route }
    }
}

// The effects of the options of a post on the observers that it matches.
extension NotificationCenter.Dispatch {
    /// Makes the dispatch of a post that does not wait.
    init(_ post: borrowing Post, depth: Int, at time: CommandTime) {
        self.init(id: post.id, content: post.content, causedBy: post.causedBy, depth: depth)
        guard let options = post.options else { return }
        isImmediate = options.isImmediate
        expiresAt = NotificationCenter.end(of: options.timeToLive, time)
    }

    /// Makes the dispatch of an entry that has waited.
    init(_ entry: NotificationQueue.Entry) {
        self.init(
            id: entry.id, content: entry.content, causedBy: entry.causedBy, depth: entry.depth)
        isImmediate = entry.isImmediate
        expiresAt = entry.expiresAt
        isRestored = entry.isRestored
    }

    /// Adds the demands of an entry that is posted with it (rule Q8).
    mutating func absorb(_ entry: NotificationQueue.Entry) {
        if entry.isImmediate { isImmediate = true }
        depth = max(depth, entry.depth)
        expiresAt = max(expiresAt, entry.expiresAt)
    }
}
