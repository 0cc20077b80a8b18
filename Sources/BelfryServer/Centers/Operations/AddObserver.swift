import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryWire

/// The registration of an observer, for a client that exists.
struct AddObserver: Operation {
    static let answersFirst = true
    let request: ObserverRequest
    /// The client, if it calls; otherwise the session names it.
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
        let observing =
            if let client { client } else {
                try host.centers.client(of: session, request, submission)
            }
        try submission.checkObserve(request)
        let owner = host.centers.owner(of: submission, &outbox)
        try host.kept.reserve([request], for: owner, &outbox)
        if !request.terms.endsWithConnection { try host.shared.checkStore() }
        guard let position = host.centers.position(of: submission.center) else {
            throw Problem.noClient
        }
        if request.since != nil {
            outbox.work.countLook(through: host.centers[position].replayCount)
        }
        secret = outbox.random.text(byteCount: 16)
        let registration = try host.registration(of: request, secret: secret)
        let action = try host.centers.action(
            .addObserver(registration, client: observing, since: request.since),
            within: submission.cover(of: request), at: position)
        host.submitCommand(
            host.centers.action(action, ofClient: client, on: submission.reply.number),
            to: position, &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) -> Ending {
        .answer(
            .registered(
                host.effects.outcome, secret: secret, session: session, submission, &outbox))
    }
}

/// The registration of an observer with its own mailbox (POST /v1/observers without a session).
struct OpenMailbox: Operation {
    static let answersFirst = true
    let request: ObserverRequest
    private var sessionSecret: [UInt8] = []
    private var secret: [UInt8] = []

    init(_ request: ObserverRequest) {
        self.request = request
    }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        try submission.checkObserve(request)
        let owner = host.centers.owner(of: submission, &outbox)
        try host.kept.reserve([request], for: owner, &outbox)
        try host.shared.checkStore()
        guard let position = try host.makeCenter(for: submission, &outbox) else { return }
        let client = try host.number(host.shared.numbers.clients)
        sessionSecret = outbox.random.text(byteCount: 16)
        secret = outbox.random.text(byteCount: 16)
        let registration = ClientRegistration(
            id: client, transport: .mailbox, connection: ConnectionName(node: 0, number: 0),
            sessionHash: SecretHash(of: sessionSecret), principal: submission.caller.principal,
            owner: owner)
        let observer = try host.registration(of: request, secret: secret)
        let action = try host.centers.action(
            .connect(registration, observers: [observer], since: request.since),
            within: submission.cover(of: request), at: position)
        host.submitCommand(action, making: client, to: position, &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) -> Ending {
        outbox.counters.countClient(of: .mailbox)
        let session = IdentifierText.text(client: host.applied.number, secret: sessionSecret)
        return .answer(
            .registered(
                host.effects.outcome, secret: secret, session: session, submission, &outbox))
    }
}

extension Answer {
    /// Appends the observer that the last command registered, with its token for the owner alone.
    fileprivate static func registered(
        _ outcome: Outcome, secret: [UInt8], session: [UInt8], _ submission: Submission,
        _ outbox: inout Outbox
    ) -> Answer {
        guard case .registered(let rows) = outcome, let row = rows.first else {
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
}

extension CenterHost {
    /// The registration for a center; a method would copy the host.
    @inline(__always)
    func registration(
        of request: ObserverRequest, secret: [UInt8]
    ) throws(Problem) -> ObserverRegistration {
        ObserverRegistration(
            serial: try number(shared.numbers.observers), tokenHash: SecretHash(of: secret),
            name: request.name, object: request.object, selector: request.selector,
            terms: request.terms, role: request.role)
    }
}
