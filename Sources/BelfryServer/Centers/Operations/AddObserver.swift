import BelfryAccess
import BelfryCenter
import BelfryWire

/// The registration of an observer, for a client that exists.
struct AddObserver: Operation {
    static let answersFirst = true
    let request: ObserverRequest
    /// The client, if a call of it asks; otherwise the session names it.
    var client: UInt64?
    /// The whole session of the client.
    let session: [UInt8]
    /// The secret half of the token.
    private var secret: [UInt8] = []

    init(_ request: ObserverRequest, client: UInt64?, session: [UInt8]) {
        self.request = request
        self.client = client
        self.session = session
    }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        let client =
            if let client { client } else { try host.client(of: session, request, submission) }
        try host.checkObserve(request, submission)
        try host.reserveObservers(1, for: host.owner(of: submission, &outbox), &outbox)
        if !request.terms.endsWithConnection { try host.checkStore() }
        guard let position = host.centers.position(of: submission.center) else {
            throw Problem.noClient
        }
        if request.since != nil {
            outbox.work.countLook(through: host.centers[position].replayCount)
        }
        secret = outbox.random.text(byteCount: 16)
        let registration = try host.makeRegistration(request, secret: secret)
        host.submitCommand(
            .addObserver(registration, client: client, since: request.since), to: position, &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) -> Ending {
        .answer(host.registered(secret: secret, session: session, submission, &outbox))
    }
}

/// The registration of an observer with a mailbox of its own (POST /v1/observers without a session).
struct OpenMailbox: Operation {
    static let answersFirst = true
    let request: ObserverRequest
    private var session: [UInt8] = []
    private var secret: [UInt8] = []

    init(_ request: ObserverRequest) {
        self.request = request
    }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        try host.checkObserve(request, submission)
        let owner = host.owner(of: submission, &outbox)
        try host.reserveObservers(1, for: owner, &outbox)
        try host.checkStore()
        let position = try host.makeCenter(for: submission, &outbox)
        let client = try host.takeNumber(host.shared.clientNumbers)
        let sessionSecret = outbox.random.text(byteCount: 16)
        session = IdentifierText.text(client: client, secret: sessionSecret)
        secret = outbox.random.text(byteCount: 16)
        let registration = ClientRegistration(
            id: client, transport: .mailbox, connection: ConnectionName(node: 0, number: 0),
            sessionHash: SecretHash(of: sessionSecret), principal: submission.caller.principal,
            owner: owner)
        let observer = try host.makeRegistration(request, secret: secret)
        host.submitCommand(
            .connect(registration, observers: [observer], since: request.since), to: position,
            &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) -> Ending {
        outbox.counters.countClient(of: .mailbox)
        return .answer(host.registered(secret: secret, session: session, submission, &outbox))
    }
}
