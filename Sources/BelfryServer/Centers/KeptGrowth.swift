import BelfryCenter

/// The growth of the centers' memory on a loop that is not accounted for, in all and by owner.
struct KeptGrowth {
    /// The whole memory that they keep.
    private(set) var total = KeptMemory()
    private var memory: KeptMemory?
    private var owned: [Owner: Holdings] = [:]

    /// Whether there is nothing to account for.
    var isNone: Bool { memory == nil }

    /// Adds growth, which may be negative.
    mutating func add(_ growth: KeptMemory) {
        memory = memory ?? KeptMemory()
        memory? += growth
        total += growth
    }

    /// Adds growth by owner, which may be negative; its memory is added separately.
    mutating func add(_ growth: [Owner: Holdings]) {
        if growth.isEmpty { return }
        for (owner, more) in growth { owned[owner, default: Holdings()] += more }  // Bound: owners
        add(KeptMemory())
    }

    /// Takes the growth; nil when there is nothing to account for.
    mutating func takeMemory() -> KeptMemory? { memory.take() }

    /// Takes the growth by owner.
    mutating func takeOwned() -> [Owner: Holdings] {
        var taken: [Owner: Holdings] = [:]
        swap(&taken, &owned)
        return taken
    }
}
