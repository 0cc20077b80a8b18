import BelfryCenter

/// How much more memory the centers of a loop keep than was accounted for, and for which owners.
struct KeptGrowth {
    /// All that they keep.
    private(set) var total = KeptMemory()
    private var memory: KeptMemory?
    private var owned: [Owner: Holdings] = [:]

    /// Whether there is nothing to account for.
    var isNone: Bool { memory == nil }

    /// Centers keep more, or less.
    mutating func add(_ growth: KeptMemory) {
        memory = memory ?? KeptMemory()
        memory? += growth
        total += growth
    }

    /// Centers keep more, or less, for some owners; the memory of it is added for itself.
    mutating func add(_ growth: [Owner: Holdings]) {
        if growth.isEmpty { return }
        for (owner, more) in growth { owned[owner, default: Holdings()] += more }  // Bound: owners
        add(KeptMemory())
    }

    /// Takes how much more memory they keep; nil when there is nothing to account for.
    mutating func takeMemory() -> KeptMemory? { memory.take() }

    /// Takes how much more they keep for owners.
    mutating func takeOwned() -> [Owner: Holdings] {
        var taken: [Owner: Holdings] = [:]
        swap(&taken, &owned)
        return taken
    }
}
