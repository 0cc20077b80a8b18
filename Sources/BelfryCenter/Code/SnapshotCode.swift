// The whole state of a center as bytes (decision 97).

extension NotificationCenter {
    /// The version of the code of states.
    ///
    /// From 2 on it has the last changes of values and the present values that observers were sent,
    /// from 3 on the whole `ttl` of parts, from 4 on the terms of filters in tombstones,
    /// from 5 on the answerers and the options of asks.
    static let snapshotVersion: UInt64 = 5

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
        return sealedCode(
            version: level >= Self.levelSix
                ? Self.snapshotVersion
                : level >= Self.levelFive ? 4 : level >= Self.levelFour ? 3 : 2)
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
        let limits = try CenterLimits(ofState: known?.limits, by: &coder)
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
        let name: [UInt8] = try coder(known?.name)
        let epoch: [UInt8] = try coder(known?.epoch)
        let sequence: UInt64 = try coder(known?.sequence)
        let appliedIndex: UInt64 = try coder(known?.appliedIndex)
        let limits = try CenterLimits(ofState: known?.limits, by: &coder)
        self =
            known
            ?? NotificationCenter(name: name, epoch: epoch, limits: limits, seed: coder.seed)
        history.sequence = sequence
        self.appliedIndex = appliedIndex
        tally = try coder(known?.tally)
        memory.owned = try coder(known?.memory.owned)
        registry.clients = try coder(known?.registry.clients)
        registry.lastWritten = try coder.table(known?.registry.lastWritten)
        history.restoredThrough = try coder(known?.history.restoredThrough)
        history.marks = try coder(known?.history.marks)
        registry.observers = try coder(known?.registry.observers)
        registry.index = try coder(known?.registry.index)
        registry.selectors = try coder(known?.registry.selectors)
        registry.tombstones = try coder(known?.registry.tombstones)
        history.replay = try coder(known?.history.replay)
        history.fates = try coder(known?.history.fates)
        backlog.held = try coder(known?.backlog.held)
        backlog.heldActions = try coder.table(known?.backlog.heldActions)
        registry.targets = try coder(known?.registry.targets)
        backlog.replaceable = try coder.table(known?.backlog.replaceable)
        backlog.paces = try coder(known.map { $0.backlog.paces.running(at: $0.lastTime) })
        schedule.queue = try coder(known?.schedule.queue)
        schedule.usesTimers = try coder(known?.schedule.usesTimers)
        schedule.timers = try coder(known?.schedule.timers)
        schedule.modeStack = try coder(known?.schedule.modeStack)
        backlog.waiting = try coder(known?.backlog.waiting)
        history.keys = try coder(known?.history.keys)
        asks.isUsed = try coder(known?.asks.isUsed)
        registry.namelessCount = try coder(known?.registry.namelessCount)
        registry.watch = try coder(known?.registry.watch)
        asks.addresses = try coder(known?.asks.addresses)
        asks.open = try coder(known?.asks.open)
        asks.fates = try coder(known?.asks.fates)
        values = try coder(known?.values)
        schedule.deadlines = try coder(known?.schedule.deadlines)
        schedule.livingDeadlineCount = try coder(known?.schedule.livingDeadlineCount)
        reports = try coder(known?.reports)
        schedule.hasReportedOverflow = try coder(known?.schedule.hasReportedOverflow)
        isTerminating = try coder(known?.isTerminating)
        lastTime = try coder(known?.lastTime)
        lastWallTime = try coder(known?.lastWallTime)
        backlog.toldGaps = try coder.table(known?.backlog.toldGaps)
        backlog.doubts = try coder.table(known?.backlog.doubts)
        isStored = try coder(known?.isStored)
        history.reservedSequence = try coder(known?.history.reservedSequence)
        history.sequenceReserveAt = try coder(known?.history.sequenceReserveAt)
        guard coder.isReading else { return }
        for entry in registry.observers.order.living {  // Bound: snapshot
            if let terms = registry.observers.filter(at: entry.slot) {
                registry.index.addRead(
                    terms, at: registry.observers[entry.slot].place, serial: entry.serial,
                    slot: entry.slot)
            }
            guard let responder = registry.observers.responder(at: entry.slot),
                let address = registry.index.object(of: registry.observers[entry.slot].place)
            else { continue }
            asks.addresses.offer(
                address, slot: entry.slot, serial: entry.serial,
                implementing: registry.selectors.numbers(of: responder))
        }
        noteNeeds()
    }
}

extension CenterTally: Coded {
    init(_ known: CenterTally?, by coder: inout some Coder) throws(CodeError) {
        self.init()
        // No state of a log has archives.
        for kind in Kind.allCases where kind != .archived && kind != .archivedBytes {  // Bound: few
            self[kind] = try coder(known?[kind])
        }
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
