// Asks that wait for a responder which holds: their showing, and their passing on (rule R6).

extension NotificationCenter {
    /// Shows a live client the asks that wait at the addresses of its responders.
    mutating func showHeld(of client: UInt32, at time: CommandTime, _ effects: inout Effects) {
        guard asks.open.heldCount > 0 else { return }
        // Within a dispatch nothing else takes a number.
        guard !dispatching.isActive else {
            return asks.open.sequel.noteOpening(.client(registry.clients[client].id))
        }
        let responders = registry.observerSlots(of: client)
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
        guard asks.open.heldCount > 0 else { return }
        var byteCount = 0
        for taken in takeable(by: responders, at: time)  // Share: shown asks
        where asks.open.isOpen(taken.slot, ordinal: taken.ordinal) && asks.open[taken.slot].isHeld {
            let (slot, observer) = (taken.slot, taken.observer)
            // One that waits for anybody may be taken twice, and was announced to the first.
            guard asks.open[slot].mayBeShown(to: registry.observers[observer].serial),
                case .now = readiness(of: observer, asks.open[slot].content.name)
            else { continue }
            guard
                byteCount < limits.flushByteLimit
                    || registry.clients[client].suspension.contains(.mailbox)
            else {
                registry.clients[client].suspension.insert(.flushing)
                effects.notices.append(
                    .flushGoesOn(
                        client: registry.clients[client].id,
                        connection: registry.clients[client].connection))
                return
            }
            byteCount += asks.open[slot].content.byteCount + Self.frameByteCount
            showOrHold(slot, to: observer, at: time, &effects)
        }
    }

    /// The asks that some responders may be shown now.
    private func takeable(
        by responders: some Sequence<UInt32>, at time: CommandTime
    ) -> [HeldAsks.Taken] {
        var held = HeldAsks()
        for observer in responders {  // Bound: client
            guard let responder = registry.observers.responder(at: observer),
                let address = registry.index.object(of: registry.observers[observer].place)
            else { continue }
            let serial = registry.observers[observer].serial
            let room = responder.concurrency - asks.open.shownCount(to: serial)
            guard room > 0 else { continue }
            let taker = HeldAsks.Taker(slot: observer, serial: serial)
            // Bound: selectors
            for selector in asks.open.selectorsHeld(at: address, among: responder.implements) {
                held.add(taker, room: room, at: address, selector, of: asks.open)
            }
        }
        return held.take(from: asks.open, at: time.monotonicNanoseconds)
    }

    /// Passes on asks that wait for a client's responders and that others may take.
    ///
    /// A responder that does not hold lets asks wait only until the frames of its client are
    /// written: those that it can still not be shown walk again. An ask for a suspended one goes to
    /// another one that shares the address.
    mutating func passOnHeld(of client: UInt32) {
        guard asks.open.heldCount > 0 else { return }
        let isSuspended = !registry.clients[client].suspension.isDisjoint(with: .suspended)
        for observer in registry.observerSlots(of: client)  // Bound: client
        where registry.observers.isResponder(at: observer)
            && (isSuspended || !registry.observers[observer].terms.holdsAsks)
        {
            for slot in asks.open.held(for: registry.observers[observer].serial) {  // Bound: client
                // An announced ask continues when the store has it (rule R20).
                if asks.open[slot].isTold { continue }
                switch readiness(of: observer, asks.open[slot].content.name) {
                case .now: continue
                case .later: if isSuspended { asks.open.orphan(slot) }
                case .never: asks.open.takeBackAsOrphan(slot)
                }
            }
        }
    }

    /// Shows waiting asks to a client's new responders, behind the answer to it (rule R1).
    mutating func showHeldBehindAnswer(
        to client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        let suspension = registry.clients[client].suspension
        if suspension.contains(.mailbox) { return showHeld(of: client, at: time, &effects) }
        guard suspension.isDisjoint(with: [.slow, .disconnected, .owing]),
            registry.observerSlots(of: client)
                .contains(where: registry.observers.isResponder(at:))
        else { return }
        registry.clients[client].suspension.insert(.flushing)
        effects.notices.append(
            .flushFollows(
                client: registry.clients[client].id, connection: registry.clients[client].connection
            ))
    }
}
