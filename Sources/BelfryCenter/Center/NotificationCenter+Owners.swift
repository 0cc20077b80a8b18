// The memory of a center by owner (decision 70 has the reasons).

extension NotificationCenter {
    /// Returns the growth of the center's memory by owner since the last call.
    public mutating func takeOwnedGrowth() -> [Owner: Holdings] {
        var growth = memory.owned.takeGrowth()
        for more in [
            schedule.queue.owned.takeGrowth(), schedule.timers.owned.takeGrowth(),
            asks.open.owned.takeGrowth(),
            history.keys.owned.takeGrowth(),
        ] {
            // Bound: owners
            for (owner, more) in more { growth[owner, default: Holdings()] += more }
        }
        return growth
    }

    /// The holdings of an owner.
    public func holdings(of owner: Owner) -> Holdings {
        var holdings = memory.owned[owner]
        holdings += schedule.queue.owned[owner]
        holdings += schedule.timers.owned[owner]
        holdings += asks.open.owned[owner]
        holdings += history.keys.owned[owner]
        return holdings
    }

    /// Assigns the owners of stored memory: the store knows principals, and no owners.
    ///
    /// The queue's entries name no principal: they count for the whole broker alone.
    public mutating func assignOwners(_ ownerOf: (_ principal: [UInt8]) -> Owner) {
        for entry in registry.clients.order.living {  // Bound: start
            let owner = ownerOf(registry.clients[entry.slot].principal)
            if owner == .none { continue }
            registry.clients[entry.slot].owner = owner
            count(clientAt: entry.slot, 1)
            for slot in registry.observerSlots(of: entry.slot) {  // Bound: start
                count(observerAt: slot, 1)
                // Bound: start
                for held in backlog.held.slots(of: registry.observers[slot].entries, in: .observer)
                {
                    count(entry: held, 1)
                }
            }
        }
        asks.open.assignOwners(ownerOf)
        history.keys.assignOwners(ownerOf)
    }

    /// Adds a client to the memory of its owner, or subtracts a removed one with -1.
    mutating func count(clientAt slot: UInt32, _ sign: Int) {
        let owner = registry.clients[slot].owner
        if owner == .none { return }
        let byteCount =
            ClientTable.clientByteCount
            + Footprint.array(of: registry.clients[slot].principal.count)
        memory.owned.add(sign * byteCount, of: .observers, for: owner)
    }

    /// Adds an observer to the memory of its client's owner, or subtracts a removed one with -1.
    mutating func count(observerAt slot: UInt32, _ sign: Int) {
        let owner = registry.clients[registry.observers[slot].client].owner
        if owner == .none { return }
        let place = registry.observers[slot].place
        let textByteCount =
            Footprint.array(of: registry.index.name(of: place)?.count ?? 0)
            + Footprint.array(of: registry.index.object(of: place)?.count ?? 0)
            + Footprint.array(
                of: registry.selectors.text(of: registry.observers[slot].selector).count)
        memory.owned.add(
            sign * (Self.observerByteCount + textByteCount), of: .observers, observerCount: sign,
            for: owner)
        let role = registry.observers.role(at: slot)
        if role.isPlain { return }
        if let terms = role.filter {
            memory.owned.add(sign * terms.byteCount, of: .observers, for: owner)
        }
        guard let terms = role.value else { return }
        memory.owned.add(sign * ValueTable.cost(ofObserverAt: terms.path), of: .queue, for: owner)
    }

    /// The bytes of an observer besides its texts: itself, and its places in a list and a table.
    private static var observerByteCount: Int {
        MemoryLayout<ObserverTable.Observer>.stride + 2 * MemoryLayout<PostingList.Entry>.stride
    }

    /// Adds an entry to the memory of its client's owner, or subtracts a removed one with -1.
    @inline(__always)
    mutating func count(entry: UInt32, _ sign: Int) {
        let owner = registry.clients[registry.observers[backlog.held[entry].observer].client].owner
        if owner == .none { return }
        memory.owned.add(sign * backlog.held.cost(of: entry), of: .held, for: owner)
    }

    /// Forgets the oldest eighth of a kind for an owner, at least one item.
    mutating func trim(
        _ kind: KeptKind, of owner: Owner, at time: CommandTime, _ effects: inout Effects
    ) {
        switch kind {
        case .held:
            // Bound: shares
            for entry in registry.clients.order.living
            where registry.clients[entry.slot].owner == owner {
                let count = (registry.clients[entry.slot].held.list.count + 7) / 8
                // Bound: shares
                for _ in 0..<count where !loseOldest(of: entry.slot, &effects) { break }
            }
        case .keys:
            forgetKeys(history.keys.trim(of: owner), &effects)
        case .observers, .channels, .replay, .fates, .tombstones, .queue, .archives:
            break
        }
    }
}
