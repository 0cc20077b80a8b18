import BelfryAccess
import BelfryCenter
import BelfryWire

// Clients: WebSocket sessions and event streams, from the opening to the removal.

extension CenterHost {
    mutating func connect(
        _ transport: Transport, _ requests: [ObserverRequest], since: ReplayPosition?,
        _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        guard case .http(let http) = submission.reply.form else {
            preconditionFailure("a client connects by a request")
        }
        guard submission.caller.grants.allowAny(center: submission.center.span) else {
            throw Problem.lacking("observe", submission.caller, center: submission.center)
        }
        for request in requests {
            try checkObserve(request, submission)
        }
        let owner = owner(of: submission, &outbox)
        try reserveObservers(requests.count, for: owner, &outbox)
        let position = try makeCenter(for: submission, &outbox)
        let client = try takeNumber(shared.clientNumbers)
        let secret = outbox.random.text(byteCount: 16)
        let session = IdentifierText.text(client: client, secret: secret)
        let registration = ClientRegistration(
            id: client, transport: transport,
            connection: submission.reply.number.name,
            sessionHash: SecretHash(of: secret), principal: submission.caller.principal,
            owner: owner)
        // A position of another life of the center says nothing about this one.
        let epoch = centers[position].epoch
        let sequence = since.map { $0.epoch == epoch ? $0.sequence : 0 }
        var observers: [ObserverRegistration] = []
        for request in requests {
            observers.append(
                try makeRegistration(request, secret: outbox.random.text(byteCount: 16)))
        }
        submitCommand(
            .connect(registration, observers: observers, since: sequence), to: position,
            isPromise: false, &outbox)
        try checkOutcome()
        if let since, since.epoch != epoch, case .registered(let rows) = effects.outcome,
            let row = centers[position].client(client)
        {
            tellForeignPosition(of: rows, row, at: position)
        }
        let sequel = Sequel.client(
            id: client, session: session, transport: transport, center: submission.center)
        switch transport {
        case .webSocket:
            outbox.counters.clientsWebSocket += 1
            let welcome = Welcome(
                client: client, session: session, center: centers[position].name,
                epoch: epoch, sequence: centers[position].sequence)
            outbox.openWebSocket(welcome, http, sequel, submission.reply)
        case .events:
            outbox.counters.clientsEvents += 1
            outbox.openStream(of: client, http, sequel, submission.reply)
        case .mailbox:
            preconditionFailure("a mailbox is opened by its first observer")
        }
        fanOut(&outbox)
    }

    /// Removes a client with all of its observers.
    mutating func removeClient(
        _ id: UInt64, session: [UInt8]?, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        let (position, _, isOwn) = try controlledClient(id, session: session, submission)
        let remover = isOwn ? Remover.client(id) : .principal(submission.caller.principal)
        submitCommand(.removeClient(client: id, by: remover), to: position, &outbox)
        try checkOutcome()
        fanOut(&outbox)
    }

    /// Whether a session secret, whole or its secret half, is that of a client.
    static func speaks(_ session: [UInt8], for client: ClientRow) -> Bool {
        let secret = IdentifierText(client: session.span)?.secret ?? session
        return SecretHash(of: secret).matches(client.sessionHash)
    }
}
