/// The watchers of whether names are observed (rule L12), and the names that may have changed.
///
/// Nothing is recorded while there are no watchers. The names are those of the current turn.
struct ChannelWatch: Footprinted, Sendable {
    /// A name, and whether it was observed at the last report to its watchers.
    struct Crossing: Sendable {
        let name: [UInt8]
        let wasObserved: Bool
    }

    /// How many observers watch.
    private(set) var watcherCount = 0
    /// How many of them watch all names.
    private(set) var generalCount = 0
    /// The names that the others watch, and the number of watchers by the number of the name.
    private var names: KeyTable
    private var counts: [Int] = []
    /// Names to check at the end of the turn, in the order in which they were noted.
    private var crossings = Ring<Crossing>()
    private var noted: Set<[UInt8]> = []
    /// Whether an observer without a name existed when the turn began; nil if that did not change.
    private(set) var namelessBefore: Bool?

    init(seed: HashSeed) {
        names = KeyTable(seed: seed)
    }

    /// The bytes that the table costs.
    var footprint: Int {
        names.footprint + counts.count * MemoryLayout<Int>.stride + crossings.footprint
    }

    var isActive: Bool { watcherCount > 0 }

    /// Whether there is something to check at the end of the turn.
    var hasCrossings: Bool { !crossings.isEmpty || namelessBefore != nil }

    /// Adds a watcher of a name, or of all names.
    mutating func add(watching name: [UInt8]?) {
        watcherCount += 1
        guard let name else {
            generalCount += 1
            return
        }
        let place = Int(names.insert(name.span).index)
        while counts.count <= place { counts.append(0) }  // Bound: growth
        counts[place] += 1
    }

    /// Removes a watcher.
    mutating func remove(watching name: [UInt8]?) {
        watcherCount -= 1
        if let name {
            guard let place = names.index(of: name.span) else {
                preconditionFailure("a name that is watched is known")
            }
            counts[Int(place)] -= 1
            if counts[Int(place)] == 0 { names.remove(at: place) }
        } else {
            generalCount -= 1
        }
        if !isActive { forget() }
    }

    /// Forgets the names that were noted.
    mutating func forget() {
        crossings = Ring()
        noted = []
        namelessBefore = nil
    }

    /// Notes that a name may have got its first observer or lost its last; the first note counts.
    mutating func note(_ name: [UInt8], wasObserved: Bool) {
        guard noted.insert(name).inserted else { return }
        crossings.append(Crossing(name: name, wasObserved: wasObserved))
    }

    /// Notes that the first observer without a name arrives, or that the last one leaves.
    mutating func noteNameless(wasObserved: Bool) {
        if namelessBefore == nil { namelessBefore = wasObserved }
    }

    /// Returns and forgets whether there was an observer without a name, if that may have changed.
    mutating func takeNameless() -> Bool? { namelessBefore.take() }

    /// Removes and returns the next name to check.
    mutating func next() -> Crossing? {
        guard let crossing = crossings.first else { return nil }
        crossings.removeFirst()
        noted.remove(crossing.name)
        return crossing
    }

    /// Calls the visitor with each name that has a watcher.
    func forEachName(_ visit: ([UInt8]) -> Void) {
        // Bound: spread
        for place in 0..<names.indexLimit where place < counts.count && counts[place] > 0 {
            visit(names.key(at: UInt32(place)))
        }
    }

    /// Adds all that can be observed of the table later.
    func addDigest(to digest: inout StateDigest) {
        digest.add(watcherCount)
        digest.add(generalCount)
        digest.add(namelessBefore.map { $0 ? 1 : 0 } ?? -1)
        var position = crossings.startPosition
        while position < crossings.endPosition {  // Bound: snapshot
            digest.add(crossings[position].name)
            digest.add(crossings[position].wasObserved)
            position += 1
        }
    }
}

extension ChannelWatch.Crossing: Coded {
    init(_ known: ChannelWatch.Crossing?, by coder: inout some Coder) throws(CodeError) {
        name = try coder(known?.name)
        wasObserved = try coder(known?.wasObserved)
    }
}

extension ChannelWatch: Coded {
    init(_ known: ChannelWatch?, by coder: inout some Coder) throws(CodeError) {
        watcherCount = try coder(known?.watcherCount)
        generalCount = try coder(known?.generalCount)
        names = try coder(known?.names)
        counts = try coder(known?.counts)
        crossings = try coder(known?.crossings)
        noted = known?.noted ?? []
        namelessBefore = try coder(known?.namelessBefore)
        guard coder.isReading else { return }
        for position in crossings.startPosition..<crossings.endPosition {  // Bound: snapshot
            noted.insert(crossings[position].name)
        }
    }
}
