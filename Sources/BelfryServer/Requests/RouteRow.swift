import BelfryAccess

/// A path with one of its methods, and all that is decided by these two.
///
/// The contract has each path in `openapi.yaml`, and each need in Access.md, section 2.
struct RouteRow: Equatable, Sendable {
    /// GET has HEAD with it, unless what it gets never ends, or is acknowledged by being read.
    let method: AllowedMethods
    /// The path as the contract writes it: what stands in braces is what the request names.
    let path: String
    let use: Use
    let need: Need
    let secret: SecretPlace
    let guarding: Guarding
    let answering: Answering

    init(
        _ method: AllowedMethods, _ path: String, _ use: Use, _ need: Need,
        secret: SecretPlace = .none, guarding: Guarding = .credentials,
        answering: Answering = .whileServing
    ) {
        self.method = method
        self.path = path
        self.use = use
        self.need = need
        self.secret = secret
        self.guarding = guarding
        self.answering = answering
    }

    /// What a request of the route does.
    enum Use {
        /// It changes something.
        case acts
        /// It shows something, and the answer may be compressed.
        case looks
        /// It opens a stream: credentials may come as a ticket.
        case opens
    }

    /// Whether the path has a secret.
    enum SecretPlace {
        /// Nothing about it is secret.
        case none
        /// The secret may stand in the path, or in a field.
        case possible
        /// There is a secret, or the request is refused.
        case present
    }

    /// Who is let in before anything is read.
    enum Guarding {
        /// Everybody, pages of foreign origins too: health and files tell nothing of any center.
        case none
        /// Nobody but pages of foreign origins is refused; the path exists where the configuration says so.
        case debug
        /// Pages of foreign origins are refused, and credentials are looked at.
        case credentials
    }

    /// When the route is answered.
    enum Answering: Comparable {
        /// Before the broker stops.
        case whileServing
        /// Also while the broker stops.
        case onceRestored
        /// Also while the broker restores its state.
        case always
    }

    /// What a caller must have.
    indirect enum Need: Equatable, Sendable {
        case nothing
        case credentials
        /// Any verb on the center.
        case anyGrant
        /// One of these verbs on the name and the object of the request.
        case named(Verbs)
        /// One of these verbs on anything of the center.
        case somewhere(Verbs)
        /// One of these verbs on everything.
        case everywhere(Verbs)
        /// The token that the path names; without its secret half another need, if that helps.
        case token(or: Need?)
        /// The session of the client that the path names, or another need.
        case session(or: Need)
        /// To be who asked what the path names, or another need.
        case asker(or: Need)
    }
}

extension RouteRow.Need {
    /// The need as Access.md writes it.
    var text: String {
        switch self {
        case .nothing: "nothing"
        case .credentials: "credentials"
        case .anyGrant: "any grant on the center"
        case .named(let verbs): "\(Self.text(of: verbs)) named"
        case .somewhere(let verbs): "\(Self.text(of: verbs)) somewhere"
        case .everywhere(let verbs): "\(Self.text(of: verbs)) everywhere"
        case .token(or: nil): "the token, and no grant"
        case .token(or: let need?): "the token, or \(need.text)"
        case .session(or: let need): "the session (`Belfry-Session`), or \(need.text)"
        case .asker(or: let need): "who asked, or \(need.text)"
        }
    }

    private static func text(of verbs: Verbs) -> String {
        Verbs.names.filter { verbs.contains($0.verb) }.map { "`\($0.name)`" }
            .joined(separator: " or ")
    }
}
