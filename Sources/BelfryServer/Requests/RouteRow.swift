import BelfryAccess

/// A path with one of its methods, and the facts that these two decide.
///
/// The contract has each path in `openapi.yaml`, and each need in Access.md, section 2.
struct RouteRow: Equatable, Sendable {
    /// The method; GET includes HEAD, unless the answer is endless or reading it acknowledges.
    let method: AllowedMethods
    /// The path as written in the contract: the request fills in the braces.
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

    /// The effect of a request of the route.
    enum Use {
        /// The request changes something.
        case acts
        /// The request shows something, and the answer may be compressed.
        case looks
        /// The request opens a stream: credentials may come as a ticket.
        case opens
    }

    /// The place of a secret in the request.
    enum SecretPlace {
        /// There is no secret.
        case none
        /// The secret may be in the path, or in a field.
        case possible
        /// There is a secret, or the request is refused.
        case present
    }

    /// The callers that are admitted before anything is read.
    enum Guarding {
        /// All callers, pages of foreign origins too: health and files reveal nothing of a center.
        case none
        /// All but pages of foreign origins; the path exists where the configuration says so.
        case debug
        /// All but pages of foreign origins; credentials are checked.
        case credentials
    }

    /// The phases of the broker in which the route is answered.
    enum Answering: Comparable {
        /// Before the broker stops.
        case whileServing
        /// Also while the broker stops.
        case onceRestored
        /// Also while the broker restores its state.
        case always
    }

    /// The right that a caller needs.
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
        /// The token in the path; without its secret half another need, if that helps.
        case token(or: Need?)
        /// The session of the client in the path, or another need.
        case session(or: Need)
        /// To be the asker of the ask in the path, or another need.
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
