// Suspension: a client asked for it, is disconnected, or is too slow (law 5). On its end the held
// notifications are written in the order of sequence numbers, gaps first, and nothing overtakes
// them.

extension NotificationCenter {
    /// Sets whether a client asks for suspension; asking twice is asking once (T113).
    mutating func setSuspended(
        _ id: UInt64, _ isSuspended: Bool, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        guard let client = registry.clients.slot(of: id) else { throw .unknownClient }
        guard registry.clients[client].suspension.contains(.asked) != isSuspended else { return }
        change(client, at: time) { suspension in
            if isSuspended { suspension.insert(.asked) } else { suspension.remove(.asked) }
        }
        if isSuspended { registry.clients[client].wasAsked = true }
        noteClient(client, at: time, &effects)
        settle(client, at: time, &effects)
    }

    /// Marks a client as slow: more waits for its socket than the limit allows (rule D15).
    mutating func becomeSlow(
        _ id: UInt64, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        guard let client = registry.clients.slot(of: id) else { throw .unknownClient }
        guard !registry.clients[client].suspension.contains(.disconnected) else { return }
        change(client, at: time) { $0.insert(.slow) }
    }

    /// Continues a client whose socket has room again.
    mutating func drain(
        _ id: UInt64, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        guard let client = registry.clients.slot(of: id) else { throw .unknownClient }
        change(client, at: time) { $0.remove(.slow) }
        guard registry.clients[client].suspension.remove(.answering) != nil,
            let reader = archiveBox.value.readers[client]
        else { return settle(client, at: time, &effects) }
        startReading(client, at: time, &effects)
        if archiveBox.value.readers[client] != nil { return }
        for member in reader.members { noteObserver(member.slot, &effects) }  // Bound: client
    }

    /// Whether an observer is at its limit of owed acknowledgements.
    @inline(__always)
    func owesTooMuch(_ slot: UInt32) -> Bool {
        var count = registry.observers[slot].debt.count
        if registry.observers.isResponder(at: slot) {
            count += asks.open.shownCount(to: registry.observers[slot].serial)
        }
        return count >= limits.unacknowledgedLimit
    }

    /// Whether the observers of a client together owe the most that may be held for a client.
    func clientOwesTooMuch(_ client: UInt32) -> Bool {
        registry.clients[client].debt.entries.list.count >= limits.clientHeldCountLimit
            || registry.clients[client].debt.entries.byteCount >= limits.clientHeldByteLimit
    }

    /// Marks a client as slow: one observer, or all together, are at the limit of owed answers.
    mutating func noteOwing(_ slot: UInt32, at time: CommandTime) {
        let client = registry.observers[slot].client
        if !owesTooMuch(slot) {
            registry.clients[client].debt.isTooMuch = true
        } else if !registry.observers[slot].debt.isTooMuch {
            registry.observers[slot].debt.isTooMuch = true
            registry.clients[client].debt.owingCount += 1
        }
        change(client, at: time) { $0.insert(.owing) }
    }

    /// Changes the reasons of a client's suspension, and notes when its state has changed.
    mutating func change(
        _ client: UInt32, at time: CommandTime, _ change: (inout ClientTable.Suspension) -> Void
    ) {
        let before = registry.clients[client].suspension.intersection(.suspended)
        change(&registry.clients[client].suspension)
        let after = registry.clients[client].suspension.intersection(.suspended)
        guard before != after else { return }
        registry.clients.noteChange(from: before, at: client)
        let wasLive = before.isEmpty
        registry.clients[client].stateSince = time.wallMilliseconds
        let id = registry.clients[client].id
        if after.isEmpty {
            reports.append(.resumed(client: id))
        } else if wasLive || !after.isSubset(of: before) {
            reports.append(.suspended(client: id, registry.clients[client].state))
        }
        if wasLive { passOnHeld(of: client) }
    }

    /// Writes all that may be written after a reason of suspension has ended.
    mutating func settle(_ client: UInt32, at time: CommandTime, _ effects: inout Effects) {
        if registry.clients[client].suspension.contains(.mailbox) {
            streamOn(client, at: time, &effects)
            showHeld(of: client, at: time, &effects)
        } else {
            flush(client, at: time, &effects)
        }
    }

    /// Writes the held notifications of a client up to the limit of bytes; gaps come first.
    mutating func flush(_ client: UInt32, at time: CommandTime, _ effects: inout Effects) {
        if registry.clients[client].suspension.contains(.answering) { return }
        registry.clients[client].suspension.subtract([.flushing, .paced])
        guard registry.clients[client].suspension.isDisjoint(with: [.slow, .disconnected]),
            !registry.clients[client].debt.isAtLimit
        else { return }
        writeStep(client, at: time, &effects)
        if registry.clients[client].suspension.contains(.owing),
            !registry.clients[client].debt.isAtLimit
        {
            change(client, at: time) { $0.remove(.owing) }
        }
        // Within a post it is noted once, when the result of the notification is known.
        if !dispatching.isActive { noteImmediate(client, at: time, &effects) }
        if !registry.clients[client].suspension.contains(.asked) {
            tellGaps(of: client, at: time, &effects)
        }
        guard registry.clients[client].suspension.contains(.flushing) else {
            showHeld(of: client, at: time, &effects)
            return passOnHeld(of: client)
        }
        effects.notices.append(
            .flushGoesOn(
                client: registry.clients[client].id, connection: registry.clients[client].connection
            ))
    }

    /// Writes the actions that wait for a responder with room again, of a live client.
    mutating func flush(
        actionsOf observer: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        let client = registry.observers[observer].client
        writeStep(client, of: observer, at: time, &effects)
        guard registry.clients[client].suspension.contains(.flushing) else { return }
        effects.notices.append(
            .flushGoesOn(
                client: registry.clients[client].id, connection: registry.clients[client].connection
            ))
    }

    /// The progress of a flush step.
    struct FlushStep {
        var byteCount = 0
        /// The highest number written to the client; nil until it is needed.
        var writtenThrough: UInt64?
        /// The work of reading the past.
        var pastWork = PastWork()
    }

    /// Does one step of a flush: it ends at the first entry that may not be written now.
    ///
    /// - Parameter observer: The observer whose actions alone are written; nil for all of the
    ///   client.
    private mutating func writeStep(
        _ client: UInt32, of observer: UInt32? = nil, at time: CommandTime,
        _ effects: inout Effects
    ) {
        let isAsked = registry.clients[client].suspension.contains(.asked)
        let isReading = !isAsked && observer == nil && archiveBox.value.readers[client] != nil
        let chain = observer == nil ? HeldTable.Chain.client : .observer
        var step = FlushStep()
        var next =
            observer.map { registry.observers[$0].entries.first }
            ?? registry.clients[client].held.list.first
        while true {  // Share: held
            let entry = next
            if isReading {
                let limit = entry == HeldTable.none ? nil : place(of: entry)
                guard readPast(of: client, before: limit, &step, at: time, &effects) else {
                    return
                }
            }
            if entry == HeldTable.none { break }
            next = backlog.held.next(after: entry, in: chain)
            let flags = backlog.held[entry].flags
            // Of the entries of a responder, only actions have waited.
            if observer != nil, flags.isDisjoint(with: .action) || flags.contains(.unacknowledged) {
                continue
            }
            let slot = backlog.held[entry].observer
            let action = flags.contains(.action) ? backlog.heldActions[entry] : nil
            let notification = values.isUsed ? shown(entry) : backlog.held.notification(of: entry)
            // A present value has the number of the last dispatch, and follows it.
            let isBehind =
                isOfValue(slot) && notification.sequence <= registry.observers[slot].since
            let end = registry.clients[client].immediateSequence + (isBehind ? 0 : 1)
            if isAsked, notification.sequence >= end { break }
            if notification.expiresAt <= time.monotonicNanoseconds {
                lose(entry, .expired, &effects)
                continue
            }
            // An action waits for room at its responder, and holds up nothing else (rules R6 and
            // R14).
            if action != nil, step.byteCount < limits.flushByteLimit, isBusy(slot) {
                if observer != nil { return }
                continue
            }
            let acknowledges = action?.acknowledges ?? registry.observers[slot].terms.acknowledges
            guard
                mayWrite(
                    notification, to: slot, isPaced: action == nil, acknowledges, step, at: time)
            else { return }
            if let action, wasOvertaken(entry, in: &step) {
                writeAgain(entry, action, at: time, &effects)
                step.writtenThrough = history.sequence
                continue
            }
            if action == nil { startInterval(of: notification, at: slot, time) }
            step.byteCount += notification.content.byteCount + Self.frameByteCount
            step.writtenThrough = step.writtenThrough.map { max($0, notification.sequence) }
            writeHeld(entry, notification, action, acknowledges, at: time, &effects)
            // A client that is slow by its owed answers stays so until it is below the limit: else
            // each answer would end that and begin it again.
            if acknowledges, registry.clients[client].suspension.contains(.owing),
                owesTooMuch(slot) || clientOwesTooMuch(client)
            {
                noteOwing(slot, at: time)
            }
        }
        if observer == nil { registry.clients[client].immediateSequence = 0 }
    }

    /// Whether a notification may be written now; else the client goes on later.
    mutating func mayWrite(
        _ notification: Notification, to slot: UInt32, isPaced: Bool, _ acknowledges: Bool,
        _ step: FlushStep, at time: CommandTime
    ) -> Bool {
        let client = registry.observers[slot].client
        if step.byteCount >= limits.flushByteLimit {
            registry.clients[client].suspension.insert(.flushing)
            return false
        }
        if isPaced, let end = intervalEnd(for: notification, at: slot, time) {
            registry.clients[client].suspension.insert(.paced)
            addDeadline(at: end, .pace(client: registry.clients[client].id))
            return false
        }
        if acknowledges, owesTooMuch(slot) || clientOwesTooMuch(client) {
            noteOwing(slot, at: time)
            return false
        }
        return true
    }

    /// The place of a held entry in the order of its client.
    private func place(of entry: UInt32) -> (sequence: UInt64, serial: UInt64) {
        (
            backlog.held.sequence(of: entry),
            registry.observers[backlog.held[entry].observer].serial
        )
    }

    /// The bytes of a frame besides name, object and userInfo, about.
    static let frameByteCount = 128

    /// Writes a held notification, which an acknowledging observer still has to answer.
    mutating func writeHeld(
        _ entry: UInt32, _ notification: Notification, _ action: HeldAction?, _ acknowledges: Bool,
        at time: CommandTime, _ effects: inout Effects
    ) {
        let slot = backlog.held[entry].observer
        let client = registry.observers[slot].client
        let account = backlog.held[entry].account
        let isRedelivered = backlog.held[entry].flags.contains(.redelivered)
        if let action {
            write(
                action, notification, to: slot, isRedelivered: isRedelivered, at: time, &effects)
            if acknowledges {
                backlog.heldActions[entry]?.noteShown(to: registry.observers[slot].serial)
            }
        } else {
            // The present value includes the change that is being dispatched (rule V8).
            if dispatching.form == .change, isMark(entry) { dispatching.toldMarks.insert(slot) }
            if values.isUsed { values.observers[slot]?.present.noteWritten(at: history.sequence) }
            write(
                position(of: notification, at: slot, &effects), to: slot,
                form: acknowledges ? .acknowledged : isOfValue(slot) ? .change : .shared,
                isRedelivered: isRedelivered, time, &effects)
        }
        let outcome = acknowledges ? ReportRow.Outcome.pending : .delivered
        recount(notification.id, report(of: entry, outcome)) { receipt in
            switch account {
            case .held:
                receipt.held -= 1
                receipt.delivered += 1
            case .coalesced:
                receipt.coalesced -= 1
                receipt.delivered += 1
            case .none, .delivered:
                break
            }
            if acknowledges, account != .none { receipt.pending += 1 }
        }
        guard acknowledges else { return unlink(entry, &effects) }
        removeWaiting(entry, of: client)
        addUnacknowledged(entry, of: client)
        if backlog.held[entry].flags.contains(.replaceable) {
            let kind = ObservedKind(observer: registry.observers[slot].serial, notification.content)
            if backlog.replaceable[kind] == entry { backlog.replaceable[kind] = nil }
            backlog.held[entry].flags.remove(.replaceable)
        }
        if account != .none { backlog.held[entry].account = .delivered }
    }

    /// The position of a notification among those of the effects.
    func position(of notification: Notification, _ effects: inout Effects) -> UInt32 {
        if effects.notifications.last?.id != notification.id {
            effects.notifications.append(notification)
        }
        return UInt32(effects.notifications.count - 1)
    }
}
