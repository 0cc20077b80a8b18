import BelfryAccess
import BelfryCenter
import BelfryWire

/// The opening of a WebSocket or an event stream: the connection becomes a client.
struct Connect: Operation {
    static let answersFirst = true
    static let isPromise = false
    let transport: Transport
    let requests: [ObserverRequest]
    let since: ReplayPosition?
    private var secret: [UInt8] = []

    init(_ transport: Transport, _ requests: [ObserverRequest], since: ReplayPosition?) {
        self.transport = transport
        self.requests = requests
        self.since = since
    }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        guard submission.caller.grants.allowAny(center: submission.center.span) else {
            throw Problem.lacking("observe", submission.caller, center: submission.center)
        }
        for request in requests { try submission.checkObserve(request) }  // Bound: registrations
        let owner = host.centers.owner(of: submission, &context)
        try host.kept.reserve(requests, for: owner, &context)
        guard let position = try host.makeCenter(for: submission, &context) else { return }
        let client = try host.number(host.shared.numbers.clients)
        secret = context.random.text(byteCount: 16)
        let registration = ClientRegistration(
            id: client, transport: transport,
            connection: host.centers.name(of: submission.reply.number),
            sessionHash: SecretHash(of: secret), principal: submission.caller.principal,
            owner: owner)
        // A position in another life of the center says nothing about this one.
        let epoch = host.centers[position].epoch
        // The number of an event that the browser has got wins over the beginning of its URL.
        let sequence =
            since.map { $0.epoch == epoch ? $0.sequence : 0 } ?? requests.first?.since
        var observers: [ObserverRegistration] = []
        for request in requests {  // Bound: registrations
            var observer = try host.registration(
                of: request, by: submission, secret: context.random.text(byteCount: 16))
            if since != nil { observer.beginning = nil }
            observers.append(observer)
        }
        host.submitCommand(
            .connect(registration, observers: observers, since: sequence), making: client,
            to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        let position = host.applied.position
        let client = host.applied.number
        let session = IdentifierText.text(client: client, secret: secret)
        let epoch = host.centers[position].epoch
        if let since, since.epoch != epoch, case .registered(let rows) = host.effects.outcome,
            let row = host.centers[position].client(client)
        {
            host.effects.tellForeignPosition(
                of: rows, row, at: host.centers[host.applied.position].sequence)
        }
        let sequel = Sequel.client(
            id: client, session: session, transport: transport, center: submission.center)
        context.counters.countClient(of: transport)
        var welcome = Welcome(
            client: client, session: session, center: submission.center, epoch: epoch,
            sequence: host.centers[position].sequence)
        if let since {
            // The replay is still to come, and may be cut off.
            welcome.position = since.epoch == epoch ? since.sequence : 0
        } else if let request = requests.first, request.since != nil || request.beginning != nil {
            welcome.position = request.since
        } else if !requests.contains(where: { if case .value = $0.role { true } else { false } }) {
            // The present value comes only with a new stream.
            welcome.position = welcome.sequence
        }
        context.open(transport, welcome, sequel, submission.reply)
        return .written
    }
}
