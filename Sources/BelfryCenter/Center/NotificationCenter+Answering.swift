// The ends of asks, and their return to the walk: answers, withdrawals, time, lost responders.

extension NotificationCenter {
    /// Handles a client's answer to an ask that one of its observers was shown; others are ignored.
    mutating func answerAsk(
        of observer: UInt32, sequence: UInt64, _ response: Response, at time: CommandTime,
        _ effects: inout Effects
    ) {
        let serial = registry.observers[observer].serial
        if let slot = asks.open.shown(to: serial, sequence: sequence) {
            let principal = registry.clients.principal(at: registry.observers[observer].client)
            settle(slot, by: observer, response, of: principal, at: time, &effects)
        }
    }

    /// An observer answers an ask by its identifier (PUT …/answer).
    mutating func answer(
        _ id: NotificationID, by serial: UInt64, _ response: Response, of principal: [UInt8],
        at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        guard let slot = asks.open.slot(of: id) else {
            if asks.fates[id]?.shown.contains(serial) == true { throw .alreadySettled }
            throw .unknownAsk
        }
        // A responder that has the ask back after its connection ended may know the answer (rule
        // R11).
        guard asks.open[slot].state.observer == serial, asks.open[slot].shown.contains(serial),
            let observer = registry.observers.slot(of: serial)
        else {
            throw asks.open[slot].shown.contains(serial) ? .alreadySettled : .unknownAsk
        }
        settle(slot, by: observer, response, of: principal, at: time, &effects)
    }

    private mutating func settle(
        _ slot: UInt32, by observer: UInt32, _ response: Response, of principal: [UInt8],
        at time: CommandTime, _ effects: inout Effects
    ) {
        let serial = registry.observers[observer].serial
        switch response {
        case .result(let content, _, let reason):
            asks.addresses.noteAnswered(asks.open[slot].target.span, serial: serial)
            let answer = AskAnswer(
                content, observer: serial, principal: principal, reason: reason)
            end(slot, .answered(answer), at: time, &effects)
        case .refusal(let error), .oversized(let error):
            end(slot, .failed(.responderRefused(error: error)), at: time, &effects)
        case .passed:
            handOn(slot, at: time, &effects)
        }
    }

    /// Hands an ask on: the walk continues without the responder that was asked (rule R7).
    private mutating func handOn(
        _ slot: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        if asks.open[slot].isOnce {
            return end(slot, .failed(.selectorNotImplemented), at: time, &effects)
        }
        let handingOn = asks.open[slot].state.observer
        let freed = takeBack(slot)
        takeTurn(slot, handedOnBy: handingOn, at: time, &effects)
        if let freed { asks.open.sequel.noteOpening(.observer(registry.observers[freed].serial)) }
    }

    /// Withdraws an ask, whose answer is no longer wanted.
    mutating func withdraw(
        _ id: NotificationID, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        guard let slot = asks.open.slot(of: id) else {
            throw asks.fates[id] == nil ? .unknownAsk : .alreadySettled
        }
        tellSettled(slot, .withdrawn, &effects)
        end(slot, .withdrawn, at: time, &effects)
        effects.outcome = .removed(1)
    }

    /// Removes a waiter over HTTP from an ask.
    mutating func leaveAsk(
        _ id: NotificationID, _ command: CommandID, at time: CommandTime,
        _ effects: inout Effects
    ) {
        guard let slot = asks.open.slot(of: id) else { return }
        endWaiting(for: slot, at: time, &effects) { $0.id == command }
    }

    /// Removes waiters of an ask, which is withdrawn when none is left (rule R16).
    ///
    /// A caller that got a 202 is no waiter, and does not count.
    private mutating func endWaiting(
        for slot: UInt32, at time: CommandTime, _ effects: inout Effects,
        where isGone: (OpenAsk.Waiter) -> Bool
    ) {
        guard asks.open[slot].waiters.contains(where: isGone) else { return }
        if asks.open[slot].waiters.contains(where: { !isGone($0) }) {
            let gone = asks.open.takeWaiters(of: slot, where: isGone)
            let outcome = AskOutcome(
                id: asks.open[slot].id, state: .withdrawn, path: asks.open[slot].path)
            return tell(outcome, to: gone, &effects)
        }
        tellSettled(slot, .withdrawn, &effects)
        end(slot, .withdrawn, at: time, &effects)
    }

    /// Removes a client from the waiters of asks: its connection has ended.
    mutating func endWaitingForAsks(
        ofClient id: UInt64, at time: CommandTime, _ effects: inout Effects
    ) {
        for slot in asks.open.slots(of: .client(id)) {  // Bound: asks
            endWaiting(for: slot, at: time, &effects) { $0.client == id }
        }
    }

    /// Ends an ask whose time is over; returns the work that it was.
    mutating func expireAsk(
        _ slot: UInt32, ordinal: UInt64, at time: CommandTime, _ effects: inout Effects
    ) -> Int {
        guard asks.open.isOpen(slot, ordinal: ordinal) else { return 0 }
        tellSettled(slot, .expired, &effects)
        end(slot, .failed(.noAnswer), at: time, &effects)
        return Work.ofEnd
    }

    /// Answers an asker that has waited for long enough that the ask is open.
    mutating func endWaitingForAsk(
        _ slot: UInt32, ordinal: UInt64, _ effects: inout Effects
    ) -> Int {
        guard asks.open.isOpen(slot, ordinal: ordinal), !asks.open[slot].waiters.isEmpty else {
            return 0
        }
        tellOpen(slot, &effects)
        return Work.ofEnd
    }

    /// Reports to a live responder that an ask which it was shown is over (rule R10).
    func tellSettled(_ slot: UInt32, _ reason: Settlement, _ effects: inout Effects) {
        guard case .shown(let serial, _) = asks.open[slot].state,
            let observer = registry.observers.slot(of: serial)
        else { return }
        let client = registry.observers[observer].client
        let isMailbox = registry.clients[client].suspension.contains(.mailbox)
        let connection =
            isMailbox
            ? registry.observers[observer].mailbox.stream
            : registry.clients[client].suspension.contains(.disconnected)
                ? nil : registry.clients.route(at: client).connection
        guard let connection else { return }
        effects.notices.append(
            .settled(
                connection: connection,
                transport: isMailbox
                    ? .ofMailboxStreams : registry.clients.route(at: client).transport,
                observer: serial, asks.open[slot].id, reason))
    }

    // MARK: Responders that go

    /// Lets the asks of a responder that is removed walk again, shown or waiting (rule R11).
    mutating func orphanAsks(
        of observer: UInt32, isTold: Bool, at time: CommandTime, _ effects: inout Effects
    ) {
        let serial = registry.observers[observer].serial
        for slot in asks.open.shown(to: serial) {  // Bound: asks
            if isTold { tellSettled(slot, .passed, &effects) }
            loseResponder(slot, at: time, &effects)
        }
        asks.open.forget(serial)
        asks.open.orphanHeld(for: serial)
    }

    /// Handles the end of a client's connection for the asks that its responders were shown.
    ///
    /// They wait for them where they hold, or where another connection takes over the client.
    mutating func loseConnection(
        of client: UInt32, isTakenOver: Bool, at time: CommandTime, _ effects: inout Effects
    ) {
        guard asks.open.count > 0 else { return }
        for observer in registry.observerSlots(of: client)  // Bound: client
        where registry.observers.isResponder(at: observer) {
            let holds =
                registry.observers[observer].isLasting
                && (isTakenOver || registry.observers[observer].terms.holdsAsks)
            let serial = registry.observers[observer].serial
            for slot in asks.open.shown(to: serial) {  // Bound: client
                if holds, !asks.open[slot].isOnce {
                    _ = takeBack(slot)
                    hold(slot, for: observer, &effects)
                    // A client that is taken over gets it again at once, or has asked for
                    // suspension.
                    if !isTakenOver || registry.clients[client].suspension.contains(.asked) {
                        asks.open.orphan(slot)
                    }
                } else {
                    loseResponder(slot, at: time, &effects)
                }
            }
            // Asks that it would have been shown just now (rule R20).
            if !holds { asks.open.orphanHeld(for: serial) }
        }
    }

    private mutating func loseResponder(
        _ slot: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        if asks.open[slot].isOnce {
            return end(slot, .failed(.responderGone), at: time, &effects)
        }
        _ = takeBack(slot)
        asks.open.orphan(slot)
    }

    /// Does the rest of a command's work: shows waiting asks, and lets orphans walk.
    ///
    /// Responders with room are shown waiting asks, and asks that have lost their responders walk
    /// again from the start, as the command may have registered another one. Walks have a share of
    /// a command; the rest continues at the end of the turn.
    mutating func restartWalks(at time: CommandTime, _ effects: inout Effects) {
        while !asks.open.sequel.isEmpty {  // Share: orphans
            // loop: each pass ends one opening that the command has noted
            while asks.open.sequel.openingCount > 0 {  // Bound: asks
                look(at: asks.open.sequel.takeOpening(), at: time, &effects)
            }
            let orphans = asks.open.sequel.takeOrphans()
            for (place, orphan) in orphans.enumerated()  // Share: orphans
            where asks.open.isOpen(orphan.slot, ordinal: orphan.ordinal) {
                guard dispatching.walkLookCount < Walk.share else {
                    return asks.open.sequel.leave(orphans[place...])
                }
                dispatching.walkLookCount += Walk.looksOfTurn
                let slot = orphan.slot
                switch asks.open[slot].state {
                case .walking: break
                case .shown, .waiting: continue
                case .held(let serial):
                    let (taker, lookCount) = taker(of: slot, waitingFor: serial)
                    dispatching.walkLookCount += lookCount
                    if let taker { showOrHold(slot, to: taker, at: time, &effects) }
                    continue
                }
                if asks.open[slot].isOnce, !asks.open[slot].shown.isEmpty {
                    end(slot, .failed(.responderGone), at: time, &effects)
                    continue
                }
                asks.open.begin(slot, at: asks.open[slot].path[0])
                takeTurn(slot, at: time, &effects)
            }
        }
    }

    /// Shows waiting asks to an observer, or to a client, that may have room.
    private mutating func look(
        at opening: AskSequel.Opening, at time: CommandTime, _ effects: inout Effects
    ) {
        var observer: UInt32?
        if case .observer(let serial) = opening { observer = registry.observers.slot(of: serial) }
        let client =
            if case .client(let id) = opening { registry.clients.slot(of: id) } else {
                observer.map { registry.observers[$0].client }
            }
        // A flush of the client comes first, and ends with a look at the waiting asks.
        guard let client, registry.clients[client].suspension.isDisjoint(with: .flushing) else {
            return
        }
        if holdsActions(for: client) {
            guard let observer, registry.clients[client].suspension.isEmpty else {
                return settle(client, at: time, &effects)
            }
            flush(actionsOf: observer, at: time, &effects)
        } else if registry.clients[client].suspension.contains(.owing) {
            return settle(client, at: time, &effects)
        }
        guard let observer else { return showHeld(of: client, at: time, &effects) }
        showHeld(of: client, to: CollectionOfOne(observer), at: time, &effects)
    }
}
