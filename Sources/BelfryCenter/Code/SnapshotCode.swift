// The whole state of a center as bytes (decision 97).

extension NotificationCenter {
    /// The version of the code of states.
    ///
    /// From 2 on it has the last changes of values and the present values that observers were sent,
    /// from 3 on the whole `ttl` of parts.
    static let snapshotVersion: UInt64 = 3

    /// The code of the whole state: equal in every process for centers that got the same commands.
    ///
    /// State that counts for this process alone is left out: losses, and the measured memory.
    public func snapshot() -> [UInt8] { sealedCode(version: Self.snapshotVersion) }

    /// Makes the center with this state, which then behaves as the original would.
    ///
    /// The bytes must come from ``snapshot()``: they are checked for completeness, but their tables
    /// are trusted.
    ///
    /// - Parameter seed: the secret of this process for its hash tables.
    public init(snapshot: [UInt8], seed: HashSeed) throws(CodeError) {
        try self.init(sealed: snapshot, through: Self.snapshotVersion, seed: seed)
    }
}

extension Shard {
    /// The version of the code of shards, which is that of their centers; 3 adds the key of tags.
    static let snapshotVersion = NotificationCenter.snapshotVersion

    /// The code of the whole state between two entries: equal for shards with the same applied log.
    public func snapshot() -> [UInt8] {
        precondition(log.work == nil, "a snapshot has whole entries")
        // Brokers of an earlier level may have to read it.
        return sealedCode(version: level >= Self.levelFour ? Self.snapshotVersion : 2)
    }

    /// Makes the shard with this state, which continues the log as the original would.
    ///
    /// - Parameter seed: the secret of this process for its hash tables.
    public init(snapshot: [UInt8], seed: HashSeed) throws(CodeError) {
        try self.init(sealed: snapshot, through: Self.snapshotVersion, seed: seed)
    }
}

// MARK: - Bytes that are whole

extension Coded {
    /// The code of the value, behind a version and a checksum.
    fileprivate func sealedCode(version: UInt64) -> [UInt8] {
        var state = CodeWriter(of: version)
        state.write(self)
        var writer = CodeWriter(version: version)
        _ = writer.word(sipHash(state.bytes.span, seed: sealSeed))
        return writer.bytes + state.bytes
    }

    fileprivate init(
        sealed code: [UInt8], through newest: UInt64, seed: HashSeed
    ) throws(CodeError) {
        var reader = try CodeReader(code, through: newest, seed: seed)
        let check: UInt64 = try reader.next()
        guard sipHash(reader.rest, seed: sealSeed) == check else { throw .malformed }
        self = try reader.next()
        try reader.finish()
    }
}

private let sealSeed = HashSeed(0x6265_6c66_7279_2e73, 0x6e61_7073_686f_7431)

// MARK: - What a state is made of

extension Shard: Coded {
    init(_ known: Shard?, by coder: inout some Coder) throws(CodeError) {
        let log: ShardLog = try coder(known?.log)
        let limits: CenterLimits = try coder(known?.limits)
        let centers: [NotificationCenter] = try coder(known?.centers)
        let tagKey: TagKey = coder.version >= 3 ? try coder(known?.tagKey) : .known
        if let known {
            self = known
            return
        }
        self.init(limits: limits, seed: coder.seed)
        self.log = log
        self.tagKey = tagKey
        for center in centers {  // Bound: snapshot
            guard position(of: center.name) == nil else { throw .malformed }
            _ = take(center)
        }
        findWork()
    }
}

extension NotificationCenter: Coded {
    init(_ known: NotificationCenter?, by coder: inout some Coder) throws(CodeError) {
        name = try coder(known?.name)
        epoch = try coder(known?.epoch)
        sequence = try coder(known?.sequence)
        appliedIndex = try coder(known?.appliedIndex)
        limits = try coder(known?.limits)
        tally = try coder(known?.tally)
        owned = try coder(known?.owned)
        clients = try coder(known?.clients)
        lastWritten = try coder.table(known?.lastWritten)
        restoredThrough = try coder(known?.restoredThrough)
        marks = try coder(known?.marks)
        observers = try coder(known?.observers)
        index = try coder(known?.index)
        selectors = try coder(known?.selectors)
        tombstones = try coder(known?.tombstones)
        replay = try coder(known?.replay)
        fates = try coder(known?.fates)
        held = try coder(known?.held)
        heldActions = try coder.table(known?.heldActions)
        targets = try coder(known?.targets)
        replaceable = try coder.table(known?.replaceable)
        paces = try coder(known.map { $0.paces.running(at: $0.lastTime) })
        queue = try coder(known?.queue)
        usesTimers = try coder(known?.usesTimers)
        timers = try coder(known?.timers)
        modeStack = try coder(known?.modeStack)
        waiting = try coder(known?.waiting)
        keys = try coder(known?.keys)
        usesAsks = try coder(known?.usesAsks)
        namelessCount = try coder(known?.namelessCount)
        watch = try coder(known?.watch)
        addresses = try coder(known?.addresses)
        asks = try coder(known?.asks)
        askFates = try coder(known?.askFates)
        usesValues = try coder(known?.usesValues)
        values = try coder(known?.values)
        deadlines = try coder(known?.deadlines)
        livingDeadlineCount = try coder(known?.livingDeadlineCount)
        reports = try coder(known?.reports)
        hasReportedOverflow = try coder(known?.hasReportedOverflow)
        isTerminating = try coder(known?.isTerminating)
        lastTime = try coder(known?.lastTime)
        lastWallTime = try coder(known?.lastWallTime)
        toldGaps = try coder.table(known?.toldGaps)
        doubts = try coder.table(known?.doubts)
        isStored = try coder(known?.isStored)
        reservedSequence = try coder(known?.reservedSequence)
        sequenceReserveAt = try coder(known?.sequenceReserveAt)
        guard coder.isReading else { return }
        for entry in observers.order.living {  // Bound: snapshot
            guard let responder = observers.responder(at: entry.slot),
                let address = index.object(of: observers[entry.slot].place)
            else { continue }
            addresses.offer(
                address, slot: entry.slot, serial: entry.serial,
                implementing: selectors.numbers(of: responder))
        }
        noteNeeds()
    }
}

extension CenterTally: Coded {
    init(_ known: CenterTally?, by coder: inout some Coder) throws(CodeError) {
        self.init()
        for kind in Self.kinds { self[kind] = try coder(known?[kind]) }  // Bound: few
    }
}

extension LastWritten: Coded {
    init(_ known: LastWritten?, by coder: inout some Coder) throws(CodeError) {
        sequence = try coder(known?.sequence)
        isShared = try coder(known?.isShared)
    }
}

extension DispatchMarks: Coded {
    init(_ known: DispatchMarks?, by coder: inout some Coder) throws(CodeError) {
        guard let marks = Self(cells: try coder(known?.cells)) else { throw .malformed }
        self = marks
    }
}
