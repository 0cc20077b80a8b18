/// Makes a center out of its stored rows, one by one; all of its clients are disconnected.
///
/// Held and queued notifications may have been delivered before, and are marked so. If the last
/// life did not end in order, the losses of observers that drop are unknown: they are told a gap.
public struct CenterRestoration: ~Copyable {
    private var center: NotificationCenter
    private let time: CommandTime
    private let isComplete: Bool
    /// The place among the notifications while their holders are restored.
    private var kept = HeldTable.none
    /// The same place for actions, which follow the holders.
    private var keptOfActions = HeldTable.none

    /// The ended asks: the store has them in the order of asking, the table in that of their ends.
    private var askEnds: [(ask: AskRecord, end: AskRecord.End)] = []
    /// The rows that were due too late, as they are now: the clock had been ahead.
    private var bounded: [Change] = []

    /// Begins with the center itself, without the rows of the image.
    ///
    /// - Parameters:
    ///   - marks: The dispatched numbers of earlier lives; nil if they are unknown.
    /// - isReserved: Whether the caller lets the store reserve a block of numbers before the first
    ///   is used.
    public init(
        of image: CenterImage, limits: CenterLimits, seed: HashSeed, time: CommandTime,
        marks: DispatchMarks? = nil, isReserved: Bool = false
    ) {
        self.time = time
        isComplete = image.isComplete
        center = NotificationCenter(
            name: image.name, epoch: image.epoch, limits: limits, seed: seed)
        center.beginRestoring(image.sequence, marks, at: time)
        guard isReserved else { return }
        center.history.reservedSequence = image.sequence + NotificationCenter.sequenceBlock
        center.history.sequenceReserveAt = image.sequence + NotificationCenter.sequenceBlock / 2
    }

    /// Restores a row, in the form of the change that made it.
    ///
    /// Clients come before observers, these before all else, and notifications before their
    /// holders; each kind comes in the order of ``CenterImage``. Rows of a missing observer or
    /// notification are skipped.
    public mutating func take(_ row: consuming Change) {
        var row = consume row
        if let earlier = row.bounded(at: time) {
            bounded.append(earlier)
            row = earlier
        }
        switch row {
        case .ask(let record):
            if let end = record.end {
                askEnds.append((record, end))
            } else {
                center.restore(record, at: time)
            }
        case .client(let record): center.restore(record, at: time)
        case .observer(let record): center.restore(record, isComplete: isComplete)
        case .observerRemoved(let serial, let tombstone):
            center.restore(tombstone, serial: serial)
        case .notification(let record):
            let slot = center.restore(record, at: time)
            if kept == HeldTable.none { (kept, keptOfActions) = (slot, slot) }
        case .held(let observer, let sequence):
            guard center.backlog.held.goOn(&kept, to: sequence) else { return }
            center.restoreEntry(of: observer, kept: kept)
        case .action(let record):
            guard center.backlog.held.goOn(&keptOfActions, to: record.sequence) else { return }
            center.restore(record, kept: keptOfActions)
        case .gap(let serial, let gap): center.restore(gap, of: serial)
        case .queued(let record): center.schedule.queue.restore(record, at: time)
        case .timer(let record):
            center.restore(record, isComplete: isComplete, at: time)
        case .value(let record): center.restore(record, at: time)
        case .key(let record):
            center.history.keys.restore(
                record, at: time.monotonicNanoseconds, limits: center.limits)
        case .archive(let record):
            center.archiveBox.value.restore(
                record,
                after: LossMark(
                    sequence: center.history.sequence, postedAt: time.wallMilliseconds))
        case .archivedKind(let record): center.archiveBox.value.restore(record)
        case .kept(let record): center.archiveBox.value.restore(record, at: time)
        case .archiveRemoved, .archivedKindForgotten, .letGo, .center, .sequenceReserved,
            .clientRemoved, .notificationReleased, .released,
            .actionReleased, .dequeued, .timerEnded, .keyForgotten, .askForgotten, .valueRemoved:
            preconditionFailure("a store has no such row")
        }
    }

    /// Measures the memory of the center if it has changed by some bytes; returns the growth.
    public mutating func noteKept(
        ifChangedBy byteCount: Int, addingTo growth: inout KeptMemory
    ) -> Bool {
        center.noteKept(ifChangedBy: byteCount, addingTo: &growth)
    }

    /// Returns the center, after all of its rows.
    ///
    /// - Parameter note: Gets the changes for the store: all that ended while the broker was down.
    public consuming func finish(_ note: (Change) -> Void = { _ in }) -> NotificationCenter {
        bounded.forEach(note)
        var center = center
        center.orderActions()
        center.archiveBox.value.endRestoring(at: time).forEach(note)
        center.restore(askEnds, at: time)
        center.endRestoring(isComplete: isComplete, at: time).forEach(note)
        // Its memory is counted anew by its host.
        center.memory.kept = KeptMemory()
        center.memory.measure = 0
        return center
    }
}

extension CenterImage {
    /// Calls the visitor with each row as a change, in the order in which a center is restored.
    public func forEachRow(_ tell: (Change) -> Void) {
        for record in clients { tell(.client(record)) }  // Bound: start
        for record in observers { tell(.observer(record)) }  // Bound: start
        for (serial, tombstone) in tombstones {  // Bound: start
            tell(.observerRemoved(serial: serial, tombstone))
        }
        for record in notifications { tell(.notification(record)) }  // Bound: start
        // Bound: start
        for (observer, sequence) in held { tell(.held(observer: observer, sequence: sequence)) }
        for record in actions { tell(.action(record)) }  // Bound: start
        for (observer, gap) in gaps { tell(.gap(observer: observer, gap)) }  // Bound: start
        for record in queue { tell(.queued(record)) }  // Bound: start
        for record in timers { tell(.timer(record)) }  // Bound: start
        for record in asks { tell(.ask(record)) }  // Bound: start
        for record in values { tell(.value(record)) }  // Bound: start
        for record in keys { tell(.key(record)) }  // Bound: start
        for record in archives { tell(.archive(record)) }  // Bound: start
        for record in archivedKinds { tell(.archivedKind(record)) }  // Bound: start
        for record in kept { tell(.kept(record)) }  // Bound: start
    }
}
