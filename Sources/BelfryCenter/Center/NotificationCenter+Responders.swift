// Responders are registered and removed: the holders of addresses (rules R1 to R3, R15 and R18).

extension NotificationCenter {
    /// Checks that a registration may hold its address, before anything changes.
    func checkAddress(of registration: ObserverRegistration) throws(Refusal) {
        guard let responder = registration.role.responder, let address = registration.object else {
            return
        }
        let holders = asks.addresses.holders(of: address.span)
        let mayJoin = responder.mayJoin(
            holderCount: holders.count, areSharing: asks.addresses.isShared(address.span),
            holderLimit: limits.holderLimit)
        if !mayJoin { throw .alreadyHeld }
        var next = responder.next
        var hopCount = 0
        while let hop = next, hopCount <= Self.circleLookLimit {  // Bound: hops
            if hop == address { throw .responderCircle }
            next = asks.addresses.holders(of: hop.span).first
                .flatMap { registry.observers.responder(at: $0.slot)?.next }
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
        guard let responder = registration.role.responder, responder.replacesHolders,
            let address = registration.object
        else { return [] }
        let remover =
            registry.clients[newcomer].transport == .mailbox
            ? Remover.principal(registry.clients[newcomer].principal)
            : .client(registry.clients[newcomer].id)
        var replaced: [UInt32] = []
        for holder in asks.addresses.holders(of: address.span) {  // Bound: holders
            let client = registry.observers[holder.slot].client
            let tombstone = remove(
                holder.slot, by: remover, reason: .replaced, at: time, &effects)
            // A client with several holders is settled once: then it may be gone.
            if !replaced.contains(client) { replaced.append(client) }
            guard registry.clients[client].suspension.isDisjoint(with: [.disconnected, .mailbox])
            else {
                continue
            }
            let route = registry.clients.route(at: client)
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
        if role.isPlain {
            return registry.index.add(name: name, object: object, serial: serial, slot: slot)
        }
        if let target = role.target {
            registry.targets.add(
                target, isHeld: !asks.addresses.holders(of: target.span).isEmpty, at: lastTime)
        }
        if let terms = role.value, let object {
            values.isUsed = true
            let filed = values.addObserver(terms, of: object, serial: serial, slot: slot)
            registry.observers.setRole(.value(filed), at: slot)
            // Its place names the object; no post finds it there (rule V13).
            return registry.index.add(implementing: [], object: object, serial: serial, slot: slot)
        }
        registry.observers.setRole(role, at: slot)
        if let terms = role.filter {
            return registry.index.add(
                terms, name: name, object: object, serial: serial, slot: slot)
        }
        guard let responder = role.responder, let address = object else {
            return registry.index.add(name: name, object: object, serial: serial, slot: slot)
        }
        asks.isUsed = true
        let implemented = responder.implements.map { registry.selectors.retain($0) }
        asks.addresses.add(
            address, slot: slot, serial: serial, implementing: implemented,
            isShared: responder.isShared)
        asks.open.orphanWaiting(
            at: address, among: responder.next == nil ? responder.implements : nil)
        registry.targets.note(address, isHeld: true, at: lastTime)
        return registry.index.add(
            implementing: responder.implements, object: address, serial: serial, slot: slot)
    }

    /// Removes an observer from its filter; the asks of a responder walk again.
    mutating func unfile(
        _ slot: UInt32, isTold: Bool, at time: CommandTime, _ effects: inout Effects
    ) {
        let (serial, place) = (registry.observers[slot].serial, registry.observers[slot].place)
        let role = registry.observers.role(at: slot)
        if role.value != nil {
            values.removeObserver(serial: serial, slot: slot)
            return registry.index.remove(serial: serial, implementing: [], from: place)
        }
        if let target = role.target { registry.targets.remove(target) }
        guard let responder = role.responder,
            let address = registry.index.object(of: place)
        else {
            // A name without another observer is forgotten with it.
            let (name, object) = (registry.index.name(of: place), registry.index.object(of: place))
            if let terms = role.filter {
                registry.index.remove(terms, serial: serial, from: place)
            } else {
                registry.index.remove(serial: serial, from: place)
            }
            return noteGone(name, object, role)
        }
        let implemented = registry.selectors.numbers(of: responder)
        asks.addresses.remove(address, serial: serial, implementing: implemented)
        if asks.addresses.holders(of: address.span).isEmpty {
            registry.targets.note(address, isHeld: false, at: lastTime)
        }
        orphanAsks(of: slot, isTold: isTold, at: time, &effects)
        asks.open.orphanWaiting(at: address, among: nil)
        reportHolder(at: slot, isHeld: false)
        registry.index.remove(serial: serial, implementing: responder.implements, from: place)
        noteGone(nil, nil, role)
        for selector in implemented { registry.selectors.release(selector) }  // Bound: selectors
    }

    /// Reports that an address has a new holder, or has lost one (rule R18).
    mutating func reportHolder(at slot: UInt32, isHeld: Bool) {
        guard registry.observers.isResponder(at: slot),
            let address = registry.index.object(of: registry.observers[slot].place)
        else { return }
        reports.append(
            .responderChanged(
                address: address, observer: registry.observers[slot].serial, isHeld: isHeld))
    }
}
