import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryJSON
import BelfryWire

// Observers: who may have them, and who may see and remove them.

extension CenterHost {
    /// Checks that the caller may have this observer.
    mutating func checkObserve(
        _ request: ObserverRequest, _ submission: Submission
    ) throws(Problem) {
        let grants = submission.caller.grants
        func check(_ verb: Verbs, _ text: String) throws(Problem) {
            let isAllowed = grants.allow(
                verb, center: submission.center, name: request.name, object: request.object)
            if !isAllowed {
                throw Problem.lacking(
                    text, submission.caller, center: submission.center, name: request.name,
                    object: request.object)
            }
        }
        if request.name == nil, request.object == nil { try check(.wildcard, "wildcard") }
        try check(.observe, "observe")
        if request.asksAcknowledge { try check(.acknowledge, "acknowledge") }
        if request.asksForever { try check(.forever, "forever") }
        if request.asksLifetime { try check(.inspect, "inspect") }
    }

    mutating func makeRegistration(
        _ request: ObserverRequest, secret: [UInt8]
    ) throws(Problem) -> ObserverRegistration {
        ObserverRegistration(
            serial: try takeNumber(shared.observerSerials),
            tokenHash: SecretHash(of: secret), name: request.name, object: request.object,
            selector: request.selector, terms: request.terms)
    }

    /// The client that a session names, which gets an observer over HTTP.
    func client(
        of session: [UInt8], _ request: ObserverRequest, _ submission: Submission
    ) throws(Problem) -> UInt64 {
        let position = centers.position(of: submission.center)
        let number = IdentifierText(client: session.span)?.number
        let client = position.flatMap { position in
            number.flatMap { centers[position].client($0) }
        }
        guard let client, Self.speaks(session, for: client) else {
            throw Problem.noSession
        }
        try Self.checkPrincipal(of: client, submission)
        if client.transport == .mailbox { try Self.checkMailbox(request) }
        if client.state == .disconnected, request.terms.endsWithConnection {
            throw Problem.invalid([
                Problem.FieldError(
                    .pointer(.root.appending(key: "lifetime")),
                    "must be token while the client is away: there is no connection to end with")
            ])
        }
        return client.id
    }

    /// Whether a session secret, whole or its secret half, is that of a client.
    static func speaks(_ session: [UInt8], for client: ClientRow) -> Bool {
        let secret = IdentifierText(client: session.span)?.secret ?? session
        return SecretHash(of: secret).matches(client.sessionHash)
    }

    /// What a session opens is for its own principal alone: rows tell who has them.
    static func checkPrincipal(
        of client: ClientRow, _ submission: Submission
    ) throws(Problem) {
        guard client.principal == submission.caller.principal else {
            throw Problem(.forbidden, "The session belongs to another principal.")
        }
    }

    /// A mailbox is read: it acknowledges nothing else, and has no connection to end with.
    private static func checkMailbox(_ request: ObserverRequest) throws(Problem) {
        var errors: [Problem.FieldError] = []
        if request.terms.acknowledges {
            errors.append(
                Problem.FieldError(
                    .pointer(.root.appending(key: "acknowledge")),
                    "must be false for a mailbox, which is read"))
        }
        if request.terms.endsWithConnection {
            errors.append(
                Problem.FieldError(
                    .pointer(.root.appending(key: "lifetime")),
                    "must be token for a mailbox, which has no connection"))
        }
        if !errors.isEmpty { throw Problem.invalid(errors) }
    }

    /// Appends the observer that the last command has registered, with the token that its owner alone gets.
    mutating func registered(
        secret: [UInt8], session: [UInt8], _ submission: Submission, _ outbox: inout Outbox
    ) -> Answer {
        guard case .registered(let rows) = effects.outcome, let row = rows.first else {
            preconditionFailure("a registration that is not refused has its observer")
        }
        let token = IdentifierText.text(observer: row.serial, secret: secret)
        Shape.append(
            registered: row, token: token, session: session, center: submission.center,
            to: &outbox.content)
        // The answer to a call has no fields.
        guard case .http(let http) = submission.reply.form else {
            return Answer(contentType: .json)
        }
        let location = http.details.pathPrefix + Array("/observers/".utf8) + token
        return Answer(
            status: 201, contentType: .json,
            fields: [.noStore, .noReferrer, HTTPField("Location", location)])
    }

    /// Where the center is that has the observers which are asked for.
    func positionOfObservers(_ submission: Submission) throws(Problem) -> Int {
        guard let position = centers.position(of: submission.center) else {
            throw Problem.noObserver
        }
        return position
    }

    /// The observer that a path names, for whoever has its token or may do this to it anyway.
    func observer(
        _ secret: Secret, orBy verb: Verbs, _ submission: Submission
    ) throws(Problem) -> (position: Int, row: ObserverRow) {
        let position = try positionOfObservers(submission)
        let row = centers[position].observer(secret.number)
        let tombstone = row == nil ? centers[position].tombstone(secret.number) : nil
        guard let hash = row?.tokenHash ?? tombstone?.tokenHash else { throw Problem.noObserver }
        let isAllowed =
            if let text = secret.secret {
                SecretHash(of: text).matches(hash)
            } else {
                submission.caller.grants.allow(
                    verb, center: submission.center, name: row?.name ?? tombstone?.name,
                    object: row?.object ?? tombstone?.object)
            }
        guard isAllowed else { throw Problem.noObserver }
        if let tombstone { throw Problem(.observerRemoved(tombstone)) }
        guard let row else { throw Problem.noObserver }
        return (position, row)
    }

    /// The observer whose whole token the caller has; nothing else opens a mailbox.
    func ownObserver(
        _ secret: Secret, _ submission: Submission
    ) throws(Problem) -> (position: Int, row: ObserverRow) {
        guard secret.secret != nil else { throw Problem.noObserver }
        let (position, row) = try observer(secret, orBy: [], submission)
        guard row.transport == .mailbox else { throw Problem(Refusal.noMailbox) }
        return (position, row)
    }
}
