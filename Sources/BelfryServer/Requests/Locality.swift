import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

/// Decides whether callers without credentials are local, where that lets them do more (decision
/// 112).
///
/// A caller is local when a process of the broker's own user, or of root, has the other end of its
/// connection, and nothing in its request shows that a proxy has passed it on. A plain proxy shows
/// nothing in its requests, and one of the broker's own user has an own end: so it takes both.
struct Locality {
    /// The way to ask the system for owners; nil until a request needs it.
    private var owners: SocketOwners?

    /// Finds out how the system can be asked, while nobody waits for an answer.
    mutating func prepare(_ outbox: borrowing Outbox) {
        guard outbox.anonymous.differ, owners == nil else { return }
        let made = SocketOwners()
        owners = made
        guard made.means == .none, outbox.number == 0 else { return }
        outbox.log.write(
            .warning,
            "the system does not say which user has the other end of a connection: "
                + "programs of all users of this machine count as local",
            ("do", "give callers keys (--keys), or say what everybody may do (--anonymous-grants)"))
    }

    /// Asks who has the other end of a connection.
    mutating func neighbor(at peer: ConnectionPeer?, _ outbox: borrowing Outbox) -> Neighbor {
        guard let peer, peer.address.isLoopback else { return .stranger(.elsewhere) }
        let owner = peer.owner {
            prepare(outbox)
            return owners ?? SocketOwners()
        }
        switch owner {
        case .user(let user) where user == 0 || user == SocketOwner.ownUser: return .own
        case .user(let user): return .stranger(.user(user))
        case .nobody: return .stranger(.nobody)
        case .untold: return .own
        }
    }

    /// Why the caller of a request is not local; nil where it is.
    static func stranger(
        _ neighbor: Neighbor, _ field: ForwardingField?, _ origin: RequestOrigin?
    ) -> Stranger? {
        if case .stranger(let stranger) = neighbor { return stranger }
        guard let field else { return nil }
        let isNamed = origin.map { $0.isNamed && $0.address.isLoopback } ?? false
        return isNamed ? nil : .passedOn(field)
    }
}

extension Gate {
    /// Finds out whether a caller is local, if it shows no credentials and local ones may do more.
    ///
    /// A connection is asked for once; each of its requests is looked at.
    mutating func findLocality(
        of exchange: inout Exchange, from id: ConnectionID, _ neighbor: inout Neighbor,
        _ outbox: inout Outbox
    ) {
        guard outbox.anonymous.differ, exchange.caller == nil, exchange.unverified == nil else {
            return
        }
        if neighbor == .unasked {
            neighbor = locality.neighbor(at: outbox.loop.peer(of: id), outbox)
        }
        let stranger = Locality.stranger(
            neighbor, exchange.parser.head.forwardingField, exchange.origin)
        exchange.isLocal = stranger == nil
        if let stranger { tell(of: stranger, on: id, &outbox) }
    }

    /// Tells the log of a caller that is not local, once a minute.
    ///
    /// Where there are keys a caller without one is refused every day.
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
