import BelfryCenter
import BelfryWire

/// The resumption of an earlier client by the connection of a call.
///
/// Held deliveries must follow the answer, so the call is alone in its frame.
struct Resume: Operation {
    static let answersFirst = true
    static let isPromise = false
    let request: ResumeRequest
    /// The client of the connection before.
    let newcomer: UInt64
    private var isForeign = false

    init(_ request: ResumeRequest, newcomer: UInt64) {
        self.request = request
        self.newcomer = newcomer
    }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        guard let position = host.centers.position(of: submission.center),
            let client = host.centers[position].client(request.session.number),
            let secret = request.session.secret,
            SecretHash(of: secret).matches(client.sessionHash)
        else { throw Problem.noSession }
        try client.checkPrincipal(submission)
        isForeign = request.epoch.map { $0 != host.centers[position].epoch } ?? false
        // A position in another life of the center says nothing about this one.
        let after = isForeign ? 0 : request.after
        host.submitCommand(
            .resume(
                Resumption(
                    newcomer: newcomer, client: client.id, after: after,
                    appliedIndex: host.centers.logIndex)),
            to: position, &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) -> Ending {
        guard case .resumed(let resumed) = host.effects.outcome else {
            preconditionFailure("a resumption that is not refused has its client")
        }
        let client = resumed.row.id
        outbox.tellSuspension(of: client, false, because: "away")
        if isForeign {
            host.effects.tellForeignPosition(
                of: resumed.observers, resumed.row, at: host.centers[host.applied.position].sequence
            )
        }
        Shape.append(resumed: resumed, center: submission.center, to: &outbox.content)
        var session: [UInt8] = []
        IdentifierText.append(client: client, secret: request.session.secret, to: &session)
        let sequel = Sequel.client(
            id: client, session: session, transport: resumed.row.transport,
            center: submission.center)
        return .answer(Answer(contentType: .json, sequel: sequel))
    }
}
