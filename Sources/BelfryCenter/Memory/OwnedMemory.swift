/// The memory of a center by owner, with the growth that was not reported yet.
///
/// Memory for ``Owner/none`` costs nothing here. Each item counts with its own approximate cost: a
/// name that several observers share counts for each of them.
struct OwnedMemory: Footprinted, Sendable {
    private var holdings: [Owner: Holdings] = [:]
    private var growth: [Owner: Holdings] = [:]

    /// The bytes that the table costs.
    var footprint: Int {
        let stride = MemoryLayout<Owner>.stride + MemoryLayout<Holdings>.stride
        return Footprint.dictionary(capacity: holdings.capacity, stride: stride)
            + Footprint.dictionary(capacity: growth.capacity, stride: stride)
    }

    /// The holdings of an owner.
    subscript(owner: Owner) -> Holdings { holdings[owner] ?? Holdings() }

    /// Adds memory, or subtracts it with negative numbers.
    @inline(__always)
    mutating func add(
        _ byteCount: Int, of kind: KeptKind, observerCount: Int = 0, for owner: Owner
    ) {
        if owner == .none { return }
        addOwned(byteCount, of: kind, observerCount: observerCount, for: owner)
    }

    /// Adds texts, or subtracts them with negative numbers.
    @inline(__always)
    mutating func add(_ byteCount: Int, cost: Int, of kind: TextKind, for owner: Owner) {
        if owner == .none { return }
        addOwned(byteCount, cost: cost, of: kind, for: owner)
    }

    @inline(never)
    private mutating func addOwned(
        _ byteCount: Int, of kind: KeptKind, observerCount: Int, for owner: Owner
    ) {
        var more = Holdings()
        more.memory[kind] = byteCount
        more.observerCount = observerCount
        add(more, for: owner)
    }

    @inline(never)
    private mutating func addOwned(_ byteCount: Int, cost: Int, of kind: TextKind, for owner: Owner)
    {
        var more = Holdings()
        more.texts[kind] = (byteCount, cost)
        add(more, for: owner)
    }

    private mutating func add(_ more: Holdings, for owner: Owner) {
        holdings[owner, default: Holdings()] += more
        if holdings[owner]?.isNone == true { holdings[owner] = nil }
        growth[owner, default: Holdings()] += more
    }

    /// Returns the growth since the last call, which may be negative.
    mutating func takeGrowth() -> [Owner: Holdings] {
        var taken: [Owner: Holdings] = [:]
        swap(&taken, &growth)
        return taken
    }
}

extension OwnedMemory: Coded {
    init(_ known: OwnedMemory?, by coder: inout some Coder) throws(CodeError) {
        holdings = try coder.table(known?.holdings) { $0.number < $1.number }
        // A reader has reported no growth yet.
        growth = known?.growth ?? holdings
    }
}
