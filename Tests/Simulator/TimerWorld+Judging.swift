import BelfryCenter
import BelfryHistory

// The judgement of timers from outside: none is early, none comes twice, none is forgotten.
extension TimerWorld {
    var rows: [QueueEntryRow] {
        center.timers(after: 0, limit: 1_000) { _, _ in true }.rows
    }

    var entries: [QueueEntryRow] {
        center.queue(matching: ObserverQuery(limit: 1_000) { $0.isWaiting = false }) { _, _ in true
        }.rows
    }

    // MARK: What is known

    /// A post became a timer: notes it, and what it was to replace.
    func judgeSetting(
        _ post: Post, _ terms: TimerTerms, _ scope: PostScope, _ before: [QueueEntryRow],
        _ client: UInt64?
    ) throws(Violation) {
        let replaced =
            !terms.replaces
            ? []
            : before.filter { row in
                row.content.isOf(post.content) && known[row.id]?.terms.isFarewell != true
                    && (scope == .everything || row.content.nameBytes == [UInt8]("a"))
            }
        let receipt = effects.receipts.first
        guard receipt?.dequeued == UInt32(replaced.count) else {
            throw Violation(
                "rule L1: \(replaced.count) were to be replaced, and \(receipt?.dequeued ?? 0) were"
            )
        }
        let gone = Set(replaced.map(\.id))
        for id in gone { known[id]?.isOut = true }
        let left = before.map(\.id).filter { !gone.contains($0) }
        let listed = Set(rows.map(\.id))
        guard left.allSatisfy(listed.contains), listed.isDisjoint(with: gone) else {
            throw Violation("rule L1: others than those of its name and object were replaced")
        }
        let delay: Int64 =
            switch terms.start {
            case .after(let nanoseconds): (nanoseconds + 999_999) / 1_000_000
            case .at(let milliseconds): max(0, milliseconds - wall)
            case nil: ((terms.period ?? 0) + 999_999) / 1_000_000
            }
        let isBound = terms.isFarewell || terms.period != nil
        var timer = Known(
            content: post.content, terms: terms, options: post.options ?? PostOptions(),
            client: isBound ? client : nil, leaseEnd: terms.lease.map { now + $0 } ?? .max)
        if !terms.isFarewell {
            timer.due = now + delay * 1_000_000
            timer.dueAt = wall + delay
        }
        guard receipt?.state == .timed(dueAt: timer.dueAt) else {
            throw Violation("#\(post.id.low) is due at another time than it was told")
        }
        known[post.id] = timer
    }

    func noteDisconnection(of client: UInt64, _ end: ConnectionEnd) {
        let entered = Set(entries.map(\.id))
        for (id, timer) in known
        where timer.terms.isFarewell && timer.client == client && !entered.contains(id) {
            if end == .closed {
                known[id]?.isOut = true
            } else {
                let delay = max(self.delay(of: timer), end == .brokerLeft ? 30_000 : 0)
                known[id]?.due = now + delay * 1_000_000
                known[id]?.dueAt = wall + delay
            }
        }
    }

    /// The delay of a farewell, in milliseconds.
    private func delay(of timer: Known) -> Int64 {
        guard case .after(let nanoseconds) = timer.terms.start else { return 0 }
        return (nanoseconds + 999_999) / 1_000_000
    }

    /// The broker has died: what was posted and not committed may be posted again, with a mark.
    func noteLost() {
        for (id, timer) in known {
            if timer.isPosted { lost.insert(id) }
            lost.formUnion(timer.firings)
        }
    }

    // MARK: What is posted

    func judge(_ note: Notification) throws(Violation) {
        let name = "#\(note.id.low)"
        let timerID = note.causedBy.flatMap { known[$0]?.terms.period != nil ? $0 : nil } ?? note.id
        guard let timer = known[timerID], note.content == timer.content else {
            throw Violation("\(name) was posted, and was never set")
        }
        if timer.isOut { throw Violation("rule L5: \(name) was posted, and is out") }
        if lost.contains(note.id), !note.isRestored {
            throw Violation("rule L6: \(name) may have been posted before, and is not marked")
        }
        guard let due = timer.due, due <= now else {
            throw Violation("rule L2: \(name) was posted early")
        }
        if timer.terms.period == nil {
            if timer.isPosted { throw Violation("rule L3: \(name) was posted twice") }
            known[timerID]?.isPosted = true
            return
        }
        guard note.id != timerID, known[timerID]?.firings.insert(note.id).inserted == true else {
            throw Violation("rule L4: the firing \(name) was posted twice")
        }
        let count = known[timerID]?.firings.count ?? 0
        guard count <= pointCount(of: timer, at: now) else {
            throw Violation("rule L4: firing \(count) of #\(timerID.low) was posted early")
        }
    }

    /// How many points of its grid have come.
    private func pointCount(of timer: Known, at time: Int64) -> Int {
        guard let start = timer.due, let period = timer.terms.period, start <= time else {
            return 0
        }
        var count = Int((time - start) / period) + 1
        // Points are rounded up to whole milliseconds.
        let last = (Int64(count - 1) * period + 999_999) / 1_000_000 * 1_000_000
        if start + last > time { count -= 1 }
        return count
    }

    // MARK: What is not posted

    /// All that is due has happened: nothing of it is left.
    func judgeSettled() throws(Violation) {
        let listed = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
        let entered = Set(entries.map(\.id))
        let isFull = entered.count >= limits.queueEntryLimit
        for (id, timer) in known where !timer.isOut && !timer.isPosted {
            let isLeft = listed[id] != nil || entered.contains(id)
            if timer.terms.period != nil {
                let isOver = timer.leaseEnd <= now || !timer.isLeaseCertain
                guard isLeft || isOver else { throw Violation("#\(id.low) is forgotten") }
                if isFull || !timer.isLeaseCertain { continue }
                let count = pointCount(of: timer, at: min(now, timer.leaseEnd))
                guard let done = listed[id]?.timer?.repetition else { continue }
                guard done.fired + done.missed == Int64(count) else {
                    throw Violation(
                        "rule L4: \(count) firings of #\(id.low) were due, and \(done.fired) and \(done.missed) counted"
                    )
                }
                continue
            }
            guard isLeft else { throw Violation("rule L3: #\(id.low) is forgotten") }
            let isCurrent = timer.options.modes == [modes.isEmpty ? Mode.default : [UInt8]("modal")]
            guard let due = timer.due, due <= now, !isFull, isCurrent else { continue }
            throw Violation("#\(id.low) is due, and was not posted")
        }
    }

    /// Judges a new life: all promised timers are there, and nothing else; times of day are kept.
    func judgeRestart() throws(Violation) {
        let listed = Set(rows.map(\.id))
        let entered = Set(entries.map(\.id))
        for id in listed {
            guard let timer = known[id], !timer.isPosted || timer.terms.period != nil else {
                throw Violation("#\(id.low) came back, and was posted, or was never set")
            }
            if timer.isOut {
                throw Violation("#\(id.low) was taken out, and came back")
            }
        }
        for (id, timer) in known where !timer.isOut && !timer.isPosted {
            guard
                listed.contains(id) || entered.contains(id) || !timer.isLeaseCertain
                    || timer.terms.lease != nil
            else { throw Violation("rule L6: #\(id.low) was promised, and is not there") }
            if timer.terms.lease != nil { known[id]?.isLeaseCertain = false }
            if timer.terms.isFarewell, !entered.contains(id) {
                let delay = max(delay(of: timer), 30_000)
                known[id]?.due = now + delay * 1_000_000
                known[id]?.dueAt = wall + delay
            } else if let dueAt = timer.dueAt {
                known[id]?.due = now + (dueAt - wall) * 1_000_000
            }
        }
    }
}

extension Notification.Content {
    /// Whether name and object are those of another one.
    func isOf(_ other: Notification.Content) -> Bool {
        nameBytes == other.nameBytes && objectBytes == other.objectBytes
    }
}
