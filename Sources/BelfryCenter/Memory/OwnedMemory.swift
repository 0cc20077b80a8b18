/// What a center keeps for each owner, and what of that it has not told yet.
///
/// What is made for ``Owner/none`` costs nothing here. A thing counts as what it costs about, alone: a name that
/// several observers share counts for each of them.
struct OwnedMemory: Footprinted, Sendable {
    private var holdings: [Owner: Holdings] = [:]
    private var growth: [Owner: Holdings] = [:]

    /// The bytes that it costs.
    var footprint: Int {
        let stride = MemoryLayout<Owner>.stride + MemoryLayout<Holdings>.stride
        return Footprint.dictionary(capacity: holdings.capacity, stride: stride)
            + Footprint.dictionary(capacity: growth.capacity, stride: stride)
    }

    /// What an owner has here.
    subscript(owner: Owner) -> Holdings { holdings[owner] ?? Holdings() }

    /// Counts what has come, or with negative numbers what has gone.
    @inline(__always)
    mutating func add(
        _ byteCount: Int, of kind: KeptKind, observerCount: Int = 0, for owner: Owner
    ) {
        if owner == .none { return }
        addOwned(byteCount, of: kind, observerCount: observerCount, for: owner)
    }

    /// Counts texts that have come, or with negative numbers those that have gone.
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

    /// Takes what has grown or shrunk since it was taken last.
    mutating func takeGrowth() -> [Owner: Holdings] {
        var taken: [Owner: Holdings] = [:]
        swap(&taken, &growth)
        return taken
    }
}

extension OwnedMemory: Coded {
    init(_ known: OwnedMemory?, by coder: inout some Coder) throws(CodeError) {
        holdings = try coder.table(known?.holdings) { $0.number < $1.number }
        // Whoever reads it was told of nothing yet.
        growth = known?.growth ?? holdings
    }
}
