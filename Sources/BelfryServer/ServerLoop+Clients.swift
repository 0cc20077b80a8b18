import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

// Clients: WebSocket sessions and event streams, from the opening to the removal.

extension ServerLoop {
    mutating func connect(
        _ transport: Transport, _ requests: [ObserverRequest], since: ReplayPosition?,
        _ submission: Submission
    ) throws(Problem) {
        guard case .http(let http) = submission.reply.form else {
            preconditionFailure("a client connects by a request")
        }
        for request in requests {
            try checkObserve(request.name, request.object, submission)
        }
        try reserveObservers(requests.count)
        let position = try makeCenter(submission.center)
        let client = try takeNumber(shared.clientNumbers)
        let secret = random.text(byteCount: 16)
        var session: [UInt8] = []
        IdentifierText.append(client: client, secret: secret, to: &session)
        let registration = ClientRegistration(
            id: client, transport: transport,
            connection: ConnectionName(
                node: 0,
                number: ConnectionNumber(
                    loop: submission.reply.loop, connection: submission.reply.connection
                ).rawValue),
            sessionHash: SecretHash(of: secret), principal: submission.caller.principal)
        // A position of another life of the center says nothing about this one.
        let epoch = centers[position].epoch
        let sequence = since.map { $0.epoch == epoch ? $0.sequence : 0 }
        var observers: [ObserverRegistration] = []
        for request in requests {
            observers.append(try makeRegistration(request, secret: random.text(byteCount: 16)))
        }
        submitCommand(
            .connect(registration, observers: observers, since: sequence), to: position,
            isPromise: false)
        try checkOutcome()
        if let since, since.epoch != epoch { tellForeignPosition(at: position, transport) }
        var answer = Answer()
        answer.sequel = .client(
            id: client, session: session, transport: transport, center: submission.center)
        var bytes: [UInt8] = []
        switch transport {
        case .webSocket:
            counters.clientsWebSocket += 1
            appendOpening(http, to: &bytes)
            appendWelcome(client, session: session, position, to: &bytes)
        case .events:
            counters.clientsEvents += 1
            appendStreamStart(http, client: client, to: &bytes)
        case .mailbox:
            break
        }
        sendRaw(bytes, answer.sequel, submission.reply)
        fanOut()
    }

    /// A position of another life of the center: nobody can know what was lost since (DESIGN 4).
    private mutating func tellForeignPosition(at position: Int, _ transport: Transport) {
        guard case .registered(let rows) = effects.outcome, let first = rows.first,
            let connection = centers[position].client(first.client)?.connection.number
        else { return }
        effects.notices.removeAll()
        for row in rows {
            let gap = Gap(
                observer: row.serial, selector: row.selector, lostCount: nil, firstSequence: 0,
                lastSequence: centers[position].sequence, reason: .unknown)
            effects.notices.append(.gap(connection: connection, transport: transport, gap))
        }
    }

    /// Sends bytes that are no usual response, and does what follows.
    mutating func sendRaw(_ bytes: [UInt8], _ sequel: Sequel, _ reply: Reply) {
        if reply.loop == number {
            let start = loop.output.count
            loop.output.append(contentsOf: bytes)
            loop.send(start..<loop.output.count, to: reply.connection, as: .answer)
            follow(sequel, on: reply.connection, nil)
        } else {
            sendElsewhere(bytes, sequel, reply)
        }
    }

    mutating func removeClient(
        _ id: UInt64, session: [UInt8]?, _ caller: Caller, center name: [UInt8]
    ) throws(Problem) {
        let position = centers.position(of: name)
        let client = position.flatMap { centers[$0].client(id) }
        let isAdmin = caller.grants.allowSome(.admin, center: name.span)
        guard let position, let client else {
            throw Problem(.notFound, "There is no such client.")
        }
        let isOwn = session.map { Self.speaks($0, for: client) } ?? false
        guard isOwn || isAdmin else {
            // Whoever knows no secret of the client learns nothing about it.
            throw Problem(.notFound, "There is no such client.")
        }
        let remover = isOwn ? Remover.client(id) : .principal(caller.principal)
        submitCommand(.removeClient(client: id, by: remover), to: position)
        try checkOutcome()
        fanOut()
    }

    /// Whether a session secret, whole or its secret half, is that of a client.
    static func speaks(_ session: [UInt8], for client: ClientRow) -> Bool {
        let secret = IdentifierText(client: session.span)?.secret ?? session
        return SecretHash(of: secret).matches(client.sessionHash)
    }
}
