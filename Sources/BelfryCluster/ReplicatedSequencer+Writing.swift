public import BelfryCenter

// How a broker writes the log: a few entries at a time, each until the log shows it.

extension ReplicatedSequencer {
    /// Ends the turn: its effects were handed to the connections, and the commands are appended.
    public func endTurn(at now: Int64) {
        outgoing.recordHanded(log.last)
        switch phase {
        case .up: break
        case .leaving(let isAnnounced):
            guard !isAnnounced, !isWaiting else { break }
            phase = .leaving(isAnnounced: true)
            enqueue(.nodeDown(options.node, life: life), at: now)
        case .loading, .catchingUp, .comingUp, .left, .recovering, .stopped: return
        }
        while let commands = outgoing.dequeueEntry(options) { begin(commands, at: now) }
    }

    /// The command by which the rules of this program hold from there on.
    ///
    /// It brings a key for a log that has none.
    public var levelAction: ShardCommand.Action {
        .level(options.level, TagKey(high: random(), low: random()))
    }

    /// Begins a life; with a log that is empty the rules of this program hold from the start.
    func comeUp(_ shard: Shard, at now: Int64) {
        let life = newLife(after: max(life, shard.broker(options.node)?.life ?? 0))
        var actions: [ShardCommand.Action] = [.nodeUp(level: options.level)]
        if shard.logIndex == 0, options.level > shard.level { actions.append(levelAction) }
        phase = .comingUp
        begin(outgoing.beginLife(life, actions, behind: log.last), at: now)
    }

    /// Adds a command of the broker itself to the next entry.
    func enqueue(_ action: ShardCommand.Action, at now: Int64) {
        outgoing.enqueue(outgoing.numbered(action), at: now)
    }

    /// Appends the next entry of the life.
    private func begin(_ commands: [Entry.Numbered], at now: Int64) {
        let place = outgoing.begin(commands, node: options.node, wallNow: wallNow, at: now)
        append(at: place, at: now)
    }

    /// Appends an entry that is under way, for the first time or again.
    private func append(at place: Int, at now: Int64) {
        let (code, name) = outgoing.recordAppend(at: place, at: now)
        journal.append(code, as: name)
    }

    /// Appends all entries under way again, in order; the engine ignores those that it has.
    func appendAllAgain(at now: Int64) {
        for place in outgoing.underWay.indices where outgoing.underWay[place].appendedAt != nil {
            append(at: place, at: now)
        }
    }

    /// Appends the entries again that the log should have shown by now.
    func appendOverdue(at now: Int64) {
        fail(outgoing.giveUpOverdue(at: now), .unknownOutcome)
        for place in outgoing.underWay.indices where outgoing.underWay[place].isOverdue(at: now) {
            append(at: place, at: now)
        }
    }

    // MARK: The outcome of an entry

    /// Settles an entry of this life that the log has shown.
    func settle(_ entry: Entry, _ skip: Shard.Skip?, at now: Int64) {
        guard let place = outgoing.underWay.firstIndex(where: { $0.number == entry.number })
        else { return }
        switch skip {
        case nil:
            hearAppended(AppendedEntry(outgoing.underWay[place], at: now))
            if outgoing.release(through: place) { append(at: 0, at: now) }
        case .outOfOrder?: outgoing.postpone(at: place)
        case .isTooLate?: if !giveUpComing(at: now) { fence(.tooSlow) }
        // A life that runs ends where the log says so: this is about one that could not begin.
        case .lifeIsOver?: giveUpComing(at: now)
        case .isTooOld(let level)?: stop(.tooOldForLevel(level))
        case .isOneTooMany(let limit)?: stop(.isOneTooMany(limit: limit))
        }
    }

    /// Gives up a life that could not begin; another one begins behind the end of the log.
    ///
    /// - Returns: false where none was about to begin.
    @discardableResult
    private func giveUpComing(at now: Int64) -> Bool {
        guard case .comingUp = phase else { return false }
        outgoing.dropEntries()
        phase = .catchingUp
        requestEntries(at: now)
        return true
    }

    /// Checks the place that the engine reports for an entry.
    func confirm(_ name: EntryName, index: UInt64) {
        log.learn(index)
        // The log has shown something else there.
        if index <= log.last.index, outgoing.awaits(name) { stop(.lostEntries(index: index)) }
    }

    /// Fails the commands of an attempt that the log will never have.
    func refuse(_ name: EntryName, at now: Int64) {
        guard let (commands, failure) = outgoing.refuse(name, at: now) else { return }
        fail(commands, failure)
    }
}

extension AppendedEntry {
    fileprivate init(_ pending: PendingEntry, at now: Int64) {
        time = now - pending.firstAppendedAt
        byteCount = pending.byteCount
        commandCount = pending.commands.count
    }
}
