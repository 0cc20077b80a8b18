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
        guard submission.caller.grants.allowAny(center: submission.center.span) else {
            throw Problem.lacking("observe", submission.caller, center: submission.center)
        }
        for request in requests {
            try checkObserve(request, submission)
        }
        let owner = owner(of: submission)
        try reserveObservers(requests.count, for: owner)
        let position = try makeCenter(for: submission)
        let client = try takeNumber(shared.clientNumbers)
        let secret = random.text(byteCount: 16)
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
            observers.append(try makeRegistration(request, secret: random.text(byteCount: 16)))
        }
        submitCommand(
            .connect(registration, observers: observers, since: sequence), to: position,
            isPromise: false)
        try checkOutcome()
        if let since, since.epoch != epoch, case .registered(let rows) = effects.outcome,
            let client = centers[position].client(client)
        {
            tellForeignPosition(of: rows, client, at: position)
        }
        let sequel = Sequel.client(
            id: client, session: session, transport: transport, center: submission.center)
        let isHere = submission.reply.loop == number
        // Bytes for a connection of this loop are written where they leave from.
        var bytes: [UInt8] = []
        if isHere { swap(&bytes, &loop.output) }
        let start = bytes.count
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
        if isHere {
            swap(&bytes, &loop.output)
            loop.send(start..<loop.output.count, to: submission.reply.connection, as: .answer)
            follow(sequel, on: submission.reply.connection, nil)
        } else {
            sendElsewhere(bytes, sequel, submission.reply)
        }
        fanOut()
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

    /// Removes a client with all of its observers.
    mutating func removeClient(
        _ id: UInt64, session: [UInt8]?, _ submission: Submission
    ) throws(Problem) {
        let (position, _, isOwn) = try controlledClient(id, session: session, submission)
        let remover = isOwn ? Remover.client(id) : .principal(submission.caller.principal)
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
