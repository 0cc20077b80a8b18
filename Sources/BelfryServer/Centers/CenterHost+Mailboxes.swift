import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire

// Mailboxes: clients without a connection, read by whoever has the token of an observer.

extension CenterHost {
    /// Makes a mailbox with its first observer (POST /v1/observers without a session).
    mutating func openMailbox(
        _ request: ObserverRequest, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Answer {
        try checkObserve(request, submission)
        let owner = owner(of: submission, &outbox)
        try reserveObservers(1, for: owner, &outbox)
        try checkStore()
        let position = try makeCenter(for: submission, &outbox)
        let client = try takeNumber(shared.clientNumbers)
        let secrets = (
            session: outbox.random.text(byteCount: 16), token: outbox.random.text(byteCount: 16)
        )
        let registration = ClientRegistration(
            id: client, transport: .mailbox, connection: ConnectionName(node: 0, number: 0),
            sessionHash: SecretHash(of: secrets.session), principal: submission.caller.principal,
            owner: owner)
        let observer = try makeRegistration(request, secret: secrets.token)
        submitCommand(
            .connect(registration, observers: [observer], since: request.since), to: position,
            &outbox)
        try checkOutcome()
        guard case .registered(let rows) = effects.outcome, let row = rows.first else {
            preconditionFailure("a mailbox that is not refused has its observer")
        }
        outbox.counters.clientsMailbox += 1
        var session: [UInt8] = []
        IdentifierText.append(client: client, secret: secrets.session, to: &session)
        var token: [UInt8] = []
        IdentifierText.append(observer: row.serial, secret: secrets.token, to: &token)
        return registered(row, token: token, session: session, submission, &outbox)
    }

    /// Acknowledges what was read, and answers with what the mailbox has; nil if the answer waits.
    mutating func readMailbox(
        _ secret: Secret, _ request: MailboxRequest, wait: Int64, _ submission: Submission,
        _ outbox: inout Outbox
    ) throws(Problem) -> Answer? {
        let (position, observer) = try ownObserver(secret, submission)
        // A number above all others would acknowledge what is still to come.
        let through = request.after.map { min($0, centers[position].sequence) }
        // Whoever loses an acknowledgement gets the notifications again.
        submitCommand(
            .readMailbox(observer: observer.serial, through: through), to: position,
            isPromise: false, &outbox)
        try checkOutcome()
        fanOut(&outbox)
        let look = MailboxRequest(after: through, limit: request.limit)
        let page = centers[position].mailbox(
            of: observer.serial, after: through ?? 0, limit: request.limit)
        guard let page else { throw Problem(Refusal.noMailbox) }
        let isEmpty = page.notifications.isEmpty && page.gaps.isEmpty
        guard isEmpty, wait > 0, !outbox.life.isStopping else {
            return answer(page, of: observer.serial, &outbox)
        }
        let connection = submission.reply.number
        submitCommand(
            .attachReader(observer: observer.serial, connection.name, isStream: false),
            to: position, isPromise: false, &outbox)
        try checkOutcome()
        park(
            Poll(
                observer: observer.serial, look: look, submission: submission,
                deadline: min(
                    outbox.loop.now + .nanoseconds(min(wait, maxWait)),
                    outbox.credentialDeadline(of: submission.caller))), &outbox)
        return nil
    }

    /// Appends a page of a mailbox.
    mutating func answer(_ page: MailboxPage, of observer: UInt64, _ outbox: inout Outbox) -> Answer
    {
        Shape.append(mailbox: page, observer: observer, to: &outbox.content)
        return .json
    }

    /// Makes the connection of a request the stream of a mailbox, and writes what it has.
    mutating func openStream(
        _ secret: Secret, since: ReplayPosition?, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        guard case .http(let http) = submission.reply.form else {
            preconditionFailure("a stream is opened by a request")
        }
        let (position, observer) = try ownObserver(secret, submission)
        let isForeign = since.map { $0.epoch != centers[position].epoch } ?? false
        let through = isForeign ? nil : since.map { min($0.sequence, centers[position].sequence) }
        submitCommand(
            .readMailbox(observer: observer.serial, through: through), to: position,
            isPromise: false, &outbox)
        try checkOutcome()
        fanOut(&outbox)
        let connection = submission.reply.number
        submitCommand(
            .attachReader(observer: observer.serial, connection.name, isStream: true),
            to: position, isPromise: false, &outbox)
        try checkOutcome()
        if isForeign {
            let gap = Gap(
                observer: observer.serial, selector: observer.selector, lostCount: nil,
                firstSequence: 0, lastSequence: centers[position].sequence, reason: .unknown)
            effects.notices.append(
                .gap(connection: connection.rawValue, transport: .events, gap))
        }
        polls.streams[connection.rawValue] = observer.serial
        outbox.counters.clientsEvents += 1
        let sequel = Sequel.stream(
            observer: observer.serial, client: observer.client, center: submission.center)
        outbox.openStream(of: observer.client, http, sequel, submission.reply)
        fanOut(&outbox)
    }

    /// The observer whose whole token the caller has; nothing else opens a mailbox.
    private func ownObserver(
        _ secret: Secret, _ submission: Submission
    ) throws(Problem) -> (position: Int, row: ObserverRow) {
        guard let position = centers.position(of: submission.center), let text = secret.secret
        else {
            throw Problem.noObserver
        }
        let hash = SecretHash(of: text)
        if let row = centers[position].observer(secret.number), hash.matches(row.tokenHash) {
            guard row.transport == .mailbox else { throw Problem(Refusal.noMailbox) }
            return (position, row)
        }
        if let tombstone = centers[position].tombstone(secret.number),
            hash.matches(tombstone.tokenHash)
        {
            throw Problem(.observerRemoved(tombstone))
        }
        throw Problem.noObserver
    }
}
