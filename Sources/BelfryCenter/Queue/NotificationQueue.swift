/// The notifications that wait to be posted (Rules.md, Q).
///
/// There is one list in the order of arrival; style and modes decide when an entry leaves (rule
/// Q1). It is kept as slots, with a table that finds similar entries, a list for each mode, and a
/// heap of deadlines: adding, merging and taking an entry cost no more in a long queue than in a
/// short one. No result depends on the order of a hash table.
///
/// The queue expires nothing by itself: the center passes time before every other step.
struct NotificationQueue: Footprinted, Sendable {
    /// An entry, or room for one; every field that does not describe an entry is 0.
    struct Slot: Sendable {
        var entry: Entry?
        /// Marks the one deadline that counts for its time to live.
        var expiryStamp: UInt64 = 0
        /// Marks the one deadline that counts for its promotion to asap.
        var promotionStamp: UInt64 = 0
    }

    /// The action that is due at a deadline, if the slot still has the stamp.
    struct Timer: Sendable {
        let slot: UInt32
        let stamp: UInt64
        let isExpiry: Bool
    }

    /// How many entries wait.
    var count = 0
    /// The bytes of name, object and userInfo of all entries.
    var byteCount = 0

    var slots: [Slot] = []
    var freeSlots: [UInt32] = []
    var nextPlace: UInt64 = 1
    /// The first place behind the asap entries that are being posted; 0 when none are (rule Q11).
    ///
    /// Entries behind it wait for another turn.
    private(set) var snapshotEnd: UInt64 = 0
    var kinds: KindTable
    var modeLists: ModeLists
    /// By identifier the slot.
    var positions: PositionTable
    var timers = DeadlineHeap<Timer>()
    /// How many deadlines count.
    var timerCount = 0
    var lastStamp: UInt64 = 0
    /// The memory of the entries by the owners that they count for.
    var owned = OwnedMemory()
    /// The changes of an open batch, for undoing it.
    var journal: Journal?

    /// Makes an empty queue in the mode `default`.
    init(seed: HashSeed, commonModes: [[UInt8]]) {
        kinds = KindTable(seed: seed)
        modeLists = ModeLists(seed: seed, commonModes: commonModes)
        positions = PositionTable(seed: seed)
    }

    /// The bytes that the queue costs.
    var footprint: Int {
        // The names of modes are shared by nearly all entries; the list of them is not.
        let modeByteCount = modeLists.mentionCount * MemoryLayout<[UInt8]>.stride
        return Footprint.texts(count: 2 * count, byteCount: byteCount + modeByteCount)
            + count * MemoryLayout<Slot>.stride + positions.footprint + kinds.footprint
            + modeLists.footprint + timers.footprint
    }

    /// The entry of a notification, if it still waits.
    func entry(_ id: NotificationID) -> Entry? {
        slot(of: id).flatMap { slots[Int($0)].entry }
    }

    /// Calls the visitor with the entries of all modes in posting order, while it returns true.
    ///
    /// Asap entries come first, then idle ones, each in the order of their places.
    ///
    /// - Complexity: O(n log n); it is for looking at the queue.
    func forEachInPostingOrder(_ visit: (Entry) -> Bool) {
        var asap: [(place: UInt64, slot: Int)] = []
        var idle: [(place: UInt64, slot: Int)] = []
        for (number, slot) in slots.enumerated() {  // Bound: queue page
            guard let entry = slot.entry else { continue }
            if entry.style == .idle {
                idle.append((entry.place, number))
            } else {
                asap.append((entry.place, number))
            }
        }
        asap.sort { $0.place < $1.place }
        idle.sort { $0.place < $1.place }
        for (_, number) in asap + idle {  // Bound: queue page
            if let entry = slots[number].entry, !visit(entry) { return }
        }
    }
}

// MARK: - Posting

extension NotificationQueue {
    /// Makes another mode the current one.
    mutating func enter(mode: [UInt8]) {
        modeLists.enter(mode: mode)
    }

    /// Replaces the modes that `common` stands for (rule Q17).
    mutating func setCommonModes(_ modes: [[UInt8]]) {
        modeLists.setCommonModes(modes)
    }

    /// Whether an asap entry may be posted in the current mode.
    var hasAsap: Bool { modeLists.hasAsap }

    /// Whether an idle entry may be posted in the current mode.
    var hasIdle: Bool { modeLists.hasIdle }

    /// Begins with the asap entries that are there now, unless some of those before are left.
    mutating func beginSnapshot() {
        if firstOfSnapshot() == nil { snapshotEnd = nextPlace }
    }

    /// Takes out the next entry of the snapshot that may be posted in the current mode.
    mutating func takeAsap() -> Entry? {
        firstOfSnapshot().map { removeEntry(at: $0) }
    }

    /// Whether the snapshot has something more to post in the current mode.
    mutating func snapshotGoesOn() -> Bool { snapshotEnd != 0 && firstOfSnapshot() != nil }

    /// Ends the snapshot if nothing more of it may be posted.
    mutating func endSnapshotIfOver() {
        if !snapshotGoesOn() { snapshotEnd = 0 }
    }

    /// The slot of the next entry of the snapshot.
    private mutating func firstOfSnapshot() -> UInt32? {
        guard let slot = modeLists.firstReady(isIdle: false), place(of: slot) < snapshotEnd else {
            return nil
        }
        return slot
    }

    /// Takes out the first idle entry of the current mode, unless an asap one waits (rule Q13).
    mutating func takeIdle() -> Entry? {
        guard !hasAsap, let slot = modeLists.firstReady(isIdle: true) else { return nil }
        return removeEntry(at: slot)
    }
}

// MARK: - Removing

extension NotificationQueue {
    /// Takes out the entries similar to a `now` post that may be touched, in queue order (rule Q8).
    mutating func takeSimilar(
        to content: Notification.Content, mask: Coalescing, scope: PostScope
    ) -> [Entry] {
        take(slots(similarTo: content.name, content.object, mask: mask, scope: scope))
    }

    /// Takes out the matching entries that may be touched, in queue order (rule Q20).
    mutating func take(_ match: QueueMatch) -> [Entry] {
        guard let object = match.object else {
            return take(slots(named: match.name, nil, of: match))
        }
        return take(slots(named: match.name, object.span, of: match))
    }

    /// Takes out one entry, if it still waits and may be touched.
    mutating func take(_ id: NotificationID, scope: PostScope) -> Entry? {
        guard let slot = slot(of: id), let entry = slots[Int(slot)].entry,
            scope.allows(entry.content)
        else { return nil }
        return removeEntry(at: slot)
    }

    private func slots(
        named name: [UInt8]?, _ object: Span<UInt8>?, of match: QueueMatch
    ) -> [UInt32] {
        guard let name else {
            return slots(similarTo: nil, object, mask: match.mask, scope: match.scope)
        }
        return slots(similarTo: name.span, object, mask: match.mask, scope: match.scope)
    }

    private mutating func take(_ slots: [UInt32]) -> [Entry] {
        slots.map { removeEntry(at: $0) }
    }

    /// The slots of similar entries that may be touched, in queue order.
    func slots(
        similarTo name: Span<UInt8>?, _ object: Span<UInt8>?, mask: Coalescing, scope: PostScope
    ) -> [UInt32] {
        // A closure copies its captures: that should not be the whole queue.
        let slots = slots
        var similar = kinds.slots(similarTo: name, object, mask: mask) { slot in
            if case .everything = scope { return true }
            return slots[Int(slot)].entry.map { scope.allows($0.content) } ?? false
        }
        if similar.count > 1 { similar.sort { place(of: $0) < place(of: $1) } }
        return similar
    }

    private func place(of slot: UInt32) -> UInt64 { slots[Int(slot)].entry?.place ?? 0 }

    private func slot(of id: NotificationID) -> UInt32? {
        positions.position(of: id, idAt: idAt).map { UInt32($0) }
    }

    private func idAt(_ position: UInt64) -> NotificationID {
        slots[Int(position)].entry?.id ?? NotificationID(high: 0, low: 0)
    }
}

// MARK: - Time

extension NotificationQueue {
    /// When ``passTime(_:)`` has something to do next, on the monotonic clock in nanoseconds.
    var nextDeadline: Int64? { timers.next }

    /// Removes entries whose time to live has ended, and promotes idle ones past their `maxDelay`.
    ///
    /// Promoted entries become asap (rule Q14). Both are returned in queue order, as they are now.
    mutating func passTime(_ now: Int64) -> (promoted: [Entry], expired: [Entry]) {
        var expiring: [UInt32] = []
        var promoting: [UInt32] = []
        while let timer = timers.popDue(at: now) {  // Bound: expiry
            let slot = Int(timer.slot)
            if timer.isExpiry, slots[slot].expiryStamp == timer.stamp {
                expiring.append(timer.slot)
            } else if !timer.isExpiry, slots[slot].promotionStamp == timer.stamp {
                promoting.append(timer.slot)
            }
        }
        if expiring.isEmpty, promoting.isEmpty { return ([], []) }
        expiring.sort { place(of: $0) < place(of: $1) }
        let expired = take(expiring)
        promoting.sort { place(of: $0) < place(of: $1) }
        var promoted: [Entry] = []
        for slot in promoting {  // Bound: expiry
            // Entries that expire at the same time are removed by now.
            guard var entry = slots[Int(slot)].entry else { continue }
            entry.style = .asap
            entry.promotesAt = .max
            replaceEntry(at: slot, by: entry)
            promoted.append(entry)
        }
        settleTimers()
        return (promoted, expired)
    }
}

extension NotificationQueue.Slot: Coded {
    init(_ known: NotificationQueue.Slot?, by coder: inout some Coder) throws(CodeError) {
        entry = try coder(known?.entry)
        expiryStamp = try coder(known?.expiryStamp)
        promotionStamp = try coder(known?.promotionStamp)
    }
}

extension NotificationQueue.Timer: Coded {
    init(_ known: NotificationQueue.Timer?, by coder: inout some Coder) throws(CodeError) {
        slot = try coder(known?.slot)
        stamp = try coder(known?.stamp)
        isExpiry = try coder(known?.isExpiry)
    }
}

extension NotificationQueue: Coded {
    init(_ known: NotificationQueue?, by coder: inout some Coder) throws(CodeError) {
        count = try coder(known?.count)
        byteCount = try coder(known?.byteCount)
        slots = try coder(known?.slots)
        freeSlots = try coder(known?.freeSlots)
        nextPlace = try coder(known?.nextPlace)
        snapshotEnd = try coder(known?.snapshotEnd)
        kinds = try coder(known?.kinds)
        modeLists = try coder(known?.modeLists)
        timers = try coder(known?.timers)
        timerCount = try coder(known?.timerCount)
        lastStamp = try coder(known?.lastStamp)
        owned = try coder(known?.owned)
        positions = known?.positions ?? PositionTable(seed: coder.seed)
        guard coder.isReading else { return }
        let taken = slots.indices.lazy.filter { [slots] in slots[$0].entry != nil }.map {
            UInt64($0)
        }
        positions.insert(all: taken) { Self.id(in: slots[Int($0)]) }
    }
}
