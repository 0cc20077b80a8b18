import BelfryAccess
import BelfryBytes
import BelfryHTTP
import BelfryLoop
import BelfryWire

/// Checks by the head of a request: host, address, path, origin, method, credentials.
///
/// It answers nothing, and knows connections by their ids alone: its findings are in the exchange.
struct Gate {
    let shared: SharedState
    var policies: AccessPolicies
    var credentials: Credentials
    var locality = Locality()

    init(_ configuration: ServerConfiguration, _ shared: SharedState) {
        self.shared = shared
        policies = AccessPolicies(configuration)
        credentials = Credentials(configuration.keyring)
        shared.askers.rates.adopt(configuration)
    }

    /// Adopts a changed configuration.
    mutating func adopt(_ configuration: ServerConfiguration) {
        policies = AccessPolicies(configuration)
        shared.askers.rates.adopt(configuration)
    }

    /// Decides as much as the head alone allows.
    ///
    /// For a plain post that is all: it comes from no page, and has no credentials.
    ///
    /// - Parameters:
    ///   - id: the connection.
    ///   - neighbor: the owner of the other end, which is looked up where it matters.
    mutating func check(
        _ exchange: inout Exchange, from id: ConnectionID, _ neighbor: inout Neighbor,
        _ outbox: inout Outbox
    ) throws(Problem) {
        noteOrigin(&exchange)
        if exchange.parser.head.expectation == .unknown {
            throw Problem(.expectationFailed, "The only supported expectation is 100-continue.")
        }
        if exchange.parser.head.targetForm == .authority {
            throw Problem(.notImplemented, "The broker is not a proxy.")
        }
        try checkHost(&exchange)
        if policies.hasRates { try chargeAddress(&exchange, &outbox) }
        if !outbox.life.takesNothing, outbox.log.level > .debug,
            let template = exchange.findTemplate(limits: outbox.configuration.wireLimits)
        {
            exchange.template = template
            findLocality(of: &exchange, from: id, &neighbor, &outbox)
            exchange.canRepeat =
                !policies.needsOrigin && exchange.isLocal == outbox.anonymous.differ
            exchange.parser.bodyByteLimit = outbox.configuration.bodyByteLimit
            return
        }
        let path = try exchange.findPath(
            hasDebugEndpoints: outbox.configuration.hasDebugEndpoints)
        let facts = path.facts
        if facts.secret != .none { noteSecret(facts.secret, &exchange) }
        if outbox.life.takesNothing { try checkLife(facts.answering) }
        try checkOrigin(facts.guarding, &exchange)
        if let entry = exchange.path?.entry {
            if facts.guarding == .credentials {
                try checkCredentials(entry, &exchange, &outbox)
                findLocality(of: &exchange, from: id, &neighbor, &outbox)
            }
            if entry.route == .service(.debugEcho) { return }
            try checkCoding(&exchange)
        } else if exchange.parser.head.method != .options {
            let allowed = facts.methods.text
            exchange.refusalFields = [HTTPField("Allow", allowed)]
            throw Problem(.methodNotAllowed, "This path supports \(allowed).")
        }
        exchange.parser.bodyByteLimit = outbox.configuration.bodyByteLimit
    }

    /// Refuses requests that a stopping or starting broker does not answer.
    private func checkLife(_ answering: RouteRow.Answering) throws(Problem) {
        if let progress = shared.progress {
            if answering < .always { throw .isRestoring(progress) }
        } else if answering < .onceRestored {
            throw .isStopping
        }
    }

    /// Refuses encoded content, since content is read as it is (RFC 9110 §12.5.3).
    private func checkCoding(_ exchange: inout Exchange) throws(Problem) {
        guard exchange.parser.head.uncommonFields.contains(.contentEncoding),
            exchange.parser.head.hasContent
        else { return }
        exchange.refusalFields = [HTTPField("Accept-Encoding", "identity")]
        throw Problem(
            .unsupportedMediaType, "The content is encoded (Content-Encoding): send it as it is.")
    }

    /// Notes whether the target has a secret: in its path, or in a field beside it.
    private mutating func noteSecret(_ place: RouteRow.SecretPlace, _ exchange: inout Exchange) {
        let isInPath = exchange.path?.argument.contains(UInt8(ascii: ".")) ?? false
        if place == .present || isInPath || exchange.parser.head.field("belfry-token") != nil {
            exchange.reply.details.hasSecretTarget = true
        }
    }

    // MARK: Hosts and origins

    /// Refuses a foreign name that resolves to this machine (DNS rebinding).
    private mutating func checkHost(_ exchange: inout Exchange) throws(Problem) {
        // Most requests name the same host as the one before.
        let isKnown = bytesAreEqual(exchange.parser.head.hostName, policies.allowedHost.span)
        if isKnown, exchange.origin?.host == nil { return }
        let name = Self.hostName(&exchange)
        if name.isEmpty { return }
        if policies.host.allows(host: name) {
            policies.allowedHost = name
        } else {
            throw Problem(
                .unknownHost,
                "The broker does not serve this host name; allow it with --allow-host."
            )
        }
    }

    /// The requested host name: a listed proxy may name another than `Host`.
    private static func hostName(_ exchange: inout Exchange) -> [UInt8] {
        guard let host = exchange.origin?.host else {
            return [UInt8](copying: exchange.parser.head.hostName)
        }
        // The colon of a port is behind the bracket of an IPv6 address.
        guard let colon = host.lastIndex(of: UInt8(ascii: ":")),
            !host[colon...].contains(UInt8(ascii: "]"))
        else { return host }
        return Array(host[..<colon])
    }

    /// Notes whether the page may read the answer, whatever that will be.
    private mutating func noteOrigin(_ exchange: inout Exchange) {
        switch exchange.parser.head.method {
        case .get, .head, .options:
            // A cache must not give one page the answer that was for another (RFC 9110 §12.5.5).
            exchange.reply.variesByOrigin = true
        case .post, .put, .delete, .patch, .trace, .connect, .other: break
        }
        guard exchange.parser.head.uncommonFields.contains(.origin),
            let origin = exchange.parser.head.copy(of: "origin")
        else { return }
        exchange.reply.variesByOrigin = true
        if policies.origin.isListed(origin: origin) {
            exchange.reply.details.allowedOrigin = origin
        }
    }

    /// Refuses pages of foreign origins, which make, change and read nothing (decision 59).
    private mutating func checkOrigin(
        _ guarding: RouteRow.Guarding, _ exchange: inout Exchange
    ) throws(Problem) {
        let fields = exchange.parser.head.uncommonFields
        guard !fields.isDisjoint(with: [.origin, .fetchSite]) else { return }
        switch exchange.parser.head.method {
        // The answer to its preflight says what a page may do.
        case .options: return
        case .get, .head:
            if guarding == .none { return }
        case .post, .put, .delete, .patch, .trace, .connect, .other: break
        }
        guard isOfKnownPage(&exchange) else {
            throw Problem(
                .foreignOrigin,
                "Pages of this origin may not do this; allow the origin with --allow-origin.")
        }
    }

    /// Whether the page of the request may use the broker.
    ///
    /// Images, scripts and navigations have no `Origin`: then a browser says only whether the
    /// origin is another one (Fetch Metadata), and not which.
    private mutating func isOfKnownPage(_ exchange: inout Exchange) -> Bool {
        guard let origin = exchange.parser.head.copy(of: "origin") else {
            return policies.origin.allows(
                fetchSite: exchange.parser.head.copy(of: "sec-fetch-site") ?? [])
        }
        let host = exchange.origin?.host ?? [UInt8](copying: exchange.parser.head.authority)
        let isSecure = exchange.origin?.isSecure ?? exchange.isSecure
        return policies.origin.allows(origin: origin, host: host, isSecure: isSecure)
    }
}
