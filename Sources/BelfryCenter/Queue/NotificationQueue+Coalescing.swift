/// Coalescing (rules Q3 to Q7, Q19, and law 1).
extension NotificationQueue {
    /// The result of adding a post.
    enum Added: Sendable, Equatable {
        /// The post waits as an entry of its own.
        case queued(NotificationID)
        /// An earlier entry represents the post; other entries merged into that one are removed.
        case merged(survivor: NotificationID, removed: [NotificationID])
    }

    /// How many modes besides its first one an entry of a full queue names on average, at most.
    ///
    /// Without it, entries that name very many modes each would take memory that nothing else
    /// limits.
    static let furtherModeLimit = 8

    /// Enqueues a post whose style is asap or idle.
    ///
    /// Similar entries are searched by the mask of the new post alone (rule Q5), in both styles
    /// (Q7) and in all modes (Q19). The first one keeps its place and represents all of them; none
    /// is posted later than it would have been (law 1).
    ///
    /// A post that merges needs no room for an entry, but it needs room for what it adds to one:
    /// bytes of a longer content, and modes other than the default that no entry names yet.
    ///
    /// - Parameters:
    ///   - scope: the scope of the caller; entries outside it are neither merged with nor removed.
    ///   - owner: the owner that a new entry counts for.
    ///   - room: the limits.
    ///   - isRestored: whether a new entry may have been posted in an earlier life of the broker.
    /// - Throws: `queueFull`, `queueBytesFull`; nothing is changed then.
    mutating func add(
        _ post: borrowing Post, depth: Int, scope: PostScope, owner: Owner = .none, room: Room,
        isRestored: Bool = false, at time: CommandTime
    ) throws(Refusal) -> Added {
        if case .everything = scope,
            let survivor = try mergePlainly(post, depth: depth, owner, room)
        {
            return .merged(survivor: survivor, removed: [])
        }
        var entry = Entry(
            post, depth: depth, place: nextPlace, isRestored: isRestored, at: time)
        entry.owner = owner
        let similar = slots(
            similarTo: post.content.name, post.content.object, mask: entry.coalescing,
            scope: scope)
        guard let first = similar.first, var survivor = slots[Int(first)].entry else {
            try checkRoom(
                for: entry.modes, entryCount: 1, byteCount: entry.content.byteCount,
                furtherModeCount: entry.modes.count - 1, within: room)
            nextPlace += 1
            insert(entry)
            return .queued(entry.id)
        }
        let others = similar.dropFirst().compactMap { slots[Int($0)].entry }
        survivor.absorb(others, entry, keepsLatest: post.options?.keepsLatest ?? false)
        let gone = slots[Int(first)].entry.map { [$0] + others } ?? others
        try checkRoom(
            for: entry.modes, entryCount: 0,
            byteCount: survivor.content.byteCount
                - gone.reduce(0) { $0 + $1.content.byteCount },
            furtherModeCount: survivor.modes.count - 1
                - gone.reduce(0) { $0 + $1.modes.count - 1 },
            within: room)
        for slot in similar.dropFirst() { _ = removeEntry(at: slot) }  // Bound: similar
        replaceEntry(at: first, by: survivor)
        return .merged(survivor: survivor.id, removed: others.map(\.id))
    }

    /// Merges an asap post into the only entry of its kind; nil, with nothing done, if it cannot.
    ///
    /// It cannot when more than the content and the counts of the entry would change. This is the
    /// path of a value that changes often: nothing is copied.
    private mutating func mergePlainly(
        _ post: borrowing Post, depth: Int, _ owner: Owner, _ room: Room
    ) throws(Refusal) -> NotificationID? {
        guard journal == nil, let options = post.options, options.style == .asap,
            options.coalescing == [.onName, .onSender],
            let slot = kinds.onlySlot(of: post.content.name, post.content.object)
        else { return nil }
        let room = room.byteLimit.adding(-byteCount)
        let merged = try slots[Int(slot)].entry?.takeOver(
            post, options, depth, owner, byteRoom: room)
        guard let merged = merged ?? nil else { return nil }
        byteCount += merged.byteCount
        owned.add(merged.byteCount, cost: merged.byteCount, of: .queue, for: owner)
        return merged.id
    }
}

// MARK: - Limits

extension NotificationQueue {
    /// The limits of one addition.
    struct Room {
        let entryLimit: Int
        /// How many different modes the entries may name.
        let modeLimit: Int
        /// How many bytes there may be, with those that are there.
        let byteLimit: Int

        /// No limits, for entries that were promised and are always added.
        static let unlimited = Room(entryLimit: .max, modeLimit: .max, byteLimit: .max)
    }

    /// Whether so many more entries of the mode `default` certainly fit, whatever they merge with.
    func hasRoom(forDefaultEntries entryCount: Int, entryLimit: Int, modeLimit: Int) -> Bool {
        let furtherModeCount = modeLists.mentionCount - count + entryCount
        return count + entryCount <= entryLimit && modeLists.modeCount < modeLimit
            && (furtherModeCount - 1) / Self.furtherModeLimit < entryLimit
    }

    /// Checks the limits for an addition; a figure that shrinks needs no room (rule Q24).
    private func checkRoom(
        for modes: [[UInt8]], entryCount: Int, byteCount: Int, furtherModeCount: Int,
        within room: Room
    ) throws(Refusal) {
        if entryCount > 0, count >= room.entryLimit {
            throw .queueFull(limit: room.entryLimit)
        }
        if byteCount > 0, self.byteCount.adding(byteCount) > room.byteLimit {
            throw .queueBytesFull
        }
        let newModeCount = modeLists.newModeCount(in: modes)
        if newModeCount > 0, modeLists.modeCount + newModeCount > room.modeLimit {
            throw .queueFull(limit: room.modeLimit)
        }
        let oldFurtherModeCount = modeLists.mentionCount - count
        if furtherModeCount > 0,
            (oldFurtherModeCount + furtherModeCount - 1) / Self.furtherModeLimit
                >= room.entryLimit
        {
            throw .queueFull(limit: room.entryLimit)
        }
    }
}
