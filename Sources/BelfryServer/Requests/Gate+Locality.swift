import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

extension Gate {
    /// Finds out how to ask the system for the owners of sockets, where that matters.
    ///
    /// If there is no way, the log says so.
    mutating func prepareLocality(_ outbox: borrowing Outbox) {
        guard outbox.anonymous.differ, !locality.prepare(), outbox.number == 0 else { return }
        outbox.log.write(
            .warning,
            "the system does not say which user has the other end of a connection: "
                + "programs of all users of this machine count as local",
            ("do", "give callers keys (--keys), or say what everybody may do (--anonymous-grants)"))
    }

    /// Finds out whether a caller without credentials is local, if local ones have more grants.
    ///
    /// The owner of a connection is looked up once; each of its requests is checked.
    mutating func findLocality(
        of exchange: inout Exchange, from id: ConnectionID, _ neighbor: inout Neighbor,
        _ outbox: inout Outbox
    ) {
        guard outbox.anonymous.differ, exchange.caller == nil, exchange.unverified == nil else {
            return
        }
        if neighbor == .unasked {
            prepareLocality(outbox)
            neighbor = locality.neighbor(at: outbox.loop.peer(of: id))
        }
        let stranger = Locality.stranger(
            neighbor, exchange.parser.head.forwardingField, exchange.origin)
        exchange.isLocal = stranger == nil
        if let stranger { tell(of: stranger, on: id, &outbox) }
    }

    /// Logs a caller that is not local, once a minute.
    ///
    /// Where there are keys, callers without one are refused every day.
    private func tell(of stranger: Stranger, on id: ConnectionID, _ outbox: inout Outbox) {
        let level: ServerLog.Level =
            outbox.anonymous.anyone.mayAuthenticate ? .debug : .warning
        guard outbox.log.level <= level else { return }
        let now = outbox.loop.now
        guard let untoldCount = shared.askers.strangers.withLock({ $0.admit(at: now) }) else {
            return
        }
        let peer = outbox.loop.peer(of: id)
        let ends = peer?.pair.map { "\($0.client) to \($0.server)" }
        outbox.log.write(
            level, "a caller without credentials is not local, and may do nothing",
            ("because", stranger.text),
            ("connection", ends ?? peer?.address.description ?? "closed"),
            ("do", Problem.remedyForStrangers), ("untoldBefore", "\(untoldCount)"))
    }
}
