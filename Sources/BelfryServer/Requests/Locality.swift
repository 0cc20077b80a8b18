import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfrySystem

/// Decides whether callers without credentials are local, if that gives more grants (decision 112).
///
/// A caller is local when a process of the broker's own user, or of root, has the other end of its
/// connection, and nothing in its request shows that a proxy has passed it on. A plain proxy leaves
/// no trace in its requests, and one of the broker's own user has the other end itself: both checks
/// are needed.
struct Locality {
    /// The way to look owners up; nil until a request needs it.
    private var owners: SocketOwners?

    /// Finds out how to look owners up, while no caller waits for an answer.
    ///
    /// - Returns: Whether there is a way, or it was found before.
    mutating func prepare() -> Bool {
        guard owners == nil else { return true }
        let made = SocketOwners()
        owners = made
        return made.means != .none
    }

    /// Looks up the owner of the other end of a connection.
    mutating func neighbor(at peer: ConnectionPeer?) -> Neighbor {
        guard let peer, peer.address.isLoopback else { return .stranger(.elsewhere) }
        switch peer.owner({ owners ?? SocketOwners() }) {
        case .user(let user) where user == 0 || user == SocketOwner.ownUser: return .own
        case .user(let user): return .stranger(.user(user))
        case .nobody: return .stranger(.nobody)
        case .untold: return .own
        }
    }

    /// The reason why the caller of a request is not local; nil where it is.
    static func stranger(
        _ neighbor: Neighbor, _ field: ForwardingField?, _ origin: RequestOrigin?
    ) -> Stranger? {
        if case .stranger(let stranger) = neighbor { return stranger }
        guard let field else { return nil }
        let isNamed = origin.map { $0.isNamed && $0.address.isLoopback } ?? false
        return isNamed ? nil : .passedOn(field)
    }
}
