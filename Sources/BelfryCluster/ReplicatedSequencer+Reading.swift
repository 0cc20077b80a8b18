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
            if let (entry, skip) = reading {
                if let step = shard.step(into: &effects) {
                    note(step, at: now)
                    return .step(step)
                }
                finish(entry, skip, shard, at: now)
                continue
            }
            switch stage {
            case .left, .stopped:
                // Later events are useless to a broker that has stopped, and must not gather.
                while journal.next() != nil {}
                return nil
            case .loading, .catchingUp, .comingUp, .up, .leaving, .recovering: break
            }
            guard let event = journal.next() else { return nil }
            take(event, &shard, at: now)
        }
    }

    private func take(_ event: JournalEvent, _ shard: inout Shard, at now: Int64) {
        if stage == .recovering { return recover(with: event, &shard, at: now) }
        switch event {
        case .beat(let beat): return take(beat, at: now)
        case .entry(let index, let code): take(code, at: index, &shard, at: now)
        case .appended(let name, let index): take(name, index: index)
        case .refused(let name, let refusal): take(name, refusal, at: now)
        case .end(let lastIndex): takeEnd(lastIndex, shard, at: now)
        case .trimmed(let firstIndex): takeTrimmed(firstIndex, at: now)
        case .snapshot(let snapshot): take(snapshot, &shard, at: now)
        case .saved(let index): noteSaved(index)
        case .reconnected: askAgain(at: now)
        }
        contactAt = now
    }

    /// Gives up the log before the snapshot before the last, and so never the end of the log.
    private func noteSaved(_ index: UInt64) {
        guard let earlier = trimIndex else { return trimIndex = index }
        // Answers may change places.
        guard index > earlier else { return }
        journal.trim(through: earlier)
        trimIndex = index
    }

    // MARK: Entries

    private func take(_ code: [UInt8], at index: UInt64, _ shard: inout Shard, at now: Int64) {
        guard stage != .loading else { return }
        knownIndex = max(knownIndex, index)
        // Entries in between are missing: an entry that came too early comes again with them.
        guard index <= applied.index + 1 else { return askForHole(at: now) }
        let entry: Entry
        do {
            entry = try Entry(code: code)
        } catch {
            return stop(
                error.isOfNewerProgram ? .tooOld(index: index) : .unreadable(index: index))
        }
        guard index == applied.index + 1 else {
            // One that comes twice is nothing new; another one in its place is.
            switch recent.has(entry, at: index) {
            case true?: return
            case false?: return stop(.lostEntries(index: index))
            case nil:
                ask(at: now)
                return
            }
        }
        recent.note(entry, at: index)
        loggedByteCount += code.count
        do {
            reading = (entry, try shard.begin(entry))
        } catch {
            stop(.otherPast(index: index))
        }
    }

    /// The steps of an entry are over, or it has none.
    private func finish(_ entry: Entry, _ skip: Shard.Skip?, _ shard: Shard, at now: Int64) {
        reading = nil
        applied = Mark(index: shard.logIndex, chain: shard.chain, appliedAt: now)
        if entry.node == options.node, entry.life == life { settle(entry, skip, at: now) }
        if skip == nil {
            if entry.commands.contains(where: { !$0.action.isNothing }) { isUntold = true }
            if case .nodeUp = entry.commands.first?.action { heardAt[entry.node] = now }
        }
        guard let broker = shard.broker(options.node), life != 0 else { return }
        if broker.life > life, broker.isUp { return stop(.nameIsTaken) }
        guard seat != 0, !broker.isUp || broker.life != life else { return }
        if stage == .leaving {
            end(with: .left, telling: .left)
        } else {
            fence(.declaredDown, isKnown: true)
        }
    }

    private func note(_ step: Shard.Step, at now: Int64) {
        guard let writer = reading?.entry.node else { return }
        switch step.result {
        case .began(let seat) where writer == options.node:
            guard step.id?.incarnation == life, stage == .comingUp else { return }
            self.seat = seat
            stage = .up
            hearsSince = now
            happenings.append(.began(seat: seat))
        // A broker does not report events from before its own life.
        case .began where stage == .up: happenings.append(.broker(writer, .came))
        case .lifeEnded(let name) where stage == .up:
            happenings.append(.broker(name, name == writer ? .left : .ended(by: writer)))
        default: break
        }
    }

    // MARK: What was asked for

    /// Asks for the next entries, unless that was asked for already.
    ///
    /// The last entry that was applied comes once more: a log that was put back may have another
    /// one there.
    ///
    /// - Returns: whether it asks now.
    @discardableResult
    func ask(at now: Int64) -> Bool {
        if let readAskedAt, now - readAskedAt < ClusterOptions.askInterval { return false }
        readAskedAt = now
        journal.read(after: max(applied.index, 1) - 1)
        return true
    }

    /// Asks for entries that are missing while the broker takes part.
    func askForHole(at now: Int64) {
        if ask(at: now), stage == .up { holeCount += 1 }
    }

    /// Repeats all requests under way; beats, also of other brokers, were lost with the connection.
    private func askAgain(at now: Int64) {
        hearsSince = now
        beatAt = now - ClusterOptions.beatInterval
        if stage == .loading { return load(at: now) }
        appendAllAgain(at: now)
        readAskedAt = nil
        ask(at: now)
    }

    private func takeEnd(_ lastIndex: UInt64, _ shard: Shard, at now: Int64) {
        guard stage != .loading else { return }
        readAskedAt = nil
        knownIndex = max(knownIndex, lastIndex)
        // If the log ends before the last applied entry, the place of this broker's next entry
        // shows it.
        if lastIndex > applied.index {
            ask(at: now)
            return
        }
        if stage == .catchingUp { comeUp(shard, at: now) }
    }

    private func takeTrimmed(_ firstIndex: UInt64, at now: Int64) {
        readAskedAt = nil
        guard stage != .loading, firstIndex > applied.index else { return }
        if firstIndex == applied.index + 1 {
            // Nothing is missing: the entry that was to come once more is given up, and the log
            // never ends there.
            readAskedAt = now
            return journal.read(after: applied.index)
        }
        firstKnownIndex = firstIndex
        fence(.tooSlow)
        if stage != .left { load(at: now) }
    }

    /// Asks for the last snapshot.
    ///
    /// A life that could not begin is given up: its first entry may be one of those that the
    /// snapshot has.
    func load(at now: Int64) {
        stage = .loading
        underWay = []
        loadAskedAt = now
        journal.load()
    }

    private func take(_ snapshot: JournalSnapshot?, _ shard: inout Shard, at now: Int64) {
        guard stage == .loading else { return }
        loadAskedAt = nil
        // Without one, or with an old one, the broker continues from its own index: the log shows
        // whether it can.
        if let snapshot, snapshot.index > applied.index {
            do {
                try shard.restore(snapshot.state)
            } catch {
                return stop(
                    error.isOfNewerProgram
                        ? .tooOld(index: snapshot.index) : .brokenSnapshot(index: snapshot.index))
            }
            // A log that was put back may be longer again than what this broker knows of it.
            if let chain = shard.chain(at: applied.index), chain != applied.chain {
                return stop(.otherPast(index: applied.index))
            }
            applied = Mark(index: shard.logIndex, chain: shard.chain, appliedAt: now)
            handed = applied
            happenings.append(.loaded)
        }
        if applied.index + 1 < firstKnownIndex {
            // An answer may be late: the next one is a newer snapshot, where there is one.
            uselessLoadCount += 1
            if uselessLoadCount == ClusterOptions.uselessLoadLimit {
                return stop(.noSnapshot(firstIndex: firstKnownIndex))
            }
        } else {
            uselessLoadCount = 0
        }
        stage = .catchingUp
        ask(at: now)
    }
}

extension ShardCommand.Action {
    var isNothing: Bool {
        if case .nothing = self { return true }
        return false
    }
}
