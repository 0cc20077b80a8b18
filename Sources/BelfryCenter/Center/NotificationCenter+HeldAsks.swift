// Asks that wait for a responder which holds: their showing, and their passing on (rule R6).

extension NotificationCenter {
    /// Shows a live client the asks that wait at the addresses of its responders.
    mutating func showHeld(of client: UInt32, at time: CommandTime, _ effects: inout Effects) {
        guard asks.heldCount > 0 else { return }
        // Within a dispatch nothing else takes a number.
        guard !dispatching.isActive else {
            return asks.sequel.noteOpening(.client(clients[client].id))
        }
        let responders = observers.slots(from: clients[client].lastObserver)
        showHeld(of: client, to: responders, at: time, &effects)
    }

    /// Shows some responders of a client the asks that wait at their addresses, in their order.
    ///
    /// It is a step of a flush, which ends at its limit of bytes; the next step follows when they
    /// are written.
    mutating func showHeld(
        of client: UInt32, to responders: some Sequence<UInt32>, at time: CommandTime,
        _ effects: inout Effects
    ) {
        guard asks.heldCount > 0 else { return }
        var byteCount = 0
        for taken in takeable(by: responders, at: time)  // Share: shown asks
        where asks.isOpen(taken.slot, ordinal: taken.ordinal) && asks[taken.slot].isHeld {
            let (slot, observer) = (taken.slot, taken.observer)
            guard case .now = readiness(of: observer, asks[slot].content.name) else { continue }
            guard
                byteCount < limits.flushByteLimit
                    || clients[client].suspension.contains(.mailbox)
            else {
                clients[client].suspension.insert(.flushing)
                effects.notices.append(
                    .flushGoesOn(
                        client: clients[client].id, connection: clients[client].connection))
                return
            }
            byteCount += asks[slot].content.byteCount + Self.frameByteCount
            showOrHold(slot, to: observer, at: time, &effects)
        }
    }

    /// The asks that some responders may be shown now.
    private func takeable(
        by responders: some Sequence<UInt32>, at time: CommandTime
    ) -> [HeldAsks.Taken] {
        var held = HeldAsks()
        for observer in responders {  // Bound: client
            guard let responder = observers.responder(at: observer),
                let address = index.object(of: observers[observer].place)
            else { continue }
            let serial = observers[observer].serial
            let room = responder.concurrency - asks.shownCount(to: serial)
            guard room > 0 else { continue }
            let taker = HeldAsks.Taker(slot: observer, serial: serial)
            // Bound: selectors
            for selector in asks.selectorsHeld(at: address, among: responder.implements) {
                held.add(taker, room: room, at: address, selector, of: asks)
            }
        }
        return held.take(from: asks, at: time.monotonicNanoseconds)
    }

    /// Passes on asks that wait for a client's responders and that others may take.
    ///
    /// A responder that does not hold lets asks wait only until the frames of its client are
    /// written: those that it can still not be shown walk again. An ask for a suspended one goes to
    /// another one that shares the address.
    mutating func passOnHeld(of client: UInt32) {
        guard asks.heldCount > 0 else { return }
        let isSuspended = !clients[client].suspension.isDisjoint(with: .suspended)
        for observer in observers.slots(from: clients[client].lastObserver)  // Bound: client
        where observers.isResponder(at: observer)
            && (isSuspended || !observers[observer].terms.holdsAsks)
        {
            for slot in asks.held(for: observers[observer].serial) {  // Bound: client
                // An announced ask continues when the store has it (rule R20).
                if asks[slot].isTold { continue }
                switch readiness(of: observer, asks[slot].content.name) {
                case .now: continue
                case .later: if isSuspended { asks.orphan(slot) }
                case .never: asks.takeBackAsOrphan(slot)
                }
            }
        }
    }

    /// Shows waiting asks to a client's new responders, behind the answer to it (rule R1).
    mutating func showHeldBehindAnswer(
        to client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        let suspension = clients[client].suspension
        if suspension.contains(.mailbox) { return showHeld(of: client, at: time, &effects) }
        guard suspension.isDisjoint(with: [.slow, .disconnected, .owing]),
            observers.slots(from: clients[client].lastObserver)
                .contains(where: observers.isResponder(at:))
        else { return }
        clients[client].suspension.insert(.flushing)
        effects.notices.append(
            .flushFollows(
                client: clients[client].id, connection: clients[client].connection))
    }
}
