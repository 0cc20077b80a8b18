// The frames of connections: law 2, rules C2 to C11, and law 5 from a client's view.

extension HistoryChecker {
    func write(_ frame: HistoryFrame) throws(HistoryFault) {
        let note = frame.notification
        guard let account = accounts[frame.observer], account.isAlive else {
            throw HistoryFault("o\(frame.observer) is gone, and \(note.sequence) was written to it")
        }
        guard let client = clients[account.observer.client],
            frame.connection == (account.isMailbox ? account.reader : client.connection)
        else {
            throw HistoryFault(
                "\(note.sequence) of \(account.observer.shown) was written to a foreign connection")
        }
        if let selector = frame.selector, selector != account.observer.selector {
            throw HistoryFault("\(account.observer.shown) was called by another selector")
        }
        guard let known = self.note(of: note.sequence), known.id == note.id,
            known.content == note.content
        else { throw HistoryFault("\(note.sequence) was written with another content") }
        guard let place = account.place(of: note.sequence) else {
            throw HistoryFault(
                "rule C2: \(note.sequence) is not for \(account.observer.shown), and was written")
        }
        try checkMark(frame, account.dues[place], account, client)
        if !frame.isRedelivered {
            try checkOrder(frame, account, client)
            try checkSuspension(account.dues[place], account)
        }
        if frame.isRedelivered, client.hasReplayed { known.isClouded = true }
        if account.dues[place].writeCount == 0 {
            account.dues[place].cameMarked = frame.isRedelivered
            if note.sequence > account.observer.since { known.noteWrite(command: command) }
        }
        account.dues[place].writeCount += 1
        account.dues[place].lastWritten = moment
        account.dues[place].wasPutBack = false
        account.dues[place].lastCommand = command
        account.dues[place].isAcknowledged = false
    }

    /// Checks that a delivery is marked if it may have come before, and only then.
    private func checkMark(
        _ frame: HistoryFrame, _ due: ObserverAccount.Due, _ account: ObserverAccount,
        _ client: Client
    ) throws(HistoryFault) {
        let sequence = due.note.sequence
        if !frame.isRedelivered {
            guard due.writeCount == 0 || account.isMailbox else {
                throw HistoryFault(
                    "law 2: \(account.observer.shown) got \(sequence) again, and unmarked")
            }
            guard sequence > account.observer.since else {
                throw HistoryFault(
                    "rule C10: \(account.observer.shown) came after \(sequence), and got it live")
            }
        } else if due.writeCount == 0, !due.note.isRestored, due.note.life == life,
            !client.hasReplayed, sequence > account.observer.since
        {
            throw HistoryFault("\(account.observer.shown) got \(sequence) first, and marked")
        }
    }

    /// Law 2: for each observer the numbers rise, for each client they never fall; the observers of
    /// a client get a notification in the order of their registration (rule C9).
    private func checkOrder(
        _ frame: HistoryFrame, _ account: ObserverAccount, _ client: Client
    ) throws(HistoryFault) {
        let sequence = frame.notification.sequence
        guard sequence > account.lastSequence else {
            throw HistoryFault(
                "law 2: \(account.observer.shown) got \(sequence) after \(account.lastSequence)")
        }
        account.lastSequence = sequence
        if account.isMailbox { return }
        guard (sequence, frame.observer) > client.last else {
            throw HistoryFault(
                """
                law 2: c\(client.id) got \(sequence) for o\(frame.observer) after \
                \(client.last.sequence) for o\(client.last.observer)
                """)
        }
        client.last = (sequence, frame.observer)
    }

    /// Law 5: what came while a client was suspended is dropped, or the last of its kind, as its
    /// observer chose.
    private func checkSuspension(
        _ due: ObserverAccount.Due, _ account: ObserverAccount
    ) throws(HistoryFault) {
        guard due.wasSuspended, due.note.isImmediate == false else { return }
        switch account.observer.behavior {
        case .drop:
            throw HistoryFault(
                "law 5: \(account.observer.shown) drops, and got \(due.note.sequence) later")
        case .coalesce:
            // Within one command the order of frames and notifications is not seen.
            let last = account.lastSuspended[due.note.content.kind]
            guard let last, last.command < command, last.sequence > due.note.sequence else {
                return
            }
            throw HistoryFault(
                """
                law 5: \(account.observer.shown) coalesces, and got \(due.note.sequence) in \
                spite of \(last.sequence)
                """)
        case .hold, .deliverImmediately: return
        }
    }

    // MARK: Losses

    func tell(_ gap: HistoryGap) throws(HistoryFault) {
        guard let account = accounts[gap.observer], account.isAlive else {
            throw HistoryFault("o\(gap.observer) is gone, and was told a gap")
        }
        guard gap.first >= 1, gap.first <= gap.last,
            gap.last <= lastSequence || gap.reason == .unknown
        else { throw HistoryFault("a gap from \(gap.first) to \(gap.last)") }
        if command != account.toldCommand {
            account.toldBefore = account.toldMoment
            account.toldCommand = command
        }
        if gap.lost == 0 { throw HistoryFault("law 3: a gap of nothing") }
        if gap.reason == .overflow, let lost = gap.lost { try checkOverflow(lost, gap, account) }
        if account.isMailbox {
            // A mailbox tells its losses until all of them are acknowledged: more may come
            // meanwhile.
            account.told.removeAll {
                $0.gap.reason == gap.reason && (!$0.isClosed || $0.gap.last >= gap.first)
            }
        }
        account.told.append(
            ObserverAccount.Told(gap: gap, moment: moment, command: command))
        account.toldMoment = moment
    }

    /// Rule D7: the oldest go, and only when more is held than may be.
    ///
    /// All that was held when the first was lost has a higher number; what came again out of the
    /// ring does not count for the limit of an observer.
    private func checkOverflow(
        _ lost: Int, _ gap: HistoryGap, _ account: ObserverAccount
    ) throws(HistoryFault) {
        if account.isMailbox || lastTrim > account.toldBefore { return }
        guard let client = clients[account.observer.client] else { return }
        let own = heldCount(
            of: account, from: gap.first, countsAll: account.observer.acknowledges,
            countsEarlierLives: client.hadReplayed)
        if own.count >= account.observer.holdLimit + lost { return }
        // Deliveries from the ring take the room that is left, also beside older ones (decision
        // 61).
        let isReplay = client.hasReplayed || gap.first <= account.observer.since
        var count = 0
        var byteCount = 0
        // One that was removed since counted as long as it was there.
        let earliest = max(account.command, note(of: gap.first)?.command ?? 0)
        for other in client.accounts where other.isAlive || other.removedCommand >= earliest {
            let sum = heldCount(
                of: other, from: isReplay ? 0 : gap.first,
                countsAll: client.hasReplayed || other.observer.acknowledges)
            count += sum.count
            byteCount += sum.byteCount
        }
        guard count > limits.clientHeldCount || byteCount > limits.clientHeldByteCount else {
            throw HistoryFault(
                """
                rule D7: \(account.observer.shown) lost \(lost) from \(gap.first) to \
                \(gap.last), and at most \(own.count) of \(account.observer.holdLimit) were held
                """)
        }
    }

    /// The number of deliveries that may have been held since losses were reported last.
    private func heldCount(
        of account: ObserverAccount, from sequence: UInt64, countsAll: Bool,
        countsEarlierLives: Bool = false
    ) -> (count: Int, byteCount: Int) {
        var count = 0
        var byteCount = 0
        for due in account.dues[account.place(from: sequence)...]
        where due.writeCount == 0 || due.lastWritten > account.toldBefore || countsAll
            || countsEarlierLives && due.note.life < life
        {
            count += 1
            byteCount += due.note.content.byteCount
        }
        return (count, byteCount)
    }

    // MARK: Answers and mailboxes

    func acknowledge(
        _ observer: UInt64, _ sequence: UInt64, _ isRefused: Bool, _ isSure: Bool
    ) {
        guard let note = note(of: sequence), let account = accounts[observer] else { return }
        if let client = clients[account.observer.client], client.connection != nil,
            let place = account.place(of: sequence),
            account.dues[place].lastWritten > client.connectedMoment
        {
            account.dues[place].isAcknowledged = true
            account.dues[place].wasAcknowledged = true
        }
        // Deliveries from the ring at the registration are in no account.
        if sequence <= account.observer.since { return }
        if !isSure { return note.isClouded = true }
        if isRefused { note.refusedCount += 1 } else { note.acknowledgedCount += 1 }
    }

    func lookInto(_ serial: UInt64, _ through: UInt64?) {
        guard let account = accounts[serial] else { return }
        account.lookedAt = time
        guard let through, through > account.acknowledgedThrough else { return }
        account.acknowledgedThrough = through
        account.acknowledgements.append((through, command))
        for place in account.told.indices where account.told[place].gap.last <= through {
            account.told[place].isClosed = true
        }
    }

    func show(
        _ serial: UInt64, _ notifications: [(id: [UInt8], sequence: UInt64)], _ gaps: [HistoryGap]
    ) throws(HistoryFault) {
        guard let account = accounts[serial], account.isAlive else {
            throw HistoryFault("o\(serial) is gone, and was looked into")
        }
        for gap in gaps { try tell(gap) }
        var last: UInt64 = 0
        for (id, sequence) in notifications {
            guard sequence > last, let place = account.place(of: sequence),
                account.dues[place].note.id == id
            else {
                throw HistoryFault("\(sequence) does not belong into \(account.observer.shown)")
            }
            last = sequence
            if account.dues[place].writeCount == 0 {
                // A look removes nothing: until it is acknowledged it may still be lost.
                account.dues[place].cameMarked = true
                if sequence > account.observer.since {
                    account.dues[place].note.noteWrite(command: command)
                }
            }
            account.dues[place].writeCount += 1
            account.dues[place].lastWritten = moment
        }
    }

    // MARK: Finding

    func place(ofNoteFrom sequence: UInt64) -> Int {
        var low = 0
        var high = notes.count
        while low < high {
            let middle = (low + high) / 2
            if notes[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func note(of sequence: UInt64) -> DispatchedNote? {
        let place = place(ofNoteFrom: sequence)
        return place < notes.count && notes[place].sequence == sequence ? notes[place] : nil
    }
}
