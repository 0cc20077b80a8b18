import BelfryAccess
import BelfryCenter
import BelfryWire

// One principal, and one address that is not loopback, can fill a part of each kind of memory at
// most, so that it cannot use up the memory of others (decision 70).

extension KeptWatch {
    /// Checks that new things leave their owner within its share.
    func checkShare(of owner: Owner, adding wanted: Holdings, _ outbox: inout Outbox)
        throws(Problem)
    {
        for (asker, holdings) in shared.askers.owners.holdings(of: owner) {  // Bound: few
            guard let limit = outbox.shares.limit(of: asker) else { continue }
            var sum = holdings
            sum += wanted
            let full: MemoryKind?
            if wanted.observerCount > 0,
                sum.observerCount > limit.holdings.observerCount
                    || holdings.memory[.observers] >= limit.holdings.memory[.observers]
            {
                full = .observers
            } else if wanted.memory[.queue] > 0,
                holdings.memory[.queue] >= limit.holdings.memory[.queue]
            {
                full = .queue
            } else if wanted.centerCount > 0, sum.centerCount > limit.holdings.centerCount {
                full = .centers
            } else {
                full = nil
            }
            guard let full else { continue }
            outbox.meet(.shares)
            throw Problem.fullShare(full, limit, of: asker)
        }
    }

    /// The bytes by which an owner is over its share of a kind.
    func excess(of kind: KeptKind, for owner: Owner, _ outbox: inout Outbox) -> Int {
        var excess = -Int.max
        for (asker, holdings) in shared.askers.owners.holdings(of: owner) {  // Bound: few
            guard let limit = outbox.shares.limit(of: asker) else { continue }
            excess = max(excess, holdings.memory[kind] - limit.holdings.memory[kind])
        }
        return excess
    }

    /// Assigns a queued post to an owner, within its share of the queue.
    func assign(
        _ owner: Owner, to terms: inout PostTerms, _ outbox: inout Outbox
    ) {
        if owner == .none { return }
        terms.owner = owner
        terms.queueByteRoom = min(terms.queueByteRoom, room(for: .queue, of: owner, &outbox))
    }

    /// The bytes of texts with a limit of their own that an owner may still add.
    ///
    /// An owner has a share of each such limit, and one of the memory of all queues for each: so
    /// the texts of one kind take no room from the others.
    func room(for kind: TextKind, of owner: Owner, _ outbox: inout Outbox) -> Int {
        if owner == .none { return .max }
        var room = Int.max
        for (asker, holdings) in shared.askers.owners.holdings(of: owner) {  // Bound: few
            guard let limit = outbox.shares.limit(of: asker) else { continue }
            room = min(room, limit.holdings.texts.room(for: kind, beside: holdings.texts))
        }
        return room
    }

    /// Counts the growth of owners' memory, and schedules the trimming of an excess.
    mutating func countOwned(_ centers: inout CenterTable, _ outbox: inout Outbox) {
        let growth = centers.keptGrowth.takeOwned()
        if growth.isEmpty { return }
        shared.askers.owners.add(growth)
        for (owner, more) in growth {  // Bound: owners
            for kind in KeptKind.allCases where more.memory[kind] > 0 {
                if excess(of: kind, for: owner, &outbox) > 0 { trimLater(kind, of: owner, &outbox) }
            }
        }
    }
}

extension Problem {
    /// The problem of an asker that has used up its share of a kind.
    static func fullShare(_ kind: MemoryKind, _ limit: ShareLimit, of asker: Asker) -> Problem {
        let (whose, option) =
            switch asker {
            case .principal: ("principal", "--principal-share")
            case .address: ("address", "--address-share")
            }
        return Problem(
            .overloaded,
            """
            This \(whose) has used its share of the kind \(kind.rawValue): \
            \(limit.percent) % of the limit (\(option)).
            """)
    }
}
