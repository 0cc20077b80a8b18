import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryTLS
import BelfryWire

// One principal, and one address that is not loopback, can fill a part of each kind of memory at most, so
// that one cannot use up what all need (decision 70).

extension ServerLoop {
    /// What one may have of what an asker has; nil where that is all.
    @inline(__always)
    private func share(of asker: Asker) -> ShareLimit? {
        if case .address(let address) = asker, !countsAddresses || address.isLoopback { return nil }
        return shares[asker]
    }

    /// Who is counted for an address; a listed proxy stands for many.
    private mutating func asker(at address: NetworkAddress?) -> Asker? {
        guard let address, countsAddresses, !address.isLoopback, !proxyPolicy.trusts(address)
        else { return nil }
        return .address(address.counted)
    }

    // MARK: What centers keep

    /// The owner that what a submission makes counts for.
    @inline(__always)
    mutating func owner(of submission: borrowing Submission) -> Owner {
        if !countsAddresses, submission.caller === anonymous { return .none }
        return owner(submission.caller, at: submission.address)
    }

    /// The owner that what a caller makes counts for.
    mutating func owner(_ caller: Caller, at address: NetworkAddress?) -> Owner {
        let isCounted = shares.principal != nil && !caller.isAnonymous
        let identity = OwnerTable.Identity(
            principal: isCounted ? .principal(caller.principal) : nil,
            address: asker(at: address))
        if identity.principal == nil, identity.address == nil { return .none }
        centers.hasOwners = true
        return shared.owners.owner(identity)
    }

    /// Lets what a store has kept of a center count for its principals.
    ///
    /// A principal may be of a key that is gone, or of a time when keys were others: it counts all the same.
    mutating func assignOwners(at position: Int) {
        if shares.principal == nil { return }
        centers.hasOwners = true
        let (owners, nobody) = (shared.owners, anonymous.principal)
        centers.assignOwners(at: position) { principal in
            if principal == nobody { return .none }
            return owners.owner(OwnerTable.Identity(principal: .principal(principal)))
        }
    }

    /// Checks that what an owner wants to make leaves it within its share.
    mutating func checkShare(of owner: Owner, adding wanted: Holdings) throws(Problem) {
        for (asker, holdings) in shared.owners.holdings(of: owner) {
            guard let limit = share(of: asker) else { continue }
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
            meet(.shares)
            throw Problem.fullShare(full, limit, of: asker)
        }
    }

    /// By how many bytes an owner has more of a kind than it may.
    private mutating func excess(of kind: KeptKind, for owner: Owner) -> Int {
        var excess = -Int.max
        for (asker, holdings) in shared.owners.holdings(of: owner) {
            guard let limit = share(of: asker) else { continue }
            excess = max(excess, holdings.memory[kind] - limit.holdings.memory[kind])
        }
        return excess
    }

    /// Lets what waits in the queue count for an owner, which may have no more than its share.
    mutating func assign(_ owner: Owner, to terms: inout PostTerms) {
        if owner == .none { return }
        terms.owner = owner
        terms.queueByteRoom = min(terms.queueByteRoom, max(0, -excess(of: .queue, for: owner)))
    }

    /// Counts what centers keep more for owners; what is too much of it is forgotten later.
    mutating func countOwned() {
        let growth = centers.takeOwnedGrowth()
        if growth.isEmpty { return }
        shared.owners.add(growth)
        for (owner, more) in growth {
            for kind in KeptKind.allCases where more.memory[kind] > 0 {
                if excess(of: kind, for: owner) > 0 { trimLater(kind, of: owner) }
            }
        }
    }

    /// An owner that has too much of a kind forgets its oldest in the center that keeps most of it.
    mutating func trimShare(_ trim: Trim) {
        guard excess(of: trim.kind, for: trim.owner) > 0,
            let position = centers.largestKeeper(of: trim.kind, for: trim.owner)
        else { return }
        meet(.shares)
        let before = centers.kept(trim.kind, at: position, for: trim.owner)
        let action =
            switch trim.kind {
            case .held, .keys: Command.Action.trimOwned(trim.kind, trim.owner)
            case .observers, .channels, .replay, .fates, .tombstones, .queue:
                trimAction(trim.kind, at: position)
            }
        submitCommand(action, to: position, isPromise: false)
        fanOut()
        centers.noteKept(at: position)
        let hasTrimmed = centers.kept(trim.kind, at: position, for: trim.owner) < before
        accountForKept()
        if hasTrimmed, excess(of: trim.kind, for: trim.owner) > 0 {
            trimLater(trim.kind, of: trim.owner)
        }
    }

    // MARK: Connections

    /// Whether a new connection finds a seat among those of its address; a listed proxy stands for many.
    mutating func takeSeat(_ id: ConnectionID, isSecure: Bool) -> Bool {
        guard let address = peerAddress(of: id), !proxyPolicy.trusts(address) else { return true }
        let asker = Asker.address(address.counted)
        var limit = share(of: asker)?.seats ?? SeatTable.Seats(count: .max, byteCount: .max)
        limit.count = min(limit.count, configuration.addressConnectionLimit ?? .max)
        let byteCount = Self.seatByteCount(isSecure: isSecure)
        guard let seat = shared.seats.take(for: asker, byteCount: byteCount, limit: limit) else {
            return false
        }
        connections[id].seat = seat
        return true
    }

    /// Counts a connection for the principal that speaks on it, beside its address.
    mutating func takeSeat(of caller: Caller, on id: ConnectionID) throws(Problem) {
        guard let limit = shares.principal, !caller.isAnonymous else { return }
        let asker = Asker.principal(caller.principal)
        var address = connections[id].seat
        if address?.asker == asker { return }
        if case .principal = address?.asker { address = address?.other }
        connections[id].seat = address
        let seat = shared.seats.take(
            for: asker, byteCount: Self.seatByteCount(isSecure: isSecure(id)), limit: limit.seats,
            beside: address)
        guard let seat else {
            meet(.shares)
            exchange.reply.context.keepsAlive = false
            throw Problem(
                .tooManyConnections,
                "The principal has as many connections as one may have (--principal-share).")
        }
        connections[id].seat = seat
    }

    private static func seatByteCount(isSecure: Bool) -> Int {
        ServerConfiguration.connectionByteCount + (isSecure ? TLSSession.Stage.open.byteCount : 0)
    }

    /// Tells a connection that is one too many for its address so, and closes it.
    ///
    /// A handshake to tell it costs too much.
    mutating func refuseSeat(_ id: ConnectionID, isSecure: Bool) {
        connections[Int(id.index)] = nil
        counters.connectionsRefused += 1
        meet(.addressConnections)
        if isSecure { return loop.close(id) }
        let problem = Problem(
            .tooManyConnections,
            """
            The address has as many connections as it may have (--max-connections-per-address, \
            --address-share).
            """)
        let start = loop.output.count
        loop.output.append(contentsOf: closingBytes(problem))
        loop.send(start..<loop.output.count, to: id, as: .answer)
        loop.closeAfterFlush(id, lingering: true)
    }

    /// The largest connections of those that have more than their share; an empty list where nobody has.
    private func largestPastShare(
        _ limit: (ShareLimit) -> Int, _ byteCount: (Connection) -> Int
    ) -> [ConnectionID] {
        var sums: [Asker: Int] = [:]
        var found: [(byteCount: Int, id: ConnectionID, askers: [Asker])] = []
        for slot in 0..<connections.slotCount {
            guard let connection = connections[slot], let seat = connection.seat,
                !connection.isClosing
            else { continue }
            let count = byteCount(connection)
            if count == 0 { continue }
            let askers = [seat.asker] + (seat.other.map { [$0.asker] } ?? [])
            for asker in askers { sums[asker, default: 0] += count }
            found.append((count, connection.id, askers))
        }
        var excesses: [Asker: Int] = [:]
        for (asker, sum) in sums {
            guard let share = share(of: asker), sum > limit(share) else { continue }
            excesses[asker] = sum - limit(share)
        }
        if excesses.isEmpty { return [] }
        var largest: [ConnectionID] = []
        for (count, id, askers) in found.sorted(by: { $0.byteCount > $1.byteCount })
        where askers.contains(where: { excesses[$0, default: 0] > 0 }) {
            for asker in askers { excesses[asker]? -= count }
            largest.append(id)
        }
        return largest
    }

    /// Closes the largest connections of those that have more waiting for their sockets than they may.
    mutating func boundUnsentShares() {
        guard unsentWatch.mustLook(loop.unsentByteTotal) else { return }
        for id in largestPastShare(\.unsentByteCount, { loop.unsentByteCount(of: $0.id) }) {
            meet(.shares)
            closeSlowest(id)
        }
    }

    /// Refuses the largest requests and messages of those that have more unfinished than they may.
    mutating func boundUnfinishedShares() {
        guard unfinishedWatch.mustLook(unfinishedTotal.count) else { return }
        for id in largestPastShare(\.unfinishedByteCount, { unfinishedByteCount(of: $0) }) {
            meet(.shares)
            refuseUnfinished(id)
        }
    }
}

/// A kind of which too much is kept, by one owner, or by all together.
struct Trim: Hashable {
    let kind: KeptKind
    let owner: Owner
}

/// Tells when it must be found out anew who has how much of a sum that is above the share of one.
///
/// That is a look at all connections, so it is not done each turn: with each eighth of a share that the sum has
/// grown, and now and then.
struct ShareWatch {
    /// What one may have.
    let share: Int
    private var seen = 0
    private var turnCount = 0

    private static let turnsBetweenLooks = 256

    init(share: Int) {
        self.share = share
    }

    mutating func mustLook(_ sum: Int) -> Bool {
        turnCount += 1
        seen = min(seen, sum)
        guard sum - seen > share / 8 || turnCount >= Self.turnsBetweenLooks else { return false }
        seen = sum
        turnCount = 0
        return true
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
