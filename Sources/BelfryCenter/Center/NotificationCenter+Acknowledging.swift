// Acknowledging observers: their deliveries are requests, and posters may wait for the answers.

extension NotificationCenter {
    /// Handles an observer's answer to a delivery; an answer that it does not owe is ignored.
    mutating func acknowledge(
        _ delivery: DeliveryName, of id: UInt64, _ response: Response, at time: CommandTime,
        _ effects: inout Effects
    ) {
        guard let slot = registry.observers.slot(of: delivery.observer) else { return }
        let client = registry.observers[slot].client
        guard registry.clients[client].id == id else { return }
        guard let entry = unacknowledged(delivery, at: slot) else {
            guard delivery.row == nil else { return }
            return answerAsk(of: slot, sequence: delivery.sequence, response, at: time, &effects)
        }
        registry.observers[slot].debt.missedDeadlineCount = 0
        if case .passed = response, let action = backlog.heldActions[entry] {
            handOn(action, from: entry, at: time, &effects)
            if registry.clients[client].suspension.contains(.owing) {
                settle(client, at: time, &effects)
            }
            return
        }
        tally[.acknowledgements] += 1
        let isCounted = backlog.held[entry].account == .delivered
        let outcome = response.outcome
        if case .answered = outcome { asks.isUsed = true }
        endWait(for: entry, outcome: outcome, &effects) { receipt in
            guard isCounted else { return }
            receipt.pending -= 1
            if case .refused = outcome { receipt.refused += 1 } else { receipt.acknowledged += 1 }
        }
        unlink(entry, &effects)
        if registry.clients[client].suspension.contains(.owing) {
            settle(client, at: time, &effects)
        }
    }

    /// The entry with this name that an observer was sent and has not answered.
    @inline(__always)
    private func unacknowledged(_ delivery: DeliveryName, at slot: UInt32) -> UInt32? {
        var entry = registry.observers[slot].entries.first
        while entry != HeldTable.none {  // Bound: list
            if backlog.held.sequence(of: entry) == delivery.sequence,
                row(ofAction: entry) == delivery.row
            {
                return backlog.held[entry].flags.contains(.unacknowledged) ? entry : nil
            }
            entry = backlog.held.next(after: entry, in: .observer)
        }
        return nil
    }

    private func row(ofAction entry: UInt32) -> UInt64? {
        backlog.held[entry].flags.contains(.action) ? backlog.heldActions[entry]?.row : nil
    }

    /// Ends the wait for an acknowledgement, and counts its outcome in the account.
    mutating func endWait(
        for entry: UInt32, outcome: ReportRow.Outcome, _ effects: inout Effects,
        _ change: (inout Receipt) -> Void
    ) {
        let id = backlog.held.notification(of: entry).id
        recount(id, report(of: entry, outcome), change)
        guard backlog.held[entry].flags.contains(.awaited) else { return }
        backlog.held[entry].flags.remove(.awaited)
        if let complete = backlog.waiting.resolve(id) { answer(complete, &effects) }
    }

    /// Answers a command that waited, and the later ones of the same key.
    mutating func answer(_ waiting: WaitingTable.Waiting, _ effects: inout Effects) {
        if let key = waiting.key {
            finishKey(key, waiting, &effects)
        }
        for command in waiting.commands {  // Bound: repeaters
            effects.completions.append(
                Completion(
                    command: command.id, receipts: waiting.receipts, reports: waiting.reports,
                    replayedForm: command.replayedForm))
        }
    }

    /// Notes the final answer under its key.
    private mutating func finishKey(
        _ key: IdempotencyKey, _ waiting: WaitingTable.Waiting, _ effects: inout Effects
    ) {
        guard let id = waiting.receipts.first?.id,
            let (record, forgotten) = history.keys.finish(
                key, waitedFor: id, receipts: waiting.receipts, reports: waiting.reports,
                limits: limits)
        else { return }
        forgetKeys(forgotten, &effects)
        tell(.key(record), &effects)
    }

    /// Answers a poster whose deadline has come, and counts the miss of each late observer.
    ///
    /// - Returns: The work that it was.
    mutating func endWaiting(
        _ slot: UInt32, ordinal: UInt64, _ effects: inout Effects
    ) -> Int {
        guard backlog.waiting.isWaiting(slot, ordinal: ordinal) else { return 0 }
        var lateCount = 0
        // Bound: ends
        for (kept, sequence) in backlog.waiting.places(slot)
        where backlog.held.isKept(kept, sequence: sequence) {
            for entry in backlog.entries(of: kept)  // Bound: ends
            where backlog.held[entry].flags.contains(.awaited) {
                backlog.held[entry].flags.remove(.awaited)
                registry.observers[backlog.held[entry].observer].debt.missedDeadlineCount += 1
                lateCount += 1
            }
        }
        if let late = backlog.waiting.take(slot, ordinal: ordinal) { answer(late, &effects) }
        return Work.ofEnd + lateCount
    }
}
