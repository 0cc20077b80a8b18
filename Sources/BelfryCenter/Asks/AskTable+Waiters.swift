// The commands that wait for an ask: that of its asker, and later ones with the same key.

extension AskTable {
    /// Removes all waiters of an ask that stays open.
    mutating func forgetWaiters(of slot: UInt32) {
        leaveRepeaters(of: slot)
        slots[Int(slot)].waiters = FewList()
    }

    /// Adds a later command with the same key as a waiter; returns whether the ask is open.
    mutating func join(
        _ id: NotificationID, _ command: CommandID, of client: UInt64?, askerLimit: Int
    ) throws(Refusal) -> Bool {
        guard let slot = slot(of: id), let key = self[slot].key else { return false }
        let waiter = OpenAsk.Waiter(id: command, client: client, replayedForm: key.form)
        let asker = self[slot].asker(of: waiter)
        let asks = slots
        let count = askers.insert(slot, of: asker) {
            asks[Int($0)].ordinal > asks[Int(slot)].ordinal
        }
        guard count <= askerLimit else {
            leave(asker, slot)
            throw .tooManyAsks(limit: askerLimit)
        }
        slots[Int(slot)].waiters.append(waiter)
        return true
    }

    /// Removes some waiters of an ask; the first that stays takes the place of its asker.
    mutating func takeWaiters(
        of slot: UInt32, where isGone: (OpenAsk.Waiter) -> Bool
    ) -> FewList<OpenAsk.Waiter> {
        let waiters = self[slot].waiters.all
        let gone = waiters.filter(isGone)
        let staying = waiters.filter { !isGone($0) }
        precondition(!staying.isEmpty, "an ask for which nobody waits is withdrawn")
        for waiter in gone { leave(self[slot].asker(of: waiter), slot) }  // Bound: repeaters
        slots[Int(slot)].client = staying[0].client
        slots[Int(slot)].waiters = FewList(staying)
        return FewList(gone)
    }

    /// Stops counting the waiters by key of an ask; its asker counts for as long as it is open.
    mutating func leaveRepeaters(of slot: UInt32) {
        guard self[slot].waiters.count > 1 else { return }
        for waiter in self[slot].waiters.all.dropFirst() {  // Bound: repeaters
            leave(self[slot].asker(of: waiter), slot)
        }
    }
}
