// A broker ends, in order or not: what was answered is there in its next life (laws 3 and 4).

extension HistoryChecker {
    func restart(isOrderly: Bool, hasState: Bool) throws(HistoryFault) {
        for serial in accounts.keys.sorted() {
            guard let account = accounts[serial] else { continue }
            if account.isAlive, isLive(account), !isPaced(account), !mayOwe(account) {
                try account.checkReplays(life: life)
            }
            account.replays = []
        }
        life += 1
        isAfterRestart = true
        openNotes = []
        try queue.restart(committed: committed)
        if !hasState { return try forget() }
        if !isOrderly { crashCount += 1 }
        for account in accounts.values { carryOver(account, isOrderly: isOrderly) }
        for client in clients.values {
            if client.isMailbox { carryOverLooks(into: client) }
            carryOverAbsence(of: client)
            client.connection = nil
            client.isSlow = false
            client.hadReplayed = client.hasReplayed
            if client.askedCommand > committed { client.isAsked = nil }
        }
    }

    /// Undoes a return of a client that a crash has lost, if no client saw it.
    private func carryOverAbsence(of client: Client) {
        var earliest = client.awaySinceEarliest ?? client.awaySince
        for ended in client.endedAbsences where ended.command > committed {
            earliest = min(earliest ?? .max, ended.since)
        }
        client.endedAbsences = []
        client.awaySinceEarliest = sinceInThisLife(earliest)
        client.awaySince = sinceInThisLife(client.awaySince)
    }

    /// A time of the earlier life on the clock of this one; time between them does not count.
    private func sinceInThisLife(_ time: Int64?) -> Int64 {
        self.time - (earlier - (time ?? earlier))
    }

    /// The last look into one of a client's mailboxes counts for all of them (Protocol, section 1).
    private func carryOverLooks(into client: Client) {
        let accounts = client.accounts.filter { $0.isAlive || $0.removedCommand > committed }
        let last = accounts.map { $0.reader == nil ? $0.lookedAt : earlier }.max()
        for account in accounts {
            account.lookedAt = sinceInThisLife(last)
            account.reader = nil
        }
    }

    private func carryOver(_ account: ObserverAccount, isOrderly: Bool) {
        if account.isMailbox { forgetLooks(into: account) }
        if isOrderly { return }
        // Losses that were reported and not committed are reported again, out of all that was held
        // before.
        account.toldMoment = account.told.last { $0.command <= committed }?.moment ?? 0
        // That it was taken out of what is held may be undone: then it comes again, or is lost.
        for place in account.dues.indices
        where account.dues[place].lastCommand > max(committed, account.dues[place].note.command) {
            account.dues[place].cameMarked = true
            account.dues[place].wasPutBack = account.dues[place].writeCount > 0
            // So may be that it came again, and then the answer to it holds (Protocol, section 7).
            if account.dues[place].wasAcknowledged { account.dues[place].isAcknowledged = true }
        }
        for place in account.dues.indices.reversed() {
            let note = account.dues[place].note
            if note.command <= committed, !note.isUnanswered { break }
            account.dues[place].isOptional = true
        }
        for place in account.told.indices
        where account.isMailbox || account.told[place].command > committed {
            account.told[place].isOptional = true
        }
    }

    /// Keeps the deliveries of a mailbox that were read and not acknowledged (Protocol, section 9).
    ///
    /// Only the life in which they were read knows which of them a reader has seen: in the next one
    /// they may be lost. A crash may lose an acknowledgement (section 1).
    private func forgetLooks(into account: ObserverAccount) {
        let sure = account.acknowledgements.last { $0.command <= committed }?.through ?? 0
        account.acknowledgements = [(sure, 0)]
        for place in account.dues.indices
        where account.dues[place].writeCount > 0 && account.dues[place].note.sequence > sure {
            account.dues[place].cameMarked = true
        }
    }

    /// The store knows nothing of the center: nothing may have been promised.
    private func forget() throws(HistoryFault) {
        for account in accounts.values
        where account.isAlive && !account.isToGo && account.command <= committed
            && !account.observer.endsWithConnection
        { throw HistoryFault("\(account.observer.shown) is lost, and was answered") }
        try queue.restore([], committed: committed)
        accounts = [:]
        byName = [:]
        clients = [:]
        notes = []
        lastOfID = [:]
        lastSequence = 0
        crashCount = 0
    }
}
