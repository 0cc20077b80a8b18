// Responders are registered and removed: the holders of addresses (rules R1 to R3, R15 and R18).

extension NotificationCenter {
    /// Checks that a registration may hold its address, before anything changes.
    func checkAddress(of registration: ObserverRegistration) throws(Refusal) {
        guard let responder = registration.role.responder, let address = registration.object else {
            return
        }
        let holders = addresses.holders(of: address.span)
        switch responder.ifHeld {
        case .replace: break
        case .refuse:
            if !holders.isEmpty { throw .alreadyHeld }
        case .share:
            if !addresses.isShared(address.span) || holders.count >= limits.holderLimit {
                throw .alreadyHeld
            }
        }
        var next = responder.next
        var hopCount = 0
        while let hop = next, hopCount <= Self.circleLookLimit {  // Bound: hops
            if hop == address { throw .responderCircle }
            next = addresses.holders(of: hop.span).first
                .flatMap { observers.responder(at: $0.slot)?.next }
            hopCount += 1
        }
    }

    /// The addresses that a registration examines for a circle; a walk has fewer (`hopLimit`).
    private static let circleLookLimit = 1_000

    /// Removes the holders that a registration replaces; returns their clients.
    mutating func replaceHolders(
        of registration: ObserverRegistration, by newcomer: UInt32, at time: CommandTime,
        _ effects: inout Effects
    ) -> [UInt32] {
        guard let responder = registration.role.responder, responder.ifHeld == .replace,
            let address = registration.object
        else { return [] }
        let remover =
            clients[newcomer].transport == .mailbox
            ? Remover.principal(clients[newcomer].principal) : .client(clients[newcomer].id)
        var replaced: [UInt32] = []
        for holder in addresses.holders(of: address.span) {  // Bound: holders
            let client = observers[holder.slot].client
            let tombstone = remove(
                holder.slot, by: remover, reason: .replaced, at: time, &effects)
            // A client with several holders is settled once: then it may be gone.
            if !replaced.contains(client) { replaced.append(client) }
            guard clients[client].suspension.isDisjoint(with: [.disconnected, .mailbox]) else {
                continue
            }
            let route = clients.route(at: client)
            effects.notices.append(
                .removed(
                    connection: route.connection, transport: route.transport,
                    observer: holder.serial, tombstone))
        }
        return replaced
    }

    /// Files an observer under its filter; a responder holds its address from now on.
    mutating func file(
        _ name: [UInt8]?, _ object: [UInt8]?, _ role: ObserverRole, _ serial: UInt64,
        _ slot: UInt32
    ) -> ObserverIndex.Place {
        noteComing(name, object, role)
        if role.isPlain { return index.add(name: name, object: object, serial: serial, slot: slot) }
        if let target = role.target {
            targets.add(
                target, isHeld: !addresses.holders(of: target.span).isEmpty, at: lastTime)
        }
        if let terms = role.value, let object {
            usesValues = true
            let filed = values.addObserver(terms, of: object, serial: serial, slot: slot)
            observers.setRole(.value(filed), at: slot)
            // Its place names the object; no post finds it there (rule V13).
            return index.add(implementing: [], object: object, serial: serial, slot: slot)
        }
        observers.setRole(role, at: slot)
        guard let responder = role.responder, let address = object else {
            return index.add(name: name, object: object, serial: serial, slot: slot)
        }
        usesAsks = true
        let implemented = responder.implements.map { selectors.retain($0) }
        addresses.add(
            address, slot: slot, serial: serial, implementing: implemented,
            isShared: responder.ifHeld == .share)
        targets.note(address, isHeld: true, at: lastTime)
        return index.add(
            implementing: responder.implements, object: address, serial: serial, slot: slot)
    }

    /// Removes an observer from its filter; the asks of a responder walk again.
    mutating func unfile(
        _ slot: UInt32, isTold: Bool, at time: CommandTime, _ effects: inout Effects
    ) {
        let (serial, place) = (observers[slot].serial, observers[slot].place)
        let role = observers.role(at: slot)
        if role.value != nil {
            values.removeObserver(serial: serial, slot: slot)
            return index.remove(serial: serial, implementing: [], from: place)
        }
        if let target = role.target { targets.remove(target) }
        guard let responder = role.responder,
            let address = index.object(of: place)
        else {
            // A name without another observer is forgotten with it.
            let (name, object) = (index.name(of: place), index.object(of: place))
            index.remove(serial: serial, from: place)
            return noteGone(name, object, nil)
        }
        let implemented = selectors.numbers(of: responder)
        addresses.remove(address, serial: serial, implementing: implemented)
        if addresses.holders(of: address.span).isEmpty {
            targets.note(address, isHeld: false, at: lastTime)
        }
        orphanAsks(of: slot, isTold: isTold, at: time, &effects)
        reportHolder(at: slot, isHeld: false)
        index.remove(serial: serial, implementing: responder.implements, from: place)
        noteGone(nil, nil, responder)
        for selector in implemented { selectors.release(selector) }  // Bound: selectors
    }

    /// Reports that an address has a new holder, or has lost one (rule R18).
    mutating func reportHolder(at slot: UInt32, isHeld: Bool) {
        guard observers.isResponder(at: slot),
            let address = index.object(of: observers[slot].place)
        else { return }
        reports.append(
            .responderChanged(
                address: address, observer: observers[slot].serial, isHeld: isHeld))
    }
}
