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
    /// Whether it is one of several calls, which are answered together.
    let isAmongOthers: Bool
    /// The secret half of the token.
    private var secret: [UInt8] = []

    init(
        _ request: ObserverRequest, client: UInt64?, session: [UInt8], isAmongOthers: Bool = false
    ) {
        self.request = request
        self.client = client
        self.session = session
        self.isAmongOthers = isAmongOthers
    }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        let observing =
            if let client { client } else {
                try host.centers.client(of: session, request, submission)
            }
        try submission.checkObserve(request)
        let owner = host.centers.owner(of: submission, &context)
        try host.kept.reserve([request], for: owner, &context)
        if !request.terms.endsWithConnection { try host.shared.checkStore() }
        guard let position = host.centers.position(of: submission.center) else {
            throw Problem.noClient
        }
        if request.since != nil {
            context.work.countLook(through: host.centers[position].replayCount)
        }
        secret = context.random.text(byteCount: 16)
        var registration = try host.registration(of: request, by: submission, secret: secret)
        registration.followsAnswers = isAmongOthers && host.centers.knowsBatches
        let action = try host.centers.action(
            .addObserver(registration, client: observing, since: request.since),
            within: submission.cover(of: request), at: position)
        host.submitCommand(
            host.centers.action(action, ofClient: client, on: submission.reply.number),
            to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        answer.fill(
            registered: host.effects.outcome, secret: secret, session: session, submission)
        return .answered
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
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        try submission.checkObserve(request)
        let owner = host.centers.owner(of: submission, &context)
        try host.kept.reserve([request], for: owner, &context)
        try host.shared.checkStore()
        guard let position = try host.makeCenter(for: submission, &context) else { return }
        let client = try host.number(host.shared.numbers.clients)
        sessionSecret = context.random.text(byteCount: 16)
        secret = context.random.text(byteCount: 16)
        let registration = ClientRegistration(
            id: client, transport: .mailbox, connection: ConnectionName(node: 0, number: 0),
            sessionHash: SecretHash(of: sessionSecret), principal: submission.caller.principal,
            owner: owner)
        let observer = try host.registration(of: request, by: submission, secret: secret)
        let action = try host.centers.action(
            .connect(registration, observers: [observer], since: request.since),
            within: submission.cover(of: request), at: position)
        host.submitCommand(action, making: client, to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        context.counters.countClient(of: .mailbox)
        let session = IdentifierText.text(client: host.applied.number, secret: sessionSecret)
        answer.fill(
            registered: host.effects.outcome, secret: secret, session: session, submission)
        return .answered
    }
}

extension Answer {
    /// Appends the observer that the last command registered, with its token for the owner alone.
    fileprivate mutating func fill(
        registered outcome: Outcome, secret: [UInt8], session: [UInt8], _ submission: Submission
    ) {
        guard case .registered(let rows) = outcome, let row = rows.first else {
            preconditionFailure("a registration that is not refused has its observer")
        }
        let token = IdentifierText.text(observer: row.serial, secret: secret)
        Shape.append(
            registered: row, token: token, session: session, center: submission.center,
            to: &content)
        // The answer to a call has no fields.
        guard case .http(let http) = submission.reply.form else { return }
        let location = http.details.pathPrefix + Array("/observers/".utf8) + token
        status = 201
        fields = [.noStore, .noReferrer, HTTPField("Location", location)]
    }
}

extension CenterHost {
    /// The registration for a center; a method would copy the host.
    @inline(__always)
    func registration(
        of request: ObserverRequest, by submission: Submission, secret: [UInt8]
    ) throws(Problem) -> ObserverRegistration {
        let role = submission.role(of: request)
        if role.filter != nil {
            try centers.check(Shard.levelFive, of: "prefixes, sets of names and conditions")
        }
        var registration = ObserverRegistration(
            serial: try number(shared.numbers.observers), tokenHash: SecretHash(of: secret),
            name: request.name, object: request.object, selector: request.selector,
            terms: request.terms, role: role)
        if request.beginning != nil { try Problem.checkArchives(centers) }
        registration.beginning = request.beginning
        return registration
    }
}
