import BelfryAccess
import BelfryCenter
import BelfryJSON
import BelfryWire

// The right to find clients and observers: a caller without a secret of one learns nothing about
// it.

extension CenterTable {
    /// The client that the caller may control: its own by the session, any as an admin.
    func controlledClient(
        _ id: UInt64, session: [UInt8]?, _ submission: Submission
    ) throws(Problem) -> (position: Int, isOwn: Bool) {
        guard let position = position(of: submission.center),
            let client = self[position].client(id)
        else { throw Problem.noClient }
        let isOwn = session.map { client.speaks($0) } ?? false
        let grants = submission.caller.grants
        // A client has neither name nor object: it takes an admin of all of them.
        guard isOwn || grants.allow(.admin, center: submission.center, name: nil, object: nil)
        else {
            throw Problem.noClient
        }
        return (position, isOwn)
    }

    /// The client that a session names, which gets an observer over HTTP.
    func client(
        of session: [UInt8], _ request: ObserverRequest, _ submission: Submission
    ) throws(Problem) -> UInt64 {
        guard let number = IdentifierText(client: session.span)?.number,
            let position = position(of: submission.center),
            let client = self[position].client(number), client.speaks(session)
        else { throw Problem.noSession }
        try client.checkPrincipal(submission)
        if client.transport == .mailbox { try request.checkMailbox() }
        if client.state == .disconnected, request.terms.endsWithConnection {
            throw Problem.invalid([
                Problem.FieldError(
                    .pointer(.root.appending(key: "lifetime")),
                    "must be token while the client is away: there is no connection to end with")
            ])
        }
        return client.id
    }

    /// The position of the center with the requested observers.
    func positionOfObservers(_ submission: Submission) throws(Problem) -> Int {
        guard let position = position(of: submission.center) else {
            throw Problem.noObserver
        }
        return position
    }

    /// The observer that a path names, for a caller with its token or with the right to act on it.
    func observer(
        _ secret: Secret, orBy verb: Verbs, _ submission: Submission
    ) throws(Problem) -> (position: Int, row: ObserverRow) {
        let position = try positionOfObservers(submission)
        let row = self[position].observer(secret.number)
        let tombstone = row == nil ? self[position].tombstone(secret.number) : nil
        guard let hash = row?.tokenHash ?? tombstone?.tokenHash else { throw Problem.noObserver }
        let isAllowed =
            if let text = secret.secret {
                SecretHash(of: text).matches(hash)
            } else {
                (row?.reach ?? tombstone?.reach)?.isAllowed {
                    submission.caller.grants.allow(
                        verb, center: submission.center, name: $0, object: $1)
                } ?? false
            }
        guard isAllowed else { throw Problem.noObserver }
        if let tombstone { throw Problem(.observerRemoved(tombstone)) }
        guard let row else { throw Problem.noObserver }
        return (position, row)
    }

    /// The observer whose whole token the caller has; a mailbox needs it.
    func ownObserver(
        _ secret: Secret, _ submission: Submission
    ) throws(Problem) -> (position: Int, row: ObserverRow) {
        guard secret.secret != nil else { throw Problem.noObserver }
        let (position, row) = try observer(secret, orBy: [], submission)
        guard row.transport == .mailbox else { throw Problem(Refusal.noMailbox) }
        return (position, row)
    }

    /// The reason why a mailbox cannot be read any more.
    func endOfReading(_ observer: UInt64, at position: Int?) -> Problem {
        let tombstone = position.flatMap { self[$0].tombstone(observer) }
        return tombstone.map { Problem(.observerRemoved($0)) } ?? Problem.readerReplaced
    }
}

extension ClientRow {
    /// Whether a session, whole or its secret half, is that of the client.
    func speaks(_ session: [UInt8]) -> Bool {
        let secret = IdentifierText(client: session.span)?.secret ?? session
        return SecretHash(of: secret).matches(sessionHash)
    }

    /// Checks that a client is of the caller's principal: rows show their principals.
    func checkPrincipal(_ submission: Submission) throws(Problem) {
        guard principal == submission.caller.principal else {
            throw Problem(.forbidden, "The session belongs to another principal.")
        }
    }
}

extension ObserverRequest {
    /// Checks a mailbox's terms: it acknowledges only actions, and has no connection to end with.
    fileprivate func checkMailbox() throws(Problem) {
        var errors: [Problem.FieldError] = []
        if terms.acknowledges, role.target == nil {
            errors.append(
                Problem.FieldError(
                    .pointer(.root.appending(key: "acknowledge")),
                    "must be false for a mailbox, which acknowledges by after"))
        }
        if terms.endsWithConnection {
            errors.append(
                Problem.FieldError(
                    .pointer(.root.appending(key: "lifetime")),
                    "must be token for a mailbox, which has no connection"))
        }
        if !errors.isEmpty { throw Problem.invalid(errors) }
    }
}

extension Problem {
    /// The problem of an unknown client, or of one that the caller may not use.
    static let noClient = Problem(
        .notFound, "No client has this id, or you may not use the client.")

    /// The problem of an unknown session.
    static let noSession = Problem(
        .notFound, "No client of this center has this session.")

    /// The problem of an unknown observer, or of one that the caller may not use.
    static let noObserver = Problem(
        .notFound, "No observer has this id, or you may not use the observer.")
}
