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
    /// The names that the others watch, each used by its watchers.
    private var names = PrefixTable()
    /// The prefixes that observers gave up in the present command; nil between commands.
    private var gonePrefixes: PrefixTable?
    /// Names to check at the end of the turn, in the order in which they were noted.
    private var crossings = Ring<Crossing>()
    private var noted: Set<[UInt8]> = []
    /// Whether an observer without a name existed when the turn began; nil if that did not change.
    private(set) var namelessBefore: Bool?

    /// The bytes that the table costs.
    var footprint: Int { names.footprint + crossings.footprint }

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
        _ = names.insert(name.span)
    }

    /// Removes a watcher.
    mutating func remove(watching name: [UInt8]?) {
        watcherCount -= 1
        if let name {
            guard let index = names.index(of: name.span) else {
                preconditionFailure("a name that is watched is known")
            }
            names.remove(index)
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

    /// Whether observers gave up prefixes in the present command.
    var hasGonePrefixes: Bool { gonePrefixes != nil }

    /// Notes that the last observer with a prefix leaves.
    mutating func note(gonePrefix prefix: [UInt8]) {
        var prefixes = gonePrefixes.take() ?? PrefixTable()
        _ = prefixes.insert(prefix.span)
        gonePrefixes = prefixes
    }

    /// Returns and forgets the prefixes that observers gave up.
    mutating func takeGonePrefixes() -> PrefixTable? { gonePrefixes.take() }

    /// Calls the visitor with each name that has a watcher.
    func forEachName(_ visit: ([UInt8]) -> Void) {
        names.forEachText { name, _ in
            visit(name)
            return true
        }
    }

    /// Calls the visitor once with each watched name that begins with one of the prefixes.
    ///
    /// - Complexity: linear in the prefixes and in these names.
    func forEachName(beginningWith prefixes: PrefixTable, _ visit: ([UInt8]) -> Void) {
        prefixes.forEachText { prefix, _ in
            names.forEachText(beginningWith: prefix) { name, _ in
                visit(name)
                return true
            }
            // The names of a longer prefix were among these.
            return false
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
    /// The watched names, in the order of their bytes.
    private var watchedNames: [(name: [UInt8], watcherCount: Int)] {
        var watched: [(name: [UInt8], watcherCount: Int)] = []
        names.forEachText { name, watcherCount in
            watched.append((name, Int(watcherCount)))
            return true
        }
        return watched
    }

    init(_ known: ChannelWatch?, by coder: inout some Coder) throws(CodeError) {
        watcherCount = try coder(known?.watcherCount)
        generalCount = try coder(known?.generalCount)
        let watched = known?.watchedNames
        let keys: [[UInt8]] = try coder(watched?.map(\.name))
        // Programs before had numbers of names, some of them free; a free one has no watchers.
        let _: [UInt32] = try coder(watched.map { _ in [] })
        let counts: [Int] = try coder(watched?.map(\.watcherCount))
        crossings = try coder(known?.crossings)
        noted = known?.noted ?? []
        namelessBefore = try coder(known?.namelessBefore)
        names = known?.names ?? PrefixTable()
        guard coder.isReading else { return }
        // Bound: snapshot
        for (key, count) in zip(keys, counts) where count > 0 {
            _ = names.insert(key.span, useCount: UInt32(clamping: count))
        }
        for position in crossings.startPosition..<crossings.endPosition {  // Bound: snapshot
            noted.insert(crossings[position].name)
        }
    }
}
