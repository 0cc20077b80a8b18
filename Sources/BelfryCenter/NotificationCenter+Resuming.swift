// Connections end and come back: what lasts longer is suspended meanwhile (rules O7, D13, D14).

extension NotificationCenter {
    /// A connection has ended: what lasts longer is suspended, the rest is removed (rules O7, D13).
    mutating func disconnect(
        _ id: UInt64, _ connection: ConnectionName, at time: CommandTime, _ effects: inout Effects
    ) {
        guard let client = clients.slot(of: id), clients[client].connection == connection,
            !clients[client].suspension.contains(.disconnected)
        else { return }
        var removedCount = endConnection(of: client, at: time, &effects)
        if !clients[client].isLasting {
            removedCount += clients[client].observerCount
            let slots = observers.slots(from: clients[client].lastObserver)
            for slot in slots {
                _ = remove(
                    slot, by: .broker, reason: .connectionClosed, at: time, &effects)
            }
            forget(client, at: time, &effects)
            reports.append(.left(client: id, "disconnected"))
        } else {
            change(client, at: time) { suspension in
                suspension.insert(.disconnected)
                suspension.subtract([.slow, .owing, .flushing, .paced])
            }
            clients[client].disconnectedSince = time.monotonicNanoseconds
            scheduleLeases(of: client, at: time)
        }
        effects.outcome = .removed(removedCount)
    }

    /// What ends with a connection: mode leases, observers of its lifetime, and what was sent on it
    /// and not acknowledged is held again.
    private mutating func endConnection(
        of client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) -> Int {
        let id = clients[client].id
        if modeStack.leaveAll(ofClient: id) { queue.enter(mode: modeStack.current) }
        holdUnacknowledged(of: client, &effects)
        var removedCount = 0
        for slot in observers.slots(from: clients[client].lastObserver)
        where !observers[slot].isLasting {
            _ = remove(slot, by: .broker, reason: .connectionClosed, at: time, &effects)
            removedCount += 1
        }
        return removedCount
    }

    /// What was not acknowledged comes before what was never written, and will be redelivered (D14).
    private mutating func holdUnacknowledged(of client: UInt32, _ effects: inout Effects) {
        let sent = held.slots(of: clients[client].unacknowledged, in: .client)
        guard !sent.isEmpty else { return }
        let rest = held.slots(of: clients[client].held, in: .client)
        for entry in sent {
            let slot = held[entry].observer
            observers[slot].unacknowledgedCount -= 1
            if observers[slot].owes {
                observers[slot].owes = false
                clients[client].owingCount -= 1
            }
            held[entry].flags.remove(.unacknowledged)
            held[entry].flags.insert(.redelivered)
            if held[entry].flags.contains(.replayed) { observers[slot].replayedCount += 1 }
            noteExpiry(of: held[entry].notification)
            let isCounted = held[entry].account == .delivered
            endWait(
                for: entry, outcome: .disconnected, at: slot, effects: &effects
            ) { receipt in
                if isCounted, receipt.pending > 0 { receipt.pending -= 1 }
            }
        }
        clients[client].unacknowledged = HeldTable.List()
        clients[client].heldByteCount += clients[client].unacknowledgedByteCount
        clients[client].unacknowledgedByteCount = 0
        clients[client].owesTooMuch = false
        relink(sent + rest, of: client)
    }

    /// A new connection takes a client over (DESIGN section 3, `resume`).
    mutating func resume(
        _ resumption: Resumption, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        guard let newcomer = clients.slot(of: resumption.newcomer) else { throw .unknownClient }
        guard clients[newcomer].observerCount == 0, resumption.newcomer != resumption.client else {
            throw .resumeTooLate
        }
        guard let client = clients.slot(of: resumption.client) else { throw .unknownClient }
        guard clients[client].transport == .webSocket else { throw .noMailbox }
        if !clients[client].suspension.contains(.disconnected) {
            effects.notices.append(.takenOver(connection: clients[client].connection.number))
            _ = endConnection(of: client, at: time, &effects)
        }
        let connection = clients[newcomer].connection
        _ = endConnection(of: newcomer, at: time, &effects)
        let heldBefore = clients[client].held.count
        forget(newcomer, at: time, &effects)
        reports.append(.left(client: resumption.newcomer, "resumed"))
        clients[client].connection = connection
        clients[client].leaseCheckAt = .max
        change(client, at: time) { suspension in
            suspension.subtract([.disconnected, .slow, .owing, .flushing, .paced])
        }
        if let after = resumption.after { replay(after: after, to: client, at: time, &effects) }
        let rows = observers.slots(from: clients[client].lastObserver).map { row(ofSlot: $0) }
        noteClient(client, at: time, &effects)
        flush(client, at: time, &effects)
        noteReplayed(of: client, at: time, &effects)
        effects.outcome = .resumed(
            ResumedClient(
                row: row(ofClientSlot: client), observers: rows, heldCount: heldBefore))
    }

    /// Lets a client have what the replay ring has above a number and what is not held for it.
    ///
    /// Of the number itself the client has seen what the first of its observers got; the line may have
    /// ended before the frames of the others. Losses that this makes good are no losses; what was
    /// written and is no longer in the ring is told as unknown.
    private mutating func replay(
        after sequence: UInt64, to client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        guard sequence <= self.sequence else { return }
        let slots = observers.slots(from: clients[client].lastObserver)
        guard !slots.isEmpty else { return }
        let firstKept = replay.firstSequence ?? self.sequence + 1
        var known: Set<HeldName> = []
        for entry in held.slots(of: clients[client].held, in: .client) {
            known.insert(HeldName(held.sequence(of: entry), held[entry].observer))
        }
        // The client's own observers are compared: what it costs does not grow with those of others.
        var found = emptyReplay(for: client)
        var replayed = [Replayed](repeating: Replayed(), count: slots.count)
        replay.forEach(above: max(sequence, 1) - 1) { notification in
            let isExpired = notification.expiresAt <= time.monotonicNanoseconds
            let place = index.place(of: notification.content)
            var wasSeen = notification.sequence == sequence
            for (number, slot) in slots.enumerated()
            where place.matches(observers[slot].place)
                && observers[slot].replaysAbove < notification.sequence
            {
                if notification.sequence == sequence {
                    guard observers[slot].writtenThrough >= sequence else { continue }
                    defer { wasSeen = false }
                    if wasSeen || observers[slot].terms.acknowledges { continue }
                }
                if known.contains(HeldName(notification.sequence, slot)) { continue }
                replayed[number].note(notification.sequence, isExpired: isExpired)
                if !isExpired { found.add(notification, to: slot) }
            }
        }
        let missing = max(sequence, firstKept - 1)
        var wasSeen = true
        for (number, slot) in slots.enumerated() {
            makeGood(replayed[number], missingThrough: missing, at: slot, &effects)
            guard observers[slot].writtenThrough >= sequence else { continue }
            // Who saw the last number before an end in order has lost nothing.
            let isSeen = wasSeen || sequence == restoredSequence
            wasSeen = false
            let start = max(isSeen ? sequence + 1 : sequence, observers[slot].replaysAbove + 1)
            let end = min(observers[slot].writtenThrough, firstKept - 1)
            // What an acknowledging observer was written and has not answered is held.
            guard start <= end, !observers[slot].terms.acknowledges else { continue }
            noteGap(
                GapRecord(reason: .unknown, count: nil, first: start, last: end), at: slot,
                &effects)
        }
        hold(found, at: slots, of: client, &effects)
    }

    /// A replay to which nothing was added, with the room that a client has.
    func emptyReplay(for client: UInt32) -> Replay {
        Replay(
            countRoom: limits.clientHeldCountLimit - clients[client].held.count,
            byteRoom: limits.clientHeldByteLimit - clients[client].heldByteCount)
    }

    /// Holds what was found in the replay ring, each at its place in the order, and notes what there
    /// was no room for.
    mutating func hold(
        _ found: Replay, at slots: [UInt32], of client: UInt32, _ effects: inout Effects
    ) {
        for slot in slots {
            guard let loss = found.loss(of: slot) else { continue }
            observers[slot].dropped += UInt64(loss.count ?? 0)
            noteGap(loss, at: slot, &effects)
        }
        guard !found.matches.isEmpty else { return }
        var entries = held.slots(of: clients[client].held, in: .client)
        for position in found.matches.startPosition..<found.matches.endPosition {
            let (notification, slot) = found.matches[position]
            let kept = held.slot(ofSequence: notification.sequence) ?? keep(notification)
            let entry = held.make(
                HeldTable.Entry(
                    observer: slot, notification: kept, account: .none,
                    flags: [.redelivered, .replayed]))
            held.append(entry, to: &observers[slot].entries, in: .observer)
            observers[slot].replayedCount += 1
            clients[client].heldByteCount += notification.content.byteCount
            entries.append(entry)
        }
        relink(entries, of: client)
    }

    /// What came out of the replay ring and could not go out at once must last like all that is held.
    mutating func noteReplayed(
        of client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        guard limits.isDurable, clients[client].isLasting else { return }
        let lists = [clients[client].unacknowledged, clients[client].held]
        for entry in lists.flatMap({ held.slots(of: $0, in: .client) })
        where held[entry].flags.contains(.replayed) && !held[entry].flags.contains(.stored) {
            noteHeld(entry, at: time, &effects)
        }
    }

    /// Makes the list of what waits for a client, in the order of sequence numbers, then of
    /// registration.
    private mutating func relink(_ entries: [UInt32], of client: UInt32) {
        let sorted = entries.map { entry in
            (held.sequence(of: entry), observers[held[entry].observer].serial, entry)
        }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
        clients[client].held = held.relink(sorted.map(\.2), in: .client)
    }

    /// Forgets the losses that a replay makes good.
    ///
    /// Which of the numbers from the first to the last of a gap were lost is not known: one that is
    /// replayed may have been delivered before. So a gap is forgotten only if everything between
    /// them comes again. Else it ends with the last number that stays missing; how many are missing
    /// nobody can know any more once one of them comes again, unless all of them were lost.
    private mutating func makeGood(
        _ replayed: Replayed, missingThrough missing: UInt64, at slot: UInt32,
        _ effects: inout Effects
    ) {
        for place in observers[slot].gaps.indices.reversed() {
            var gap = observers[slot].gaps[place]
            let expired = replayed.lastExpired(from: gap.first, through: gap.last)
            let count = replayed.count(from: gap.first, through: gap.last)
            if gap.first > missing, expired == nil {
                observers[slot].gaps.remove(at: place)
                gap.count = 0
                if observers[slot].gaps.isEmpty { clients[observers[slot].client].gapCount -= 1 }
            } else if count > 0 {
                let lost = gap.count ?? 0
                gap.count = gap.last - gap.first + 1 == UInt64(lost) ? lost - count : nil
                gap.last = min(gap.last, max(missing, expired ?? 0))
                observers[slot].gaps[place] = gap
            } else {
                continue
            }
            guard isLasting(slot) else { continue }
            effects.changes.append(.gap(observer: observers[slot].serial, gap))
        }
    }

    /// Forgets a client without observers.
    mutating func forget(_ client: UInt32, at time: CommandTime, _ effects: inout Effects) {
        clients.remove(client)
    }
}

/// A held notification, by number and slot of its observer.
private struct HeldName: Hashable {
    let sequence: UInt64
    let observer: UInt32

    init(_ sequence: UInt64, _ observer: UInt32) {
        self.sequence = sequence
        self.observer = observer
    }
}

/// What of the replay ring matches one observer and is not held for it.
private struct Replayed {
    /// What it gets, in the order of sequence numbers.
    private var sequences: [UInt64] = []
    /// What it would get if it were not too old.
    private var expired: [UInt64] = []

    mutating func note(_ sequence: UInt64, isExpired: Bool) {
        if isExpired { expired.append(sequence) } else { sequences.append(sequence) }
    }

    /// How many it gets between two numbers, both among them.
    func count(from first: UInt64, through last: UInt64) -> Int {
        sequences.count { $0 >= first && $0 <= last }
    }

    /// The last number between two others that is too old.
    func lastExpired(from first: UInt64, through last: UInt64) -> UInt64? {
        expired.last { $0 >= first && $0 <= last }
    }
}
