import BelfryBytes

// Asks: one question to one responder (rules R4 to R17).

extension NotificationCenter {
    /// Asks the holder of an address; the answer comes with the command, or later as a completion.
    mutating func ask(
        _ ask: Ask, _ terms: AskTerms, _ command: CommandID, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) {
        if let key = terms.key,
            try repeats(key, command, of: terms.client, at: time, &effects)
        {
            return
        }
        // Separate read-only calls would copy the center.
        let depth = ask.causedBy == nil ? 1 : try depth(causedBy: ask.causedBy)
        try check(ask, terms)
        let open = OpenAsk(ask, terms, depth: depth, command, at: time)
        let slot = try asks.open.add(
            open, limit: limits.askLimit, askerLimit: limits.clientAskLimit)
        asks.isUsed = true
        let ordinal = asks.open.lastOrdinal
        addDeadline(at: asks.open[slot].endsAt, .ask(slot: slot, ordinal: ordinal))
        if let key = terms.key { beginKey(key, waitingFor: ask.id, at: time, &effects) }
        asks.open.begin(slot, at: ask.content.address)
        takeTurn(slot, at: time, &effects)
        guard asks.open.isOpen(slot, ordinal: ordinal) else {
            return answerAtOnce(command, &effects)
        }
        effects.outcome = .awaiting(ask.id)
        guard let wait = ask.wait else { return }
        if wait == 0 {
            tellOpen(slot, &effects)
            return answerAtOnce(command, &effects)
        }
        if let key = terms.key { noteOpen(slot, under: key, &effects) }
        addDeadline(
            at: time.monotonicNanoseconds.adding(wait),
            .asked(slot: slot, ordinal: ordinal))
    }

    /// Answers a command whose ask has ended already.
    private func answerAtOnce(_ command: CommandID, _ effects: inout Effects) {
        guard let place = effects.askCompletions.firstIndex(where: { $0.command == command }) else {
            return
        }
        let outcome = effects.askCompletions.remove(at: place).outcome
        effects.outcome = .asked(outcome, replayedForm: nil)
    }

    /// Checks the conditions of an ask before anything changes.
    @inline(__always)
    private func check(_ ask: Ask, _ terms: AskTerms) throws(Refusal) {
        guard ask.content.byteCount + (ask.fallback?.count ?? 0) <= terms.byteRoom else {
            throw .askBytesFull
        }
        guard limits.isDurable, !terms.canStore else { return }
        if ask.wait != nil || terms.key != nil { throw .cannotStore }
        if isStored, history.sequence + 1 >= history.reservedSequence { throw .cannotStore }
    }

    // MARK: The walk

    /// Continues the walk of an ask from its last address: it is shown or held, or it ends.
    ///
    /// - Parameter observer: The observer that has just refused to answer it, if there is one.
    mutating func takeTurn(
        _ slot: UInt32, handedOnBy observer: UInt64? = nil, at time: CommandTime,
        _ effects: inout Effects
    ) {
        let content = asks.open[slot].content
        let hasPassed = asks.open[slot].path.count > 1
        var walk = walk(
            from: asks.open[slot].path, for: content.name, passing: asks.open[slot].shown,
            handedOnBy: observer)
        dispatching.walkLookCount += walk.lookCount
        walk.saw.formUnion(asks.open[slot].saw)
        asks.open.note(walk, of: slot)
        switch walk.end {
        case .ask(let observer): showOrHold(slot, to: observer, at: time, &effects)
        case .hold(let observer): hold(slot, for: observer, &effects)
        case .nobody:
            let failure = failure(of: walk)
            guard asks.open.mayWait(slot, after: failure, isHandedOn: observer != nil) else {
                return end(slot, .failed(failure), at: time, &effects)
            }
            // It has passed addresses that may have other holders by now.
            if hasPassed {
                asks.open.begin(slot, at: walk.path[0])
                return takeTurn(slot, handedOnBy: observer, at: time, &effects)
            }
            asks.open.wait(slot)
            noteAsk(slot, &effects)
        }
    }

    /// Shows an ask, after the held notifications of an immediate observer (rule D8).
    mutating func showOrHold(
        _ slot: UInt32, to observer: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        let client = registry.observers[observer].client
        if asks.open[slot].state == .waiting,
            let address = registry.index.object(of: registry.observers[observer].place)
        {
            asks.open.endWaiting(slot, at: address)
        }
        // An ask whose time is over is not shown: it ends with its deadline, which is due (rule
        // R10).
        guard asks.open[slot].endsAt > time.monotonicNanoseconds else {
            asks.open.sequel.noteOpening(.observer(registry.observers[observer].serial))
            return hold(slot, for: observer, &effects)
        }
        guard mayShow(slot, to: observer) else { return announce(slot, to: observer, &effects) }
        // The end of a flush shows waiting asks; an action that is left then holds up nothing.
        if registry.clients[client].suspension.contains(.asked),
            !registry.clients[client].held.list.isEmpty,
            !registry.clients[client].suspension.contains(.mailbox), dispatching.flushed != client
        {
            let ordinal = asks.open[slot].ordinal
            registry.clients[client].immediateSequence = history.sequence
            dispatching.flushed = client
            flush(client, at: time, &effects)
            dispatching.flushed = nil
            // The flush may have shown it with others that waited.
            guard asks.open.isOpen(slot, ordinal: ordinal), asks.open[slot].sequence == 0 else {
                return
            }
            guard case .now = readiness(of: observer, asks.open[slot].content.name),
                registry.isFlushed(client)
            else {
                hold(slot, for: observer, &effects)
                let (other, _) = taker(of: slot, waitingFor: registry.observers[observer].serial)
                if let other, other != observer { asks.open.orphan(slot) }
                return
            }
        }
        show(slot, to: observer, at: time, &effects)
    }

    /// Whether an ask may be shown: the store has it where it must; mailboxes wait for the store.
    @inline(__always)
    private func mayShow(_ slot: UInt32, to observer: UInt32) -> Bool {
        asks.open[slot].isAnnounced(to: registry.observers[observer].serial) || !limits.isDurable
            || registry.clients[registry.observers[observer].client].suspension.contains(.mailbox)
                && !registry.observers[observer].mailbox.readerIsStream
    }

    /// Announces to the store that an ask is shown to an observer, for which it waits until then.
    private mutating func announce(
        _ slot: UInt32, to observer: UInt32, _ effects: inout Effects
    ) {
        let serial = registry.observers[observer].serial
        if asks.open[slot].state == .held(observer: serial), asks.open[slot].announcement != .none {
            return
        }
        asks.open.takeBack(slot)
        asks.open.hold(slot, for: serial)
        effects.noteAnnouncement(asks.open.announce(slot))
        noteAsk(slot, &effects)
    }

    /// Shows the asks that the store has, unless something has changed meanwhile.
    mutating func showAnnounced(
        through number: UInt64, at time: CommandTime, _ effects: inout Effects
    ) {
        var askedClients: Set<UInt32> = []
        for slot in asks.open.takeAnnounced(through: number) {  // Bound: asks
            guard case .held(let serial) = asks.open[slot].state,
                let observer = registry.observers.slot(of: serial)
            else { continue }
            askedClients.insert(registry.observers[observer].client)
            switch readiness(of: observer, asks.open[slot].content.name) {
            case .now: showOrHold(slot, to: observer, at: time, &effects)
            case .later: asks.open.orphan(slot)
            case .never: asks.open.takeBackAsOrphan(slot)
            }
        }
        for client in askedClients.sorted() { passOnHeld(of: client) }  // Bound: asks
    }

    /// Lets a walking ask wait for an observer.
    mutating func hold(_ slot: UInt32, for observer: UInt32, _ effects: inout Effects) {
        asks.open.takeBack(slot)
        asks.open.hold(slot, for: registry.observers[observer].serial)
        noteAsk(slot, &effects)
    }

    /// Shows an ask, which is a dispatch of its own (rule R13).
    private mutating func show(
        _ slot: UInt32, to observer: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        history.sequence += 1
        reserveSequence(&effects)
        let serial = registry.observers[observer].serial
        asks.open.takeBack(slot)
        asks.open.show(slot, to: serial, sequence: history.sequence, at: time.wallMilliseconds)
        asks.addresses.noteAsked(asks.open[slot].target.span, serial: serial)
        noteAsk(slot, &effects)
        guard registry.clients[registry.observers[observer].client].suspension.contains(.mailbox)
        else {
            writeAsk(slot, to: observer, at: time, &effects)
            if owesTooMuch(observer) { noteOwing(observer, at: time) }
            return
        }
        guard let reader = registry.observers[observer].mailbox.reader else { return }
        if registry.observers[observer].mailbox.readerIsStream {
            streamOn(slotOf: observer, at: time, &effects)
        } else {
            effects.notices.append(.mailboxFilled(connection: reader, observer: serial))
        }
    }

    /// Writes an ask that an observer is shown.
    mutating func writeAsk(
        _ slot: UInt32, to observer: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        guard let notification = asks.open[slot].notification else { return }
        let position = position(of: notification, &effects)
        effects.note(asks.open[slot].addressed, of: position)
        write(
            position, to: observer, form: .ask, isRedelivered: asks.open[slot].isRedelivered, time,
            &effects)
    }

    // MARK: The end

    /// Ends an ask: its waiters are answered, and its fate is kept.
    mutating func end(
        _ slot: UInt32, _ state: AskOutcome.State, at time: CommandTime, _ effects: inout Effects
    ) {
        let freed = takeBack(slot)
        let ask = asks.open.take(slot)
        var state = state
        if case .failed(let failure) = state, let fallback = ask.fallback {
            state = .fallback(fallback, failure)
        }
        let outcome = AskOutcome(id: ask.id, state: state, path: ask.path)
        effects.askEnds.append(outcome)
        if let key = ask.key { finish(key, outcome, isStored: ask.isStored, &effects) }
        tell(outcome, to: ask.waiters, &effects)
        let lifetime = limits.fateLifetime(ofStored: ask.isStored)
        let fate = AskFateTable.Fate(
            ask, outcome, forgottenAt: time.monotonicNanoseconds.adding(lifetime))
        if ask.isStored {
            let forgottenAt = time.wallMilliseconds + lifetime / 1_000_000
            tell(
                .ask(
                    AskRecord(
                        ask, end: AskRecord.End(outcome: outcome, forgottenAt: forgottenAt))),
                &effects)
        }
        asks.fates.append(
            fate,
            isKeptLonger: ask.isStored && limits.askFateLifetime != limits.fateLifetime)
        forgetAsks(asks.fates.trim(to: limits), &effects)
        if let freed { asks.open.sequel.noteOpening(.observer(registry.observers[freed].serial)) }
    }

    /// Reports the asks whose fates are forgotten as changes.
    mutating func forgetAsks(_ forgotten: [NotificationID], _ effects: inout Effects) {
        for id in forgotten { tell(.askForgotten(id), &effects) }  // Bound: effects
    }

    /// Takes an ask back to its walk; returns the observer that has room by that.
    mutating func takeBack(_ slot: UInt32) -> UInt32? {
        let (state, announcement) = (asks.open[slot].state, asks.open[slot].announcement)
        asks.open.takeBack(slot)
        guard let serial = state.observer, let observer = registry.observers.slot(of: serial) else {
            return nil
        }
        if case .held = state {
            // An announced ask takes the room of those behind it (rule R20).
            if case .told = announcement { return observer }
            return nil
        }
        if registry.observers[observer].debt.isTooMuch, !owesTooMuch(observer) {
            registry.observers[observer].debt.isTooMuch = false
            registry.clients[registry.observers[observer].client].debt.owingCount -= 1
        }
        return observer
    }

    /// Answers the waiters of an ask that it is open.
    mutating func tellOpen(_ slot: UInt32, _ effects: inout Effects) {
        let outcome = AskOutcome(
            id: asks.open[slot].id, state: .open(until: asks.open[slot].answerBy),
            path: asks.open[slot].path)
        if let key = asks.open[slot].key { finish(key, outcome, isStored: true, &effects) }
        tell(outcome, to: asks.open[slot].waiters, &effects)
        asks.open.forgetWaiters(of: slot)
    }

    /// Answers the waiters of all stored asks that they are open, as the center stops (rule R20).
    mutating func tellOpenAsks(_ effects: inout Effects) {
        guard limits.isDurable, asks.open.count > 0 else { return }
        for entry in asks.open.order.living {  // Bound: drain
            guard asks.open[entry.slot].isStored, !asks.open[entry.slot].waiters.isEmpty else {
                continue
            }
            tellOpen(entry.slot, &effects)
        }
    }

    /// Answers some, or all, waiters of an ask.
    @inline(__always)
    func tell(
        _ outcome: AskOutcome, to waiters: FewList<OpenAsk.Waiter>, _ effects: inout Effects
    ) {
        effects.hasAsks = true
        waiters.forEach { waiter in
            effects.askCompletions.append(
                AskCompletion(
                    command: waiter.id, outcome: outcome, replayedForm: waiter.replayedForm))
        }
    }

    /// Reports the present state of an ask that must last.
    mutating func noteAsk(_ slot: UInt32, _ effects: inout Effects) {
        guard asks.open[slot].isStored, limits.isDurable else { return }
        tell(.ask(AskRecord(asks.open[slot], end: nil)), &effects)
    }
}
