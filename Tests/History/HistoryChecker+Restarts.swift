// A broker ends, in order or not: what was answered is there in its next life (laws 3 and 4).

extension HistoryChecker {
    func restart(isOrderly: Bool, hasState: Bool) throws(HistoryFault) {
        for serial in accounts.keys.sorted() {
            guard let account = accounts[serial] else { continue }
            if account.isAlive, isLive(account) { try account.checkReplays(life: life) }
            account.replays = []
        }
        life += 1
        isAfterRestart = true
        openNotes = []
        try queue.restart(committed: committed)
        if !hasState { return try forget() }
        hasCrashed = hasCrashed || !isOrderly
        for account in accounts.values { carryOver(account, isOrderly: isOrderly) }
        for client in clients.values {
            carryOverAbsence(of: client)
            client.connection = nil
            client.isSlow = false
            if client.askedCommand > committed { client.isAsked = nil }
        }
    }

    /// That it came back is undone, if nobody was answered it.
    private func carryOverAbsence(of client: Client) {
        var earliest = client.awaySinceEarliest ?? client.awaySince
        if let ended = client.endedAbsence, ended.command > committed {
            earliest = min(earliest ?? .max, ended.since)
        }
        client.endedAbsence = nil
        client.awaySinceEarliest = sinceInThisLife(earliest)
        client.awaySince = sinceInThisLife(client.awaySince)
    }

    /// A time of the earlier life on the clock of this one; time between them does not count.
    private func sinceInThisLife(_ time: Int64?) -> Int64 {
        self.time - (earlier - (time ?? earlier))
    }

    private func carryOver(_ account: ObserverAccount, isOrderly: Bool) {
        account.lookedAt = sinceInThisLife(account.reader == nil ? account.lookedAt : nil)
        account.reader = nil
        if isOrderly { return }
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
        hasCrashed = false
    }
}
