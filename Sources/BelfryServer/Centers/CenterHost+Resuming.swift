import BelfryAccess
import BelfryCenter
import BelfryWire

// Suspension that is asked for, acknowledgements, and clients that come back.

extension CenterHost {
    /// Suspends a client, or lets it go on.
    mutating func setSuspended(
        _ isSuspended: Bool, client: UInt64, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        guard let position = centers.position(of: submission.center) else {
            throw Problem.noClient
        }
        submitCommand(.setSuspended(client: client, isSuspended), to: position, &outbox)
        try checkOutcome()
        outbox.tellSuspension(of: client, isSuspended, because: "asked")
    }

    /// Suspends the client that a path names (PATCH /v1/clients/{id}), and answers with its row.
    mutating func suspendClient(
        _ id: UInt64, session: [UInt8]?, _ isSuspended: Bool, _ submission: Submission,
        _ outbox: inout Outbox
    ) throws(Problem) -> Answer {
        let (position, _, _) = try controlledClient(id, session: session, submission)
        try setSuspended(isSuspended, client: id, submission, &outbox)
        guard let row = centers[position].client(id) else { throw Problem.noClient }
        Shape.append(
            client: row, unsentByteCount: outbox.unsentByteCount(of: row), to: &outbox.content)
        return .json
    }

    /// The client that the caller may control: its own by the session, any as an admin.
    ///
    /// Whoever knows no secret of the client learns nothing about it.
    func controlledClient(
        _ id: UInt64, session: [UInt8]?, _ submission: Submission
    ) throws(Problem) -> (position: Int, client: ClientRow, isOwn: Bool) {
        guard let position = centers.position(of: submission.center),
            let client = centers[position].client(id)
        else { throw Problem.noClient }
        let isOwn = session.map { Self.speaks($0, for: client) } ?? false
        let grants = submission.caller.grants
        // A client has neither name nor object: it takes an admin of all of them.
        guard isOwn || grants.allow(.admin, center: submission.center, name: nil, object: nil)
        else {
            throw Problem.noClient
        }
        return (position, client, isOwn)
    }

    // MARK: Acknowledging

    /// Takes a response as the acknowledgement of a delivery; one with an unknown id is ignored.
    mutating func acknowledge(
        _ id: [UInt8], error: Range<Int>?, _ frame: CallFrame, _ outbox: inout Outbox
    ) {
        guard let (observer, sequence) = RPC.delivery(ofID: id.span),
            let position = centers.position(of: frame.submission.center)
        else { return }
        var refusal: [UInt8]?
        if let error { refusal = RPC.refusal(error: frame.text.span.extracting(error)) }
        // Whoever loses an acknowledgement gets the notification again: nobody waits for the store.
        submitCommand(
            .acknowledge(
                client: frame.client.number, observer: observer, sequence: sequence,
                error: refusal), to: position, isPromise: false, &outbox)
    }

    // MARK: Resuming

    /// Lets the connection of a call go on as an earlier client, and appends the result.
    ///
    /// What was held must come behind the answer, so the call stands alone in its frame.
    mutating func resume(
        _ request: ResumeRequest, _ frame: inout CallFrame, _ outbox: inout Outbox
    ) throws(Problem) -> Sequel {
        let submission = frame.submission
        guard frame.isAlone else {
            throw Problem(
                .invalidFields,
                "A resume is alone in its message: send other calls after its answer.")
        }
        let (position, client) = try resumableClient(request, submission)
        let center = centers[position]
        let isForeign = request.epoch.map { $0 != center.epoch } ?? false
        // A position of another life of the center says nothing about this one.
        let after = isForeign ? 0 : request.after
        let resumption = Resumption(
            newcomer: frame.client.number, client: client.id, after: after)
        submitCommand(.resume(resumption), to: position, isPromise: false, &outbox)
        try checkOutcome()
        guard case .resumed(let resumed) = effects.outcome else {
            preconditionFailure("a resumption that is not refused has its client")
        }
        outbox.tellSuspension(of: client.id, false, because: "away")
        if isForeign { tellForeignPosition(of: resumed.observers, resumed.row, at: position) }
        Shape.append(resumed: resumed, center: submission.center, to: &outbox.content)
        var session: [UInt8] = []
        IdentifierText.append(client: client.id, secret: request.session.secret, to: &session)
        frame.client = CallingClient(number: client.id, session: session)
        return .client(
            id: client.id, session: session, transport: .webSocket, center: submission.center)
    }

    /// The client that a session speaks for, if the caller is who it was.
    private func resumableClient(
        _ request: ResumeRequest, _ submission: Submission
    ) throws(Problem) -> (position: Int, client: ClientRow) {
        guard let position = centers.position(of: submission.center),
            let client = centers[position].client(request.session.number),
            let secret = request.session.secret,
            SecretHash(of: secret).matches(client.sessionHash)
        else { throw Problem.noSession }
        try Self.checkPrincipal(of: client, submission)
        return (position, client)
    }

    /// A position of another life of the center: nobody can know what was lost since (decision 21).
    mutating func tellForeignPosition(
        of observers: [ObserverRow], _ client: ClientRow, at position: Int
    ) {
        effects.notices.removeAll { notice in
            if case .gap(_, _, let gap) = notice { gap.reason == .unknown } else { false }
        }
        for row in observers {
            let gap = Gap(
                observer: row.serial, selector: row.selector, lostCount: nil, firstSequence: 0,
                lastSequence: centers[position].sequence, reason: .unknown)
            effects.notices.append(
                .gap(
                    connection: client.connection.number, transport: client.transport, gap))
        }
    }
}

extension Problem {
    /// What is said of a client that is not there, or that the caller may not know of.
    static let noClient = Problem(.notFound, "There is no such client.")

    /// What is said of a session that nobody has.
    static let noSession = Problem(
        .notFound, "The session is not that of a client of this center.")
}
