/// What a center keeps, by kind: each kind has a share of the broker's memory.
public enum KeptKind: Int, Sendable, CaseIterable {
    /// Observers and their clients, with objects and selectors.
    case observers
    /// Names with their counts, observed or not.
    case channels
    /// The replay ring.
    case replay
    /// Answers to requests with an idempotency key.
    case keys
    /// What became of recent posts.
    case fates
    /// What remains of removed observers.
    case tombstones
    /// Notifications for clients that cannot have them now, or have not acknowledged them.
    case held
    /// The queue.
    case queue
}

/// How many bytes of memory a center keeps, by kind.
public struct KeptMemory: Sendable, Equatable {
    /// One for each kind.
    private var byteCounts = InlineArray<8, Int>(repeating: 0)

    /// Keeps nothing.
    public init() {}

    /// The bytes of one kind.
    public subscript(kind: KeptKind) -> Int {
        get { byteCounts[kind.rawValue] }
        set { byteCounts[kind.rawValue] = newValue }
    }

    /// Whether both keep the same of each kind.
    public static func == (left: KeptMemory, right: KeptMemory) -> Bool {
        KeptKind.allCases.allSatisfy { left[$0] == right[$0] }
    }

    /// How much more there is of each kind than there was.
    public static func - (left: KeptMemory, right: KeptMemory) -> KeptMemory {
        var growth = KeptMemory()
        for kind in KeptKind.allCases { growth[kind] = left[kind] - right[kind] }
        return growth
    }

    /// Adds what another one keeps.
    public static func += (left: inout KeptMemory, right: KeptMemory) {
        for kind in KeptKind.allCases { left[kind] += right[kind] }
    }
}

extension NotificationCenter {
    /// Finds out how much memory the center keeps; it is in `needs` from then on.
    ///
    /// Whoever gives it commands asks at the end of a turn: a post pays nothing for it.
    ///
    /// - Complexity: O(1).
    public mutating func noteKept() {
        needs.kept[.observers] =
            observers.footprint + clients.footprint + index.footprint + selectors.footprint
            + deadlines.footprint
        needs.kept[.channels] = index.channels.footprint
        needs.kept[.replay] = replay.footprint
        needs.kept[.keys] = keys.footprint
        needs.kept[.fates] = fates.footprint
        needs.kept[.tombstones] = tombstones.footprint
        needs.kept[.held] = held.footprint + replaceableFootprint
        needs.kept[.queue] = queue.footprint
    }

    /// How many of a kind there are that ``Command/Action/trim(_:count:)`` can forget.
    public func trimmableCount(of kind: KeptKind) -> Int {
        switch kind {
        case .observers, .queue, .held: 0
        case .channels: index.channels.unobservedCount
        case .replay: replay.count
        case .keys: keys.count
        case .fates: fates.count
        case .tombstones: tombstones.count
        }
    }

    /// Forgets the oldest of a kind until no more than so many of it are left.
    ///
    /// Observers, the queue and what is held lose nothing by it: what finds no room there is refused, or lost
    /// with a gap (``Command/Action/trimHeld(byteCount:)``).
    mutating func trim(
        _ kind: KeptKind, to count: Int, at time: CommandTime, _ effects: inout Effects
    ) {
        switch kind {
        case .observers, .queue, .held: break
        case .channels: index.forgetUnobserved(downTo: count)
        case .replay: replay.trim(toCount: count)
        case .keys:
            forgetKeys(
                keys.trim(toCount: count, at: time.monotonicNanoseconds, limits: limits), &effects)
        case .fates: fates.trim(toCount: count)
        case .tombstones: tombstones.trim(to: count)
        }
    }

    /// What finds the replaceable notifications costs: a name and an object for each.
    private var replaceableFootprint: Int {
        Footprint.dictionary(
            capacity: replaceable.capacity,
            stride: MemoryLayout<ObservedKind>.stride + MemoryLayout<UInt32>.stride)
            + replaceable.count * 2 * Footprint.array(of: ObservedKind.usualByteCount)
    }
}
