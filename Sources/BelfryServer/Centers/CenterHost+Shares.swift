import BelfryAccess
import BelfryCenter
import BelfryWire

// One principal, and one address that is not loopback, can fill a part of each kind of memory at most, so
// that one cannot use up what all need (decision 70).

extension CenterHost {
    // MARK: What centers keep

    /// The owner that what a submission makes counts for.
    @inline(__always)
    mutating func owner(
        of submission: borrowing Submission, _ outbox: inout Outbox
    ) -> Owner {
        if !outbox.shares.countsAddresses, submission.caller === outbox.anonymous { return .none }
        return owner(submission.caller, at: submission.address, &outbox)
    }

    /// The owner that what a caller makes counts for.
    mutating func owner(
        _ caller: Caller, at address: NetworkAddress?, _ outbox: inout Outbox
    ) -> Owner {
        let isCounted = outbox.shares.limits.principal != nil && !caller.isAnonymous
        let identity = OwnerTable.Identity(
            principal: isCounted ? .principal(caller.principal) : nil,
            address: outbox.shares.asker(at: address))
        if identity.principal == nil, identity.address == nil { return .none }
        centers.hasOwners = true
        return shared.owners.owner(identity)
    }

    /// Lets what a store has kept of a center count for its principals.
    ///
    /// A principal may be of a key that is gone, or of a time when keys were others: it counts all the same.
    mutating func assignOwners(at position: Int, _ outbox: inout Outbox) {
        if outbox.shares.limits.principal == nil { return }
        centers.hasOwners = true
        let (owners, nobody) = (shared.owners, outbox.anonymous.principal)
        centers.assignOwners(at: position) { principal in
            if principal == nobody { return .none }
            return owners.owner(OwnerTable.Identity(principal: .principal(principal)))
        }
    }

    /// Checks that what an owner wants to make leaves it within its share.
    mutating func checkShare(of owner: Owner, adding wanted: Holdings, _ outbox: inout Outbox)
        throws(Problem)
    {
        for (asker, holdings) in shared.owners.holdings(of: owner) {
            guard let limit = outbox.shares.limit(of: asker) else { continue }
            var sum = holdings
            sum += wanted
            let full: MemoryKind?
            if wanted.observerCount > 0,
                sum.observerCount > limit.holdings.observerCount
                    || holdings.memory[.observers] >= limit.holdings.memory[.observers]
            {
                full = .observers
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

    /// By how many bytes an owner has more of a kind than it may.
    private func excess(
        of kind: KeptKind, for owner: Owner, _ outbox: inout Outbox
    ) -> Int {
        var excess = -Int.max
        for (asker, holdings) in shared.owners.holdings(of: owner) {
            guard let limit = outbox.shares.limit(of: asker) else { continue }
            excess = max(excess, holdings.memory[kind] - limit.holdings.memory[kind])
        }
        return excess
    }

    /// Lets what waits in the queue count for an owner, which may have no more than its share.
    mutating func assign(
        _ owner: Owner, to terms: inout PostTerms, _ outbox: inout Outbox
    ) {
        if owner == .none { return }
        terms.owner = owner
        terms.queueByteRoom = min(
            terms.queueByteRoom, max(0, -excess(of: .queue, for: owner, &outbox)))
    }

    /// Counts what centers keep more for owners; what is too much of it is forgotten later.
    mutating func countOwned(_ outbox: inout Outbox) {
        let growth = centers.takeOwnedGrowth()
        if growth.isEmpty { return }
        shared.owners.add(growth)
        for (owner, more) in growth {
            for kind in KeptKind.allCases where more.memory[kind] > 0 {
                if excess(of: kind, for: owner, &outbox) > 0 { trimLater(kind, of: owner, &outbox) }
            }
        }
    }

    /// An owner that has too much of a kind forgets its oldest in the center that keeps most of it.
    mutating func trimShare(_ trim: Trim, _ outbox: inout Outbox) {
        guard excess(of: trim.kind, for: trim.owner, &outbox) > 0,
            let position = centers.largestKeeper(of: trim.kind, for: trim.owner)
        else { return }
        if centers.isDoing(.trim, at: position) {
            return trimLater(trim.kind, of: trim.owner, &outbox)
        }
        outbox.meet(.shares)
        let before = centers.kept(trim.kind, at: position, for: trim.owner)
        let action =
            switch trim.kind {
            case .held, .keys: Command.Action.trimOwned(trim.kind, trim.owner)
            case .observers, .channels, .replay, .fates, .tombstones, .queue:
                trimAction(trim.kind, at: position)
            }
        tell(action, to: position, &outbox)
        centers.noteKept(at: position)
        let hasTrimmed =
            centers.kept(trim.kind, at: position, for: trim.owner) < before
            || centers.isDoing(.trim, at: position)
        accountForKept(&outbox)
        if hasTrimmed, excess(of: trim.kind, for: trim.owner, &outbox) > 0 {
            trimLater(trim.kind, of: trim.owner, &outbox)
        }
    }
}

extension Problem {
    /// An asker has all that one may have of a kind.
    static func fullShare(_ kind: MemoryKind, _ limit: ShareLimit, of asker: Asker) -> Problem {
        let (whose, option) =
            switch asker {
            case .principal: ("principal", "--principal-share")
            case .address: ("address", "--address-share")
            }
        return Problem(
            .overloaded,
            """
            One \(whose) may have \(limit.percent) % of this kind (\(kind.rawValue)), and this one has \
            (\(option)).
            """)
    }
}
