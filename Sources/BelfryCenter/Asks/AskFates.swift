/// The fates of recent asks; those that are kept for longer are apart from the others.
///
/// So no flood of asks that nobody stored takes the place of a stored one, and each table is in the
/// order of its forgetting.
struct AskFates: Footprinted, Sendable {
    private var recent: AskFateTable
    private var stored: AskFateTable

    init(seed: HashSeed) {
        recent = AskFateTable(seed: seed)
        stored = AskFateTable(seed: seed)
    }

    /// The number of fates that are remembered.
    var count: Int { recent.count + stored.count }
    var byteCount: Int { recent.byteCount + stored.byteCount }
    /// The number of fates that the store has.
    var storedCount: Int { recent.storedCount + stored.storedCount }
    var footprint: Int { recent.footprint + stored.footprint }

    /// The time when the next is forgotten, on the monotonic clock in nanoseconds.
    @inline(__always)
    var nextDeadline: Int64? {
        guard let time = stored.nextDeadline else { return recent.nextDeadline }
        return min(time, recent.nextDeadline ?? time)
    }

    subscript(id: NotificationID) -> AskFateTable.Fate? { recent[id] ?? stored[id] }

    /// Adds the fate of an ask that ended just now; the limits, or the fate, would be copied.
    @inline(__always)
    mutating func append(_ fate: consuming AskFateTable.Fate, isKeptLonger: Bool) {
        if isKeptLonger {
            stored.append(fate)
        } else {
            recent.append(fate)
        }
    }

    /// Forgets the oldest past the limits; returns those of them that the store has.
    mutating func trim(to limits: CenterLimits) -> [NotificationID] {
        let forgotten = recent.trim(to: limits)
        return stored.count == 0 ? forgotten : forgotten + stored.trim(to: limits)
    }

    /// Forgets the oldest until no more than so many are left, those that are kept for longer last.
    mutating func trim(toCount limit: Int) -> [NotificationID] {
        recent.trim(toCount: max(0, limit - stored.count)) + stored.trim(toCount: limit)
    }

    /// Forgets the fates that are too old, at most so many of each kind.
    mutating func passTime(_ now: Int64, limit: Int) -> [NotificationID] {
        let forgotten = recent.passTime(now, limit: limit)
        return stored.count == 0 ? forgotten : forgotten + stored.passTime(now, limit: limit)
    }
}

extension AskFates: Coded {
    init(_ known: AskFates?, by coder: inout some Coder) throws(CodeError) {
        recent = try coder(known?.recent)
        // No log has one.
        stored = known?.stored ?? AskFateTable(seed: coder.seed)
    }
}

extension CenterLimits {
    /// How long the fate of an ask is remembered, in nanoseconds.
    func fateLifetime(ofStored isStored: Bool) -> Int64 {
        (isStored ? askFateLifetime : fateLifetime).wholeNanoseconds
    }
}
