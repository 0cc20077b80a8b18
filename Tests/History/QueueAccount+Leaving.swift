// How entries leave: in their order, with the snapshot of a turn that they belong to (rules Q10 to
// Q15).

extension QueueAccount {
    /// Entries may leave during one command.
    struct Drain {
        let kind: HistoryDrain
        let command: Int
        let time: Int64
        /// Up to when all that was due had happened.
        let passedTime: Int64
        /// Something was there that may leave for certain.
        let hasWork: Bool
        var leftCount = 0
        /// The place of what left last.
        var lastPlace = 0
    }

    /// The entries that were there when a turn's end began to post them (rule Q11).
    ///
    /// Several ends may share them, and entries that come meanwhile wait for all of them.
    struct Snapshot {
        /// Everything up to this place belongs to it; 0 when it is over.
        var end = 0
        /// Nothing behind this place does.
        var latestEnd = 0
        /// Whether an outsider knows that the one before it was over.
        var isKnown = true
    }

    private func isCurrent(_ entry: Entry) -> Bool {
        entry.modes.contains(mode)
            || entry.modes.contains(Array("common".utf8)) && commonModes.contains(mode)
    }

    private func isDue(_ entry: Entry, at time: Int64) -> Bool {
        isCurrent(entry) && (entry.isAsap || entry.promotesAt.map { $0 <= time } ?? false)
    }

    /// The first entry that may leave at the end of a turn for certain.
    ///
    /// An entry that waits for its `maxDelay` alone counts as asap when time has passed as a whole
    /// (decision 69).
    private func firstDue(through end: Int = .max, passed: Int64) -> Entry? {
        entries.values.filter { $0.isCertain && $0.place <= end && isDue($0, at: passed) }
            .min { $0.place < $1.place }
    }

    /// Whether something of the snapshot is left for this mode; nil when an outsider cannot know.
    private func snapshotGoesOn(at time: Int64, passed: Int64) -> Bool? {
        if snapshot.isKnown, firstDue(through: snapshot.end, passed: passed) != nil { return true }
        let mayGoOn = entries.values.contains { entry in
            entry.place <= snapshot.latestEnd && (!entry.isCertain || isDue(entry, at: time))
        }
        return mayGoOn ? nil : false
    }

    mutating func begin(
        _ kind: HistoryDrain, command: Int, at time: Int64
    ) throws(HistoryFault) {
        try endDrain()
        drain = Drain(
            kind: kind, command: command, time: time, passedTime: passedTime,
            hasWork: firstDue(passed: passedTime) != nil)
        switch kind {
        case .idle: return
        case .stop: snapshot = Snapshot(end: lastPlace, latestEnd: lastPlace)
        case .turn, .share:
            switch snapshotGoesOn(at: time, passed: passedTime) {
            case true: return
            case false: snapshot = Snapshot(end: lastPlace, latestEnd: lastPlace)
            case nil:
                snapshot.latestEnd = lastPlace
                snapshot.isKnown = false
            }
        }
    }

    /// An entry leaves, and is posted; nil if it was none.
    mutating func leave(
        _ note: DispatchedNote, command: Int, at time: Int64
    ) throws(HistoryFault) -> Entry? {
        guard let entry = entries[note.id] else { return nil }
        remove(entry, command: command)
        guard entry.isCertain else { return entry }
        let id = note.id.shown
        guard let drain, drain.command == command, isCurrent(entry) else {
            throw HistoryFault("rule Q15: \(id) left the queue when it could not")
        }
        guard entry.content == note.content || !entry.hasSureContent else {
            throw HistoryFault("rule Q6: \(id) does not have the content that stands for all")
        }
        if let end = entry.expiresAt, end <= time {
            throw HistoryFault("\(id) was too old, and was posted")
        }
        if drain.kind == .idle {
            let isFirst = !entries.values.contains {
                $0.isCertain && $0.place < entry.place && isCurrent($0)
                    && !isDue($0, at: passedTime)
            }
            guard drain.leftCount == 1, isFirst, firstDue(passed: passedTime) == nil else {
                throw HistoryFault("rule Q13: \(id) left in an idle moment that was another's")
            }
            return entry
        }
        guard isDue(entry, at: time) else {
            throw HistoryFault("rule Q12: \(id) is idle, and left at the end of a turn")
        }
        guard entry.place <= snapshot.latestEnd else {
            throw HistoryFault("rule Q11: \(id) was enqueued meanwhile, and did not wait")
        }
        guard entry.place > drain.lastPlace else {
            throw HistoryFault("rule Q1: \(id) left behind one that came later")
        }
        self.drain?.lastPlace = entry.place
        return entry
    }

    /// The command is over, and it is known what left: nothing was passed over, and a turn that was
    /// not cut short has posted all of its snapshot (law 1).
    mutating func endDrain() throws(HistoryFault) {
        guard let ended = drain, ended.kind != .idle else { return drain = nil }
        drain = nil
        if let left = firstDue(through: ended.lastPlace, passed: ended.passedTime) {
            throw HistoryFault("rule Q1: \(left.id.shown) was passed over by one that came later")
        }
        if ended.hasWork, ended.leftCount == 0, let left = firstDue(passed: ended.passedTime) {
            throw HistoryFault("law 1: \(left.id.shown) should have left, and nothing did")
        }
        if ended.kind != .share,
            let left = firstDue(through: snapshot.end, passed: ended.passedTime)
        {
            throw HistoryFault("law 1: \(left.id.shown) should have left with its turn")
        }
        switch snapshotGoesOn(at: ended.time, passed: ended.passedTime) {
        case true: return
        case false: snapshot = Snapshot()
        case nil: snapshot.isKnown = false
        }
    }

    /// Law 1: nothing waits for the end of a turn that did not come.
    mutating func rest() throws(HistoryFault) {
        if let drain, drain.kind != .idle { return try endDrain() }
        drain = nil
        if let left = firstDue(passed: passedTime) {
            throw HistoryFault("law 1: \(left.id.shown) should have left with its turn")
        }
    }
}
