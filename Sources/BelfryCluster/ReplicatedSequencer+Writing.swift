public import BelfryCenter

// How a broker writes the log: a few entries at a time, each until the log shows it.

extension ReplicatedSequencer {
    /// Ends the turn: its effects were handed to the connections, and the commands are appended.
    public func endTurn(at now: Int64) {
        handed = applied
        guard stage == .up || stage == .leaving else { return }
        if stage == .leaving, !isWaiting, !isLeaveWritten {
            isLeaveWritten = true
            write(.nodeDown(options.node, life: life), at: now)
        }
        while underWay.count < ClusterOptions.entryLimit, !waiting.isEmpty {
            let commands = waiting.takeEntry(options)
            if !waiting.mustHappen { said = handed }
            begin(commands, at: now)
        }
    }

    /// The rules of this program hold from there on, with a key for a log that has none.
    public var levelAction: ShardCommand.Action {
        .level(options.level, TagKey(high: random(), low: random()))
    }

    /// Begins a life; with a log that is empty the rules of this program hold from the start.
    func comeUp(_ shard: Shard, at now: Int64) {
        life = newLife(after: max(life, shard.broker(options.node)?.life ?? 0))
        handed = applied
        lastNumber = 0
        said = handed
        underWay = []
        stage = .comingUp
        var actions: [ShardCommand.Action] = [.nodeUp(level: options.level)]
        if shard.logIndex == 0, options.level > shard.level {
            actions.append(levelAction)
        }
        lastCounter = UInt64(actions.count)
        let commands = actions.enumerated().map {
            Entry.Numbered(counter: UInt64($0.offset) + 1, action: $0.element)
        }
        begin(commands, at: now)
    }

    /// Appends the next entry of the life.
    private func begin(_ commands: [Entry.Numbered], at now: Int64) {
        lastNumber += 1
        isUntold = false
        underWay.append(
            PendingEntry(
                Entry(
                    node: options.node, life: life, number: lastNumber,
                    appliedIndex: said.index, chain: said.chain,
                    elapsed: UInt64(max(0, now - said.appliedAt)) / 1_000_000,
                    wallMilliseconds: wallNow, commands: commands)))
        append(at: underWay.count - 1, at: now)
    }

    /// Appends an entry that is under way, for the first time or again.
    func append(at place: Int, at now: Int64) {
        underWay[place].appendCount += 1
        if underWay[place].appendCount == 1 { underWay[place].firstAppendedAt = now }
        underWay[place].appendedAt = now
        lastAppendAt = now
        let pending = underWay[place]
        let code = pending.entry.code
        underWay[place].byteCount = code.count
        journal.append(
            code,
            as: EntryName(life: life, number: pending.number, attempt: pending.attempt))
    }

    /// Appends all entries under way again, in order; the engine ignores those that it has.
    func appendAllAgain(at now: Int64) {
        for place in underWay.indices where underWay[place].appendedAt != nil {
            append(at: place, at: now)
        }
    }

    /// Appends an entry under a new name, since the log has it where it does not count.
    func appendAnew(at place: Int, at now: Int64) {
        underWay[place].attempt += 1
        append(at: place, at: now)
    }

    // MARK: What becomes of an entry

    /// The log has shown an entry of this life.
    func settle(_ entry: Entry, _ skip: Shard.Skip?, at now: Int64) {
        guard let place = underWay.firstIndex(where: { $0.number == entry.number }) else { return }
        switch skip {
        case nil:
            noteAppended(underWay[place], at: now)
            underWay.removeFirst(place + 1)
            // The one behind it may have come before it.
            if let next = underWay.first, next.appendedAt == nil { appendAnew(at: 0, at: now) }
        case .outOfOrder?:
            // It counts behind the one before it, which is still under way.
            underWay[place].appendedAt = nil
        case .isTooLate?: if stage == .comingUp { again(at: now) } else { fence(.tooSlow) }
        case .lifeIsOver?:
            // A life that runs ends where the log says so: this is about one that could not begin.
            if stage == .comingUp { again(at: now) }
        case .isTooOld(let level)?: stop(.tooOldForLevel(level))
        case .isOneTooMany(let limit)?: stop(.isOneTooMany(limit: limit))
        }
    }

    private func noteAppended(_ pending: PendingEntry, at now: Int64) {
        hearAppended(
            AppendedEntry(
                time: now - pending.firstAppendedAt, byteCount: pending.byteCount,
                commandCount: pending.commands.count))
    }

    private func again(at now: Int64) {
        underWay = []
        stage = .catchingUp
        ask(at: now)
    }

    /// The engine says where the log has an entry.
    func take(_ name: EntryName, index: UInt64) {
        knownIndex = max(knownIndex, index)
        // The log has shown something else there.
        if index <= applied.index, let place = place(of: name), underWay[place].appendedAt != nil {
            stop(.lostEntries(index: index))
        }
    }

    /// The engine says that the log will never have an attempt.
    func take(_ name: EntryName, _ refusal: JournalRefusal, at now: Int64) {
        guard let place = place(of: name) else { return }
        // The log is not stalled: it has no room.
        underWay[place].firstAppendedAt = now
        // An attempt before this one may be in the log.
        let isKnown = underWay[place].appendCount == 1
        let refused = underWay[place].commands.filter { !$0.action.mustHappen }
        if !underWay[place].isGivenUp {
            fail(refused, isKnown ? .unavailable(.full) : .unknownOutcome)
        }
        guard isKnown else { return underWay[place].isGivenUp = true }
        // Its number must be in the log, or no later one counts: it is appended again with the
        // commands that must happen.
        underWay[place].keepWhatMustHappen()
    }

    private func place(of name: EntryName) -> Int? {
        guard name.life == life else { return nil }
        return underWay.firstIndex { $0.number == name.number && $0.attempt == name.attempt }
    }
}
