/// The queue as it looks from outside: what waits in it, what each entry stands for, and when it must
/// have left (law 1, rules Q1 to Q25).
struct QueueAccount {
    /// An entry, with what all posts that it stands for have asked for.
    struct Entry {
        let id: [UInt8]
        let place: Int
        let command: Int
        var content: HistoryContent
        var isAsap: Bool
        var modes: Set<[UInt8]>
        /// When it counts as asap; nil is never.
        var promotesAt: Int64?
        /// When it is too old; nil is never.
        var expiresAt: Int64?
        var isImmediate: Bool
        /// Since when it may leave at the end of a turn.
        var asapMoment: Int
        var changedCommand: Int
        /// A crash may have undone a part of what it was asked for.
        var isCertain = true
        /// In a batch it is not seen which post gave it its content.
        var hasSureContent = true
        var isRestored = false
    }

    var mode = Array("default".utf8)
    var commonModes: [[UInt8]] = []
    private var entries: [[UInt8]: Entry] = [:]
    /// What left; a crash may bring it back.
    private var gone: [(entry: Entry, command: Int)] = []
    private var lastPlace = 0
    /// The drain that goes on.
    private var drain: HistoryDrain?
    private var drainCommand = 0
    private var drainMoment = 0
    private var drainedPlace = 0
    private var drainedCount = 0

    /// Whether an outsider knows what each entry stands for.
    var isCertain: Bool { entries.values.allSatisfy { $0.isCertain && $0.hasSureContent } }

    // MARK: In

    /// The entries that a post is similar to, by what its own mask names, in their order (rule Q5).
    func similar(to post: HistoryPost) -> [Entry] {
        guard post.coalescesName || post.coalescesSender else { return [] }
        return entries.values.filter { entry in
            (!post.coalescesName || entry.content.name == post.content.name)
                && (!post.coalescesSender || entry.content.object == post.content.object)
        }.sorted { $0.place < $1.place }
    }

    /// A post waits, or one that waits stands for it.
    mutating func enter(
        _ post: HistoryPost, _ state: HistoryReceipt.State, command: Int, at time: Int64,
        moment: Int
    ) throws(HistoryFault) {
        let similar = similar(to: post)
        let isSure = post.isUnscoped && !post.isInBatch && isCertain
        lastPlace += 1
        let entry = Entry(
            id: post.id, place: lastPlace, command: command, content: post.content,
            isAsap: post.style == .asap, modes: Set(post.modes),
            promotesAt: post.maxDelay.map { time + $0 },
            expiresAt: post.timeToLive.map { time + $0 }, isImmediate: post.isImmediate,
            asapMoment: moment, changedCommand: command)
        guard case .coalesced(let into) = state else {
            guard similar.isEmpty || !isSure else {
                throw HistoryFault("rule Q6: \(post.id.shown) is similar, and was not coalesced")
            }
            entries[post.id] = entry
            return
        }
        guard var survivor = entries[into] else {
            // A `now` post of the same batch will take it out.
            if post.isInBatch { return entries[post.id] = entry }
            throw HistoryFault("law 1: \(post.id.shown) stands for nothing that waits")
        }
        guard !isSure || similar.first?.id == into else {
            throw HistoryFault(
                """
                law 1: \(post.id.shown) was coalesced into \(into.shown), not into the first, \
                \(similar.first?.id.shown ?? "none")
                """)
        }
        survivor.absorb(entry, command: command, moment: moment)
        if post.keepsLatest { survivor.content = post.content }
        if post.isInBatch { survivor.hasSureContent = false }
        entries[into] = survivor
    }

    /// A `now` post says how many it took out (rule Q8).
    func checkTaken(_ count: Int, by post: HistoryPost) throws(HistoryFault) {
        let similar = similar(to: post)
        guard count == similar.count || post.isInBatch || !isCertain else {
            throw HistoryFault(
                "rule Q8: \(post.id.shown) took \(count) out, and \(similar.count) are similar")
        }
    }

    /// A look at the fate of what waits, or waited.
    mutating func look(
        _ id: [UInt8], _ state: HistoryReceipt.State?, command: Int, at time: Int64
    ) throws(HistoryFault) {
        guard let entry = entries[id], state != .queued else { return }
        switch state {
        case .coalesced(let into):
            if var survivor = entries[into] {
                guard survivor.place < entry.place || !survivor.isCertain else {
                    throw HistoryFault("law 1: \(id.shown) went into one that stands behind it")
                }
                survivor.absorb(entry, command: command, moment: survivor.asapMoment)
                entries[into] = survivor
            } else {
                doubt(changedBy: command)
            }
        case .expired:
            guard !entry.isCertain || (entry.expiresAt.map { $0 <= time } ?? false) else {
                throw HistoryFault("\(id.shown) is not too old, and expired in the queue")
            }
        case .posted:
            throw HistoryFault("\(id.shown) was posted, and nobody saw it")
        case nil:
            // Its fate is forgotten.
            doubt(changedBy: command)
        case .dequeued, .queued: break
        }
        remove(entry, command: command)
    }

    /// What a command has changed may stand for more than can be seen.
    private mutating func doubt(changedBy command: Int) {
        for id in entries.keys where entries[id]?.changedCommand == command {
            entries[id]?.isCertain = false
        }
    }

    private mutating func remove(_ entry: Entry, command: Int) {
        entries[entry.id] = nil
        gone.append((entry, command))
    }

    // MARK: Out

    mutating func begin(_ drain: HistoryDrain, command: Int, moment: Int) {
        self.drain = drain
        drainCommand = command
        drainMoment = moment
        drainedPlace = 0
        drainedCount = 0
    }

    private func isCurrent(_ entry: Entry) -> Bool {
        entry.modes.contains(mode)
            || entry.modes.contains(Array("common".utf8)) && commonModes.contains(mode)
    }

    private func isDue(_ entry: Entry, at time: Int64) -> Bool {
        isCurrent(entry) && (entry.isAsap || entry.promotesAt.map { $0 <= time } ?? false)
    }

    /// An entry leaves, and is posted; nil if it was none.
    mutating func leave(
        _ note: DispatchedNote, command: Int, at time: Int64, moment: Int
    ) throws(HistoryFault) -> Entry? {
        guard let entry = entries[note.id] else { return nil }
        remove(entry, command: command)
        guard entry.isCertain else { return entry }
        let id = note.id.shown
        guard let drain, drainCommand == command, isCurrent(entry) else {
            throw HistoryFault("rule Q15: \(id) left the queue when it could not")
        }
        guard entry.content == note.content || !entry.hasSureContent else {
            throw HistoryFault("rule Q6: \(id) does not have the content that stands for all")
        }
        if let end = entry.expiresAt, end <= time {
            throw HistoryFault("\(id) was too old, and was posted")
        }
        drainedCount += 1
        if drain == .idle {
            let isFirst = !entries.values.contains {
                $0.isCertain && $0.place < entry.place && isCurrent($0) && !isDue($0, at: time)
            }
            guard drainedCount == 1, isFirst,
                !entries.values.contains(where: {
                    $0.isCertain && isDue($0, at: time)
                })
            else { throw HistoryFault("rule Q13: \(id) left in an idle moment that was another's") }
            return entry
        }
        guard isDue(entry, at: time) else {
            throw HistoryFault("rule Q12: \(id) is idle, and left at the end of a turn")
        }
        if entry.asapMoment < drainMoment {
            guard entry.place > drainedPlace else {
                throw HistoryFault("rule Q1: \(id) left behind one that came later")
            }
            drainedPlace = entry.place
        }
        return entry
    }

    /// Law 1: with all turns over, nothing waits that was to leave with one of them.
    func rest(at time: Int64) throws(HistoryFault) {
        for entry in entries.values where entry.isCertain && isDue(entry, at: time) {
            throw HistoryFault("law 1: \(entry.id.shown) should have left with its turn")
        }
    }

    // MARK: Restarts

    /// A crash keeps what was answered, and may undo what was not.
    mutating func restart(committed: Int) {
        for id in entries.keys { carryOver(id, committed) }
        mode = Array("default".utf8)
        drain = nil
    }

    private mutating func carryOver(_ id: [UInt8], _ committed: Int) {
        guard var entry = entries[id] else { return }
        entry.isRestored = true
        // Clocks begin anew, and what is left of a time was noted when it was asked for.
        if entry.changedCommand > committed || entry.promotesAt != nil || entry.expiresAt != nil {
            entry.isCertain = false
        }
        entries[id] = entry
    }

    /// What the queue has in the next life.
    mutating func restore(_ ids: [[UInt8]], committed: Int) throws(HistoryFault) {
        for (entry, command) in gone where command > committed {
            guard ids.contains(entry.id) else { continue }
            entries[entry.id] = entry
            carryOver(entry.id, committed)
        }
        gone = []
        let there = Set(ids)
        for id in ids where entries[id] == nil {
            throw HistoryFault("\(id.shown) waits, and nobody enqueued it or it has left before")
        }
        for entry in entries.values where !there.contains(entry.id) {
            guard entry.command > committed else {
                throw HistoryFault("\(entry.id.shown) was queued and answered, and is lost")
            }
            entries[entry.id] = nil
        }
    }
}

extension QueueAccount.Entry {
    /// Takes over what another one asks for (law 1).
    fileprivate mutating func absorb(_ other: Self, command: Int, moment: Int) {
        if other.isAsap, !isAsap {
            isAsap = true
            asapMoment = moment
        }
        modes.formUnion(other.modes)
        if let end = other.promotesAt { promotesAt = min(promotesAt ?? end, end) }
        if let end = expiresAt { expiresAt = other.expiresAt.map { max(end, $0) } }
        isImmediate = isImmediate || other.isImmediate
        isCertain = isCertain && other.isCertain
        changedCommand = max(changedCommand, max(other.changedCommand, command))
    }
}
