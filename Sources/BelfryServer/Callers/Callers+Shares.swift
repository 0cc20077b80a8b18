import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfryTLS
import BelfryWire

extension Callers {
    // MARK: Connections

    /// Whether a new connection finds a seat among those of its address; a listed proxy stands for many.
    mutating func takeSeat(_ id: ConnectionID, isSecure: Bool, _ outbox: inout Outbox) -> Bool {
        guard let address = Gate.peerAddress(of: id, &outbox),
            !gate.policies.proxy.trusts(address)
        else { return true }
        let asker = Asker.address(address.counted)
        var limit =
            outbox.shares.limit(of: asker)?.seats ?? SeatTable.Seats(count: .max, byteCount: .max)
        limit.count = min(limit.count, outbox.configuration.addressConnectionLimit ?? .max)
        let byteCount = Self.seatByteCount(isSecure: isSecure)
        guard let seat = shared.seats.take(for: asker, byteCount: byteCount, limit: limit) else {
            return false
        }
        connections[id].seat = seat
        return true
    }

    /// Counts a connection for the principal that speaks on it, beside its address.
    mutating func takeSeat(of caller: Caller, on id: ConnectionID, _ outbox: inout Outbox)
        throws(Problem)
    {
        guard let limit = outbox.shares.limits.principal, !caller.isAnonymous else { return }
        let asker = Asker.principal(caller.principal)
        var address = connections[id].seat
        if address?.asker == asker { return }
        if case .principal = address?.asker { address = address?.other }
        connections[id].seat = address
        let seat = shared.seats.take(
            for: asker, byteCount: Self.seatByteCount(isSecure: isSecure(id)), limit: limit.seats,
            beside: address)
        guard let seat else {
            outbox.meet(.shares)
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
    mutating func refuseSeat(_ id: ConnectionID, isSecure: Bool, _ outbox: inout Outbox) {
        connections[Int(id.index)] = nil
        outbox.counters.connectionsRefused += 1
        outbox.meet(.addressConnections)
        if isSecure { return outbox.loop.close(id) }
        let problem = Problem(
            .tooManyConnections,
            """
            The address has as many connections as it may have (--max-connections-per-address, \
            --address-share).
            """)
        let start = outbox.loop.output.count
        outbox.loop.output.append(contentsOf: outbox.closingBytes(problem))
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        outbox.loop.closeAfterFlush(id, lingering: true)
    }

    /// The largest connections of those that have more than their share; an empty list where nobody has.
    private func largestPastShare(
        _ limit: (ShareLimit) -> Int, _ outbox: inout Outbox,
        _ byteCount: (Connection, inout Outbox) -> Int
    ) -> [ConnectionID] {
        var sums: [Asker: Int] = [:]
        var found: [(byteCount: Int, id: ConnectionID, askers: [Asker])] = []
        for slot in 0..<connections.slotCount {
            guard let connection = connections[slot], let seat = connection.seat,
                !connection.isClosing
            else { continue }
            let count = byteCount(connection, &outbox)
            if count == 0 { continue }
            let askers = [seat.asker] + (seat.other.map { [$0.asker] } ?? [])
            for asker in askers { sums[asker, default: 0] += count }
            found.append((count, connection.id, askers))
        }
        var excesses: [Asker: Int] = [:]
        for (asker, sum) in sums {
            guard let share = outbox.shares.limit(of: asker), sum > limit(share) else { continue }
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
    mutating func boundUnsentShares(_ outbox: inout Outbox) {
        guard unsentWatch.mustLook(outbox.loop.unsentByteTotal) else { return }
        for id in largestPastShare(
            \.unsentByteCount, &outbox,
            { connection, outbox in
                outbox.loop.unsentByteCount(of: connection.id)
            })
        {
            outbox.meet(.shares)
            closeSlowest(id, &outbox)
        }
    }

    /// Refuses the largest requests and messages of those that have more unfinished than they may.
    mutating func boundUnfinishedShares(_ outbox: inout Outbox) {
        guard unfinishedWatch.mustLook(unfinishedTotal.count) else { return }
        for id in largestPastShare(
            \.unfinishedByteCount, &outbox,
            { connection, _ in
                unfinishedByteCount(of: connection)
            })
        {
            outbox.meet(.shares)
            refuseUnfinished(id, &outbox)
        }
    }
}
