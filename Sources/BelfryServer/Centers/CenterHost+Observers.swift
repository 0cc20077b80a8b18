import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryJSON
import BelfryWire

// Observers over HTTP: registered with a session, read and removed with a token.

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

    /// Registers an observer for a client that is named by its session, or for a mailbox of its own
    /// (POST /v1/observers).
    mutating func addObserver(
        _ request: ObserverRequest, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Answer {
        guard let session = request.session else {
            return try openMailbox(request, submission, &outbox)
        }
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
        let (row, token) = try register(request, client: client.id, submission, &outbox)
        return registered(row, token: token, session: session, submission, &outbox)
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

    /// Appends an observer that was registered, with the token that its owner alone gets.
    mutating func registered(
        _ row: ObserverRow, token: [UInt8], session: [UInt8], _ submission: Submission,
        _ outbox: inout Outbox
    ) -> Answer {
        Shape.append(
            registered: row, token: token, session: session, center: submission.center,
            to: &outbox.content)
        var answer = Answer(status: 201, contentType: .json)
        answer.fields = [.noStore, .noReferrer]
        if case .http(let http) = submission.reply.form {
            let location = http.details.pathPrefix + Array("/observers/".utf8) + token
            answer.fields.append(HTTPField("Location", location))
        }
        return answer
    }

    /// Registers an observer, and gives its row and its token.
    mutating func register(
        _ request: ObserverRequest, client: UInt64, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> (ObserverRow, token: [UInt8]) {
        try checkObserve(request, submission)
        try reserveObservers(1, for: owner(of: submission, &outbox), &outbox)
        if !request.terms.endsWithConnection { try checkStore() }
        guard let position = centers.position(of: submission.center) else {
            throw Problem.noClient
        }
        if request.since != nil { outbox.work.countLook(through: centers[position].replayCount) }
        let secret = outbox.random.text(byteCount: 16)
        let registration = try makeRegistration(request, secret: secret)
        submitCommand(
            .addObserver(registration, client: client, since: request.since), to: position, &outbox)
        try checkOutcome()
        guard case .registered(let rows) = effects.outcome, let row = rows.first else {
            preconditionFailure("a registration that is not refused has its observer")
        }
        return (row, IdentifierText.text(observer: row.serial, secret: secret))
    }

    /// The observer that the caller may remove: the token's holder, or an admin.
    func removableObserver(
        _ secret: Secret, _ caller: Caller, center name: [UInt8]
    ) throws(Problem) -> UInt64 {
        let unknown = Problem.noObserver
        guard let position = centers.position(of: name) else { throw unknown }
        let center = centers[position]
        let row = center.observer(secret.number)
        let tombstone = row == nil ? center.tombstone(secret.number) : nil
        guard let hash = row?.tokenHash ?? tombstone?.tokenHash else { throw unknown }
        if let text = secret.secret {
            guard SecretHash(of: text).matches(hash) else { throw unknown }
        } else {
            let isAdmin = caller.grants.allow(
                .admin, center: name, name: row?.name ?? tombstone?.name,
                object: row?.object ?? tombstone?.object)
            guard isAdmin else { throw unknown }
        }
        if let tombstone { throw Problem(.observerRemoved(tombstone)) }
        return secret.number
    }

    /// Removes an observer and tells its owner.
    mutating func removeObserver(
        _ serial: UInt64, by remover: Remover, center name: [UInt8], _ outbox: inout Outbox
    ) throws(Problem) {
        guard let position = centers.position(of: name) else {
            throw Problem.noObserver
        }
        submitCommand(.removeObserver(serial: serial, by: remover), to: position, &outbox)
        try checkOutcome()
        if outbox.configuration.loopCount > 1 { shared.removedObservers.insert(serial) }
        fanOut(&outbox)
    }
}
