import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfrySystem

/// Decides whether callers without credentials are local, where that lets them do more (decision
/// 112).
///
/// A caller is local when a process of the broker's own user, or of root, has the other end of its
/// connection, and nothing in its request shows that a proxy has passed it on. A plain proxy shows
/// nothing in its requests, and one of the broker's own user has an own end: so it takes both.
struct Locality {
    /// The way to ask the system for owners; nil until a request needs it.
    private var owners: SocketOwners?

    /// Finds out how the system can be asked, while no caller waits for an answer.
    ///
    /// - Returns: Whether it can be asked, or was found before.
    mutating func prepare() -> Bool {
        guard owners == nil else { return true }
        let made = SocketOwners()
        owners = made
        return made.means != .none
    }

    /// Asks who has the other end of a connection.
    mutating func neighbor(at peer: ConnectionPeer?) -> Neighbor {
        guard let peer, peer.address.isLoopback else { return .stranger(.elsewhere) }
        switch peer.owner({ owners ?? SocketOwners() }) {
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
