/// The queue as seen from outside (law 1, rules Q1 to Q25).
///
/// It has the waiting entries, the posts that each represents, and the time when it must have left.
struct QueueAccount {
    /// An entry, with the options of all posts that it represents.
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
        /// Whether a post that it represents was to expire, which a crash may restore.
        var mayExpire: Bool
        var isImmediate: Bool
        var changedCommand: Int
        /// A crash may have undone a part of what it was asked for.
        var isCertain = true
        /// In a batch it is not seen which post gave it its content.
        var hasSureContent = true
        var isRestored = false
    }

    var mode = Array("default".utf8)
    var commonModes: [[UInt8]] = []
    var entries: [[UInt8]: Entry] = [:]
    /// The entries that left; a crash may bring them back.
    private var gone: [(entry: Entry, command: Int)] = []
    var lastPlace = 0
    var drain: Drain?
    /// Up to when all that was due in this life has happened.
    var passedTime = Int64.min
    var snapshot = Snapshot()

    /// Whether an outsider knows which posts each entry represents.
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

    /// Enters a post, or merges it into a waiting one.
    mutating func enter(
        _ post: HistoryPost, _ state: HistoryReceipt.State, command: Int, at time: Int64
    ) throws(HistoryFault) {
        let similar = similar(to: post)
        let isSure = post.isUnscoped && !post.isInBatch && isCertain
        lastPlace += 1
        let entry = Entry(
            id: post.id, place: lastPlace, command: command, content: post.content,
            isAsap: post.style == .asap, modes: Set(post.modes),
            promotesAt: post.maxDelay.map { time + $0 },
            expiresAt: post.timeToLive.map { time + $0 }, mayExpire: post.timeToLive != nil,
            isImmediate: post.isImmediate,
            changedCommand: command)
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
        survivor.absorb(entry, command: command)
        if post.keepsLatest { survivor.content = post.content }
        if post.isInBatch { survivor.hasSureContent = false }
        entries[into] = survivor
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
                survivor.absorb(entry, command: command)
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

    /// Marks the entries that a command changed, as they may represent more posts than are visible.
    private mutating func doubt(changedBy command: Int) {
        for id in entries.keys where entries[id]?.changedCommand == command {
            entries[id]?.isCertain = false
        }
    }

    mutating func remove(_ entry: Entry, command: Int) {
        entries[entry.id] = nil
        gone.append((entry, command))
        if drain?.command == command { drain?.leftCount += 1 }
    }

    // MARK: Restarts

    /// A crash keeps what was answered, and may undo what was not.
    mutating func restart(committed: Int) throws(HistoryFault) {
        try endDrain()
        snapshot = Snapshot()
        passedTime = .min
        for id in entries.keys { carryOver(id, committed) }
        mode = Array("default".utf8)
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

    /// Restores the queue of the next life.
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
    fileprivate mutating func absorb(_ other: Self, command: Int) {
        isAsap = isAsap || other.isAsap
        modes.formUnion(other.modes)
        if let end = other.promotesAt { promotesAt = min(promotesAt ?? end, end) }
        if let end = expiresAt { expiresAt = other.expiresAt.map { max(end, $0) } }
        mayExpire = mayExpire || other.mayExpire
        isImmediate = isImmediate || other.isImmediate
        isCertain = isCertain && other.isCertain
        changedCommand = max(changedCommand, max(other.changedCommand, command))
    }
}
