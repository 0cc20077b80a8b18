// A log that has lost entries continues with the state that one shard has applied.

extension Shard {
    /// Continues behind an entry of a log that lacks entries which this shard has applied.
    ///
    /// Other brokers may have applied, and answered, entries that this shard has never seen. So
    /// each center gets another epoch, by which returning clients notice that, and all observers
    /// are told a loss of unknown size (law 3).
    ///
    /// - Parameters:
    ///   - index: The index of the entry.
    ///   - chain: The digest of the past from now on; no other past has it.
    ///   - epoch: Makes text that no other life of a center has.
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
    /// The jump of a center's numbers.
    ///
    /// If the lost part has used more numbers, the other epoch distinguishes the posts.
    private static var lostNumberCount: UInt64 { 1 << 24 }

    /// Continues where others may have dispatched notifications that this center has never seen.
    fileprivate mutating func recover(epoch: [UInt8]) {
        history.epoch = epoch
        let gap = GapRecord(
            reason: .unknown, count: nil, first: history.sequence + 1,
            last: history.sequence + Self.lostNumberCount)
        history.sequence += Self.lostNumberCount
        for entry in registry.clients.order.living {  // Bound: start
            for slot in registry.observerSlots(of: entry.slot) {  // Bound: start
                backlog.losses.add(gap)
                registry.addGap(gap, at: slot)
            }
        }
        noteNeeds()
    }
}
