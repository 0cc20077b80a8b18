// A log that has lost entries goes on with what one shard has applied of it.

extension Shard {
    /// Goes on behind an entry of a log that does not have all that this shard has applied.
    ///
    /// Others may have applied, and answered, what this shard has never seen. So each center gets another epoch, by which
    /// those who come back know that, and all observers are told a loss that nobody can count (law 3).
    ///
    /// - Parameters:
    ///   - index: the index of the entry.
    ///   - chain: what stands for the past from now on; no other past has it.
    ///   - epoch: makes text that no other life of a center has.
    public mutating func recover(at index: UInt64, chain: UInt64, epoch: () -> [UInt8]) {
        precondition(log.work == nil, "an entry is over before a log goes on elsewhere")
        log.index = index
        log.chain = chain
        log.past = LogPast(at: index, LogPast.Mark(time: log.time, chain: chain))
        log.marks.forgetAll(through: index)
        log.nodes.forgetAppliedIndexes()
        // Bound: start
        for position in centers.indices { centers[position].recover(epoch: epoch()) }
        findWork()
    }
}

extension NotificationCenter {
    /// By how much the numbers of a center jump.
    ///
    /// Should the lost part have given more, the other epoch tells the posts apart.
    private static var lostNumberCount: UInt64 { 1 << 24 }

    /// Goes on where others may have dispatched what this center has never seen.
    fileprivate mutating func recover(epoch: [UInt8]) {
        self.epoch = epoch
        let gap = GapRecord(
            reason: .unknown, count: nil, first: sequence + 1,
            last: sequence + Self.lostNumberCount)
        sequence += Self.lostNumberCount
        for entry in clients.order.living {  // Bound: start
            for slot in observers.slots(from: clients[entry.slot].lastObserver) {  // Bound: start
                losses.add(gap)
                addGap(gap, at: slot)
            }
        }
        noteNeeds()
    }
}
