import BelfryBytes

// What is kept of channels, and observers that read it (rules A1 to A18).

extension NotificationCenter {
    /// Goes on with a page of the past, for as long as a share lasts (rule A18).
    ///
    /// - Parameter isVisible: Whether the caller may see a notification.
    public func read(
        _ page: inout PastPage, of query: PastQuery, at time: CommandTime,
        isVisible: (Notification) -> Bool
    ) {
        page.read(
            query, in: archiveBox.value, history.replay, registry.index, at: time,
            isVisible: isVisible)
        if page.isDone {
            page.lostThrough = PastLosses.lostThrough(query, archiveBox.value, registry, history)
        }
    }

    /// Makes, changes or removes an archive, or forgets notifications.
    mutating func changeArchives(
        _ action: borrowing Command.Action, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        switch action {
        case .putArchive(let name, let terms):
            effects.outcome = try archiveBox.value.put(
                name, terms, limits, registry.index.channels, history, at: time)
        case .removeArchive(let name): effects.outcome = try archiveBox.value.remove(name, at: time)
        case .forget(let query, let start):
            // A share in each command (rule A16).
            let (count, next) = archiveBox.value.forget(
                query, above: start, &history, registry.index)
            effects.outcome = .forgot(count: count, next: next)
            if next != nil { return }
            // Held copies go with the last share; their observers get a gap. Copies that were sent
            // and not acknowledged go, too.
            var owing: Set<UInt32> = []
            var work = FilterWork()
            var kept = backlog.held.oldest
            while kept != HeldTable.none {  // Bound: kept
                let next = backlog.held.next(after: kept)
                defer { kept = next }
                guard let notification = backlog.held.keptNotification(at: kept),
                    !notification.isOfValue, query.matches(notification, &work) == true
                else { continue }
                for entry in backlog.entries(of: kept) {  // Bound: ends
                    if backlog.held[entry].flags.contains(.unacknowledged) {
                        let slot = backlog.held[entry].observer
                        owing.insert(registry.observers[slot].client)
                        noteGap(.unknown, backlog.held.sequence(of: entry), at: slot, &effects)
                        discard(owed: entry, &effects)
                    } else {
                        lose(entry, .unknown, &effects)
                    }
                }
            }
            for client in owing.sorted() {  // Bound: ends
                let suspension = registry.clients[client].suspension
                if suspension.contains(.owing) { settle(client, at: time, &effects) }
                if suspension.isEmpty { tellGaps(of: client, at: time, &effects) }
            }
        default: preconditionFailure("the command is none of archives")
        }
    }

    // MARK: Observers that begin in the past

    /// Lets observers of a client begin in the past.
    mutating func begin(
        _ slots: [UInt32], _ beginning: PastBeginning?, since: UInt64?, at time: CommandTime,
        _ effects: inout Effects
    ) {
        guard let first = slots.first else { return }
        let client = registry.observers[first].client
        let after = beginning.start(since: since, archiveBox.value, history.replay)
        let isMailbox = registry.clients[client].suspension.contains(.mailbox)
        let isPromised = beginning?.isPlace ?? true
        if archiveBox.value.isUsed || !isPromised {
            // Nothing that is held may be written before a reader looks for what precedes it.
            for slot in slots  // Bound: registrations
            where !isOfValue(slot) && registry.observers.target(at: slot) == nil {
                let member = PastReader.Member(
                    slot, after: after, beginning, join: history.sequence, registry)
                registry.observers[slot].replaysAbove = after
                if isMailbox {
                    fill(member, of: client, at: time, &effects)
                } else {
                    archiveBox.value.read(member, of: client)
                }
            }
        }
        if isPromised, !isMailbox || !archiveBox.value.isUsed {
            var start = Int64.min
            if case .from(let time) = beginning { start = time }
            replayNotifications(above: after, from: start, to: slots, at: time, &effects)
        }
        if isMailbox { return }
        startReading(client, at: time, &effects)
        if archiveBox.value.readers[client] != nil {
            for slot in slots { noteObserver(slot, &effects) }  // Bound: registrations
        }
        noteReplayed(of: client, at: time, &effects)
    }

    /// Holds what an observer of a mailbox begins with.
    private mutating func fill(
        _ member: PastReader.Member, of client: UInt32, at time: CommandTime,
        _ effects: inout Effects
    ) {
        if member.isPromised {
            let lost = PastLosses.lostThrough(
                at: member.slot, from: member.from, wall: lastWallTime, archiveBox.value, registry,
                history)
            if lost > member.after {
                noteGap(
                    GapRecord(
                        reason: .unknown, count: nil, first: member.after + 1, last: lost),
                    at: member.slot, &effects)
            }
        }
        var found = emptyReplay(for: client)
        let rest = member.fill(&found, archiveBox.value, history, registry.index, at: time)
        if let rest { noteGap(rest, at: member.slot, &effects) }
        hold(found, at: [member.slot], of: client, &effects)
        settle(client, at: time, &effects)
        noteReplayed(of: client, at: time, &effects)
    }

    /// Lets a client read as far as it may at once.
    mutating func startReading(
        _ client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        guard archiveBox.value.readers[client] != nil else { return }
        settle(client, at: time, &effects)
        guard archiveBox.value.readers[client] != nil else { return }
        // It reads nothing yet, so the behaviours of its other observers do not count.
        if registry.clients[client].suspension.isDisjoint(with: .answering) {
            change(client, at: time) { $0.insert(.reading) }
        }
    }

    /// Writes what the observers of a client get of the past, up to a limit.
    ///
    /// - Parameter limit: a held notification and its observer, or nothing for the present.
    /// - Returns: Whether all before the limit is written.
    mutating func readPast(
        of client: UInt32, before limit: (sequence: UInt64, serial: UInt64)?,
        _ step: inout FlushStep, at time: CommandTime, _ effects: inout Effects
    ) -> Bool {
        guard var reader = archiveBox.value.readers.removeValue(forKey: client) else { return true }
        defer {
            if !reader.isDone(through: history.sequence) {
                archiveBox.value.readers[client] = reader
            } else if registry.clients[client].suspension.contains(.reading) {
                change(client, at: time) { $0.remove(.reading) }
                // Bound: client
                for member in reader.members { noteObserver(member.slot, &effects) }
            }
        }
        guard
            reader.search(
                in: archiveBox.value, history.replay, registry.index, at: time, &step.pastWork)
        else {
            registry.clients[client].suspension.insert(.flushing)
            return false
        }
        // Bound: client
        for (slot, gap) in reader.takeLosses(
            archiveBox.value, registry, history, wall: lastWallTime)
        {
            noteGap(gap, at: slot, &effects)
        }
        while true {  // Share: past
            switch reader.next(
                before: limit, in: archiveBox.value, history, registry.index, at: time,
                &step.pastWork)
            {
            case .end: return true
            case .tired:
                registry.clients[client].suspension.insert(.flushing)
                return false
            case .found(let notification, let place):
                let member = reader.members[place]
                let acknowledges = registry.observers[member.slot].terms.acknowledges
                guard
                    mayWrite(
                        notification, to: member.slot, isPaced: true, acknowledges, step, at: time)
                else {
                    reader.putBack(notification.sequence, place)
                    return false
                }
                let wasHeld = reader.settle(notification.sequence, place)
                write(notification, to: member, wasHeld: wasHeld, &step, at: time, &effects)
            }
        }
    }

    /// Writes a notification of the past to an observer.
    private mutating func write(
        _ notification: Notification, to member: PastReader.Member, wasHeld: Bool,
        _ step: inout FlushStep, at time: CommandTime, _ effects: inout Effects
    ) {
        let slot = member.slot
        let acknowledges = registry.observers[slot].terms.acknowledges
        startInterval(of: notification, at: slot, time)
        step.byteCount += notification.content.byteCount + Self.frameByteCount
        effects.replayedCount += 1
        if acknowledges {
            var kept = backlog.held.firstSlot(from: notification.sequence)
            if !backlog.held.goOn(&kept, to: notification.sequence) {
                kept = keep(notification, before: kept)
            }
            let entry = backlog.held.make(
                HeldTable.Entry(
                    observer: slot, notification: kept, account: wasHeld ? .delivered : .none,
                    flags: [.redelivered, .replayed]))
            backlog.held.append(entry, to: &registry.observers[slot].entries, in: .observer)
            count(entry: entry, 1)
            registry.observers[slot].replayedCount += 1
            noteHeld(entry, at: time, &effects)
            addUnacknowledged(entry, of: registry.observers[slot].client)
        }
        write(
            position(of: notification, &effects), to: slot,
            form: acknowledges ? .acknowledged : .shared, isRedelivered: true, time, &effects)
        guard wasHeld else { return }
        let row = ReportRow(
            observer: member.serial, outcome: acknowledges ? .pending : .delivered)
        recount(notification.id, row) { receipt in
            receipt.held -= 1
            receipt.delivered += 1
            if acknowledges { receipt.pending += 1 }
        }
    }
}

extension NotificationCenter.Dispatch {
    /// The notification with its number.
    @inline(__always)
    func notification(
        numbered sequence: UInt64, at time: CommandTime, isKept: Bool = false
    ) -> Notification {
        Notification(
            id: id, sequence: sequence, postedAt: time.wallMilliseconds, causedBy: causedBy,
            content: content, expiresAt: expiresAt, isRestored: isRestored, isKept: isKept)
    }
}
