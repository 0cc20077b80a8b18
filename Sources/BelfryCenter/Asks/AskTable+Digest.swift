extension AskTable {
    /// Adds all that can be observed of the asks now or later.
    func addDigest(to digest: inout StateDigest) {
        digest.add(count)
        digest.add(lastOrdinal)
        digest.add(announcementCount)
        for entry in order.living {  // Bound: snapshot
            let ask = self[entry.slot]
            digest.add(ask.id)
            digest.add(ask.ordinal)
            digest.add(ask.endsAt)
            digest.add(ask.isStored)
            digest.add(ask.principal)
            digest.add(ask.client ?? 0)
            digest.add(ask.waiters.count)
            for waiter in ask.waiters.all { digest.add(waiter.client ?? 0) }  // Bound: snapshot
            digest.add(ask.path.count)
            for address in ask.path { digest.add(address) }  // Bound: snapshot
            digest.add(ask.sawBusy)
            digest.add(ask.sawSuspended)
            digest.add(ask.shown.count)
            for serial in ask.shown.all { digest.add(serial) }  // Bound: snapshot
            switch ask.announcement {
            case .none: digest.add(0)
            case .told(let number): digest.add(number)
            case .stored: digest.add(UInt64.max)
            }
            switch ask.state {
            case .walking: digest.add(0)
            case .held(let observer):
                digest.add(1)
                digest.add(observer)
            case .shown(let observer, let sequence):
                digest.add(2)
                digest.add(observer)
                digest.add(sequence)
            }
        }
    }
}
