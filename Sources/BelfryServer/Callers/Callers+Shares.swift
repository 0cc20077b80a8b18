import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfryTLS
import BelfryWire

extension Callers {
    /// Counts a connection for its principal, beside its address.
    mutating func takeSeat(of caller: Caller, on id: ConnectionID, _ outbox: inout Outbox)
        throws(Problem)
    {
        guard let limit = outbox.shares.limits.principal, !caller.isAnonymous else { return }
        let asker = Asker.principal(caller.principal)
        var address = connections[id].seat
        if address?.asker == asker { return }
        if case .principal = address?.asker { address = address?.other }
        connections[id].seat = address
        let seat = shared.askers.seats.take(
            for: asker, byteCount: SeatTable.byteCount(isSecure: entrance.isSecure(id)),
            limit: limit.seats,
            beside: address)
        guard let seat else {
            outbox.meet(.shares)
            exchange.reply.context.keepsAlive = false
            throw Problem(
                .tooManyConnections,
                "The principal has reached its limit of connections (--principal-share).")
        }
        connections[id].seat = seat
    }

    /// Refuses the largest unfinished requests and messages of askers over their share.
    mutating func boundUnfinishedShares(_ outbox: inout Outbox) {
        guard unfinishedWatch.mustLook(connections.unfinishedTotal.count) else { return }
        let tls = entrance.tls
        let largest = connections.largestPastShare(\.unfinishedByteCount, &outbox) {
            connection, _ in connection.unfinishedByteCount(with: tls)
        }
        for id in largest {
            outbox.meet(.shares)
            refuseUnfinished(id, &outbox)
        }
    }
}
