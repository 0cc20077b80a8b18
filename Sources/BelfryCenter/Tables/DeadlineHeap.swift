/// Deadlines, the earliest first.
///
/// Equal times are in the order of their ranks, or of their addition where the caller gives no
/// ranks. Nothing is removed before its time: the owner recognizes an unwanted key when it comes
/// out, and ``compact(where:)`` discards such keys when they have become many.
struct DeadlineHeap<Key: Sendable>: Footprinted, Sendable {
    fileprivate struct Item: Comparable, Sendable {
        let time: Int64
        let rank: UInt64
        let key: Key

        static func < (left: Item, right: Item) -> Bool {
            (left.time, left.rank) < (right.time, right.rank)
        }

        static func == (left: Item, right: Item) -> Bool {
            (left.time, left.rank) == (right.time, right.rank)
        }
    }

    private var items = Heap<Item>()
    private var lastOrdinal: UInt64 = 0

    /// How many keys it has, unwanted ones among them.
    var count: Int { items.count }

    /// The bytes that the heap costs.
    var footprint: Int { items.footprint }

    /// The earliest time, though its key may be unwanted.
    var next: Int64? { items.first?.time }

    /// Adds a key; one whose time is `Int64.max` is never due, and is not kept.
    mutating func add(at time: Int64, key: Key) {
        lastOrdinal += 1
        add(at: time, rank: lastOrdinal, key: key)
    }

    /// Adds a key with a rank among those of its time.
    mutating func add(at time: Int64, rank: UInt64, key: Key) {
        guard time != Int64.max else { return }
        items.insert(Item(time: time, rank: rank, key: key))
    }

    /// Whether the time of the earliest key has come.
    func isDue(at now: Int64) -> Bool { items.first.map { $0.time <= now } ?? false }

    /// The earliest key whose time has come, if there is one.
    func firstDue(at now: Int64) -> Key? {
        items.first.flatMap { $0.time <= now ? $0.key : nil }
    }

    /// Takes out the earliest key whose time has come, if there is one.
    mutating func popDue(at now: Int64) -> Key? {
        guard let first = items.first, first.time <= now else { return nil }
        return items.removeFirst()?.key
    }

    /// Discards unwanted keys until the earliest one is wanted, so that `next` is right.
    mutating func dropUnwanted(where isAlive: (Key) -> Bool) {
        while let first = items.first, !isAlive(first.key) { items.removeFirst() }  // Bound: stale
    }

    /// Whether more than half of the keys are unwanted, so that compacting them pays.
    func isSparse(livingCount: Int) -> Bool { count > 2 * livingCount + 16 }

    /// Discards all unwanted keys; O(n), so it is for a heap that is sparse.
    mutating func compact(where isAlive: (Key) -> Bool) {
        items.keep { isAlive($0.key) }
    }
}

extension DeadlineHeap.Item: Coded where Key: Coded {
    init(_ known: DeadlineHeap.Item?, by coder: inout some Coder) throws(CodeError) {
        time = try coder(known?.time)
        rank = try coder(known?.rank)
        key = try coder(known?.key)
    }
}

extension DeadlineHeap: Coded where Key: Coded {
    init(_ known: DeadlineHeap?, by coder: inout some Coder) throws(CodeError) {
        items = try coder(known?.items)
        lastOrdinal = try coder(known?.lastOrdinal)
    }
}
