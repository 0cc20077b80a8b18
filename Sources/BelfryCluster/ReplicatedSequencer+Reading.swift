public import BelfryCenter

// How a broker reads the log: each entry once, in the order of the indices.

extension ReplicatedSequencer {
    /// The next thing that the host must act on; nil when there is none in this turn.
    ///
    /// - Parameters:
    ///   - shard: the state that the log makes.
    ///   - effects: gets the effects of a step.
    public func next(
        _ shard: inout Shard, at now: Int64, into effects: inout Effects
    ) -> Happening? {
        while true {
            if let happening = happenings.popFirst() { return happening }
            if let (entry, skip) = log.current {
                if let step = shard.step(into: &effects) {
                    followLives(step, of: entry, at: now)
                    return .step(step)
                }
                finish(entry, skip, shard, at: now)
                continue
            }
            switch phase {
            case .left, .stopped:
                // Later events are useless to a broker that has stopped, and must not gather.
                while journal.next() != nil {}
                return nil
            case .loading, .catchingUp, .comingUp, .up, .leaving, .recovering: break
            }
            guard let event = journal.next() else { return nil }
            receive(event, &shard, at: now)
        }
    }

    private func receive(_ event: JournalEvent, _ shard: inout Shard, at now: Int64) {
        if case .recovering(let recovery) = phase {
            return advance(recovery, with: event, &shard, at: now)
        }
        switch event {
        case .beat(let beat): return receive(beat, at: now)
        case .entry(let index, let code): receive(code, at: index, &shard, at: now)
        case .appended(let name, let index): confirm(name, index: index)
        case .refused(let name, .isFull): refuse(name, at: now)
        case .end(let lastIndex): reachEnd(lastIndex, shard, at: now)
        case .trimmed(let firstIndex): skipTrimmed(firstIndex, at: now)
        case .snapshot(let snapshot): receive(snapshot, &shard, at: now)
        case .saved(let index):
            if let earlier = snapshots.recordKept(index) { journal.trim(through: earlier) }
        case .reconnected: repeatRequests(at: now)
        }
        watch.recordContact(at: now)
    }

    /// Receives the beat of another broker, or this one's own.
    private func receive(_ beat: Beat, at now: Int64) {
        guard beat.node != options.node else { return }
        watch.recordContact(at: now)
        watch.hear(beat.node, at: now)
        log.learn(beat.appliedIndex)
    }

    // MARK: Entries

    private func receive(_ code: [UInt8], at index: UInt64, _ shard: inout Shard, at now: Int64) {
        guard !isLoading else { return }
        log.learn(index)
        // Entries in between are missing: an entry that came too early comes again with them.
        guard index <= log.nextIndex else { return requestMissing(at: now) }
        let entry: Entry
        do {
            entry = try Entry(code: code)
        } catch {
            return stop(
                error.isOfNewerProgram ? .tooOld(index: index) : .unreadable(index: index))
        }
        guard index == log.nextIndex else {
            // One that comes twice is nothing new; another one in its place is.
            switch log.has(entry, at: index) {
            case true?: return
            case false?: return stop(.lostEntries(index: index))
            case nil:
                requestEntries(at: now)
                return
            }
        }
        snapshots.record(byteCount: code.count)
        do {
            log.begin(entry, skip: try shard.begin(entry))
        } catch {
            stop(.otherPast(index: index))
        }
    }

    /// Finishes an entry whose steps are over, or that has none.
    private func finish(_ entry: Entry, _ skip: Shard.Skip?, _ shard: Shard, at now: Int64) {
        log.advance(to: shard, at: now)
        if entry.node == options.node, entry.life == life { settle(entry, skip, at: now) }
        if skip == nil {
            if entry.commands.contains(where: { !$0.action.isNothing }) { outgoing.requireReport() }
            if case .nodeUp = entry.commands.first?.action { watch.hear(entry.node, at: now) }
        }
        guard let broker = shard.broker(options.node), life != 0 else { return }
        if broker.life > life, broker.isUp { return stop(.nameIsTaken) }
        guard seat != 0, !broker.isUp || broker.life != life else { return }
        fence(.declaredDown, isKnown: true)
    }

    /// Follows the lives of the brokers, which begin and end by steps of entries.
    private func followLives(_ step: Shard.Step, of entry: Entry, at now: Int64) {
        switch step.result {
        case .began(let seat) where entry.node == options.node:
            guard step.id?.incarnation == life, case .comingUp = phase else { return }
            outgoing.seat = seat
            phase = .up
            watch.listenAnew(at: now)
            happenings.append(.began(seat: seat))
        // A broker does not report events from before its own life.
        case .began where isUp: happenings.append(.broker(entry.node, .came))
        case .lifeEnded(let name) where isUp:
            let change = name == entry.node ? BrokerChange.left : .ended(by: entry.node)
            happenings.append(.broker(name, change))
        default: break
        }
    }

    // MARK: Requests

    /// Asks for the next entries, unless that was asked for already.
    ///
    /// The last entry that was applied comes once more: a log that was put back may have another
    /// one there.
    ///
    /// - Returns: whether it asks now.
    @discardableResult
    func requestEntries(at now: Int64) -> Bool {
        guard requests.beginRead(at: now) else { return false }
        journal.read(after: max(log.last.index, 1) - 1)
        return true
    }

    /// Asks for entries that are missing while the broker takes part.
    func requestMissing(at now: Int64) {
        if requestEntries(at: now), isUp { holeCount += 1 }
    }

    /// Asks for the last snapshot.
    ///
    /// A life that could not begin is given up: its first entry may be one of those that the
    /// snapshot has.
    func requestSnapshot(at now: Int64) {
        phase = .loading(askedAt: now)
        outgoing.dropEntries()
        journal.load()
    }

    /// Repeats all requests under way; beats, also of other brokers, were lost with the connection.
    private func repeatRequests(at now: Int64) {
        watch.listenAnew(at: now)
        watch.hastenBeat(at: now)
        if isLoading { return requestSnapshot(at: now) }
        appendAllAgain(at: now)
        requests.finishRead()
        requestEntries(at: now)
    }

    // MARK: Answers

    /// Begins a life at the end of the log, or reads on to it.
    private func reachEnd(_ lastIndex: UInt64, _ shard: Shard, at now: Int64) {
        guard !isLoading else { return }
        requests.finishRead()
        log.learn(lastIndex)
        // If the log ends before the last applied entry, the place of this broker's next entry
        // shows it.
        if lastIndex > log.last.index {
            requestEntries(at: now)
        } else if case .catchingUp = phase {
            comeUp(shard, at: now)
        }
    }

    /// Loads a snapshot where entries that are missing were given up.
    private func skipTrimmed(_ firstIndex: UInt64, at now: Int64) {
        requests.finishRead()
        guard !isLoading, firstIndex > log.last.index else { return }
        if firstIndex == log.nextIndex {
            // Nothing is missing: the entry that was to come once more is given up, and the log
            // never ends there.
            _ = requests.beginRead(at: now)
            return journal.read(after: log.last.index)
        }
        requests.requireSnapshot(to: firstIndex)
        fence(.tooSlow)
        if case .left = phase { return }
        requestSnapshot(at: now)
    }

    private func receive(_ snapshot: JournalSnapshot?, _ shard: inout Shard, at now: Int64) {
        guard isLoading else { return }
        // Without one, or with an old one, the broker continues from its own index: the log shows
        // whether it can.
        if let snapshot, snapshot.index > log.last.index {
            do {
                try shard.restore(snapshot.state)
            } catch {
                return stop(
                    error.isOfNewerProgram
                        ? .tooOld(index: snapshot.index) : .brokenSnapshot(index: snapshot.index))
            }
            // A log that was put back may be longer again than what this broker knows of it.
            if let chain = shard.chain(at: log.last.index), chain != log.last.chain {
                return stop(.otherPast(index: log.last.index))
            }
            log.advance(to: shard, at: now)
            outgoing.recordHanded(log.last)
            happenings.append(.loaded)
        }
        guard requests.acceptSnapshot(nextIndex: log.nextIndex) else {
            return stop(.noSnapshot(firstIndex: requests.firstKnownIndex))
        }
        phase = .catchingUp
        requestEntries(at: now)
    }
}

extension ShardCommand.Action {
    fileprivate var isNothing: Bool {
        if case .nothing = self { return true }
        return false
    }
}
