import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryWire

/// The entry of a mode by a lease, which ends with a client's connection or its time (rule Q16).
struct EnterMode: Operation {
    static let answersFirst = true
    let request: ModeRequest
    /// The client whose connection the lease ends with; nil over HTTP.
    let client: UInt64?
    private var secret: [UInt8] = []

    init(_ request: ModeRequest, client: UInt64?) {
        self.request = request
        self.client = client
    }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        guard submission.caller.grants.allowSome(.modes, center: submission.center.span) else {
            throw Problem.lacking("modes", submission.caller, center: submission.center)
        }
        guard let position = try host.makeCenter(for: submission, &context) else { return }
        let serial = try host.number(host.shared.numbers.modes)
        secret = context.random.text(byteCount: 16)
        let entry = ModeEntry(
            serial: serial, tokenHash: SecretHash(of: secret), mode: request.mode, client: client,
            lease: client == nil ? request.lease : nil)
        let action = host.centers.action(
            .enterMode(entry), ofClient: client, on: submission.reply.number)
        host.submitCommand(action, making: serial, to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        var token: [UInt8] = []
        IdentifierText.append(mode: host.applied.number, secret: secret, to: &token)
        Shape.append(
            modeLease: host.applied.number, token: token, mode: request.mode, to: &answer.content)
        answer.status = 201
        answer.fields = [.noStore, .noReferrer]
        return .answered
    }
}

/// The end of a mode lease: by its token, or for an admin by its id alone.
struct LeaveMode: Operation {
    static let answersFirst = true
    let secret: Secret
    /// Whether a call asks, which is answered with null.
    var isCall = false

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        guard let position = host.centers.position(of: submission.center) else {
            throw Problem(Refusal.unknownMode)
        }
        let lease = host.centers[position].modes.stack.first { $0.serial == secret.number }
        guard let lease, mayLeave(lease, submission) else { throw Problem(Refusal.unknownMode) }
        host.submitCommand(.leaveMode(serial: lease.serial), to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        if isCall {
            answer.content.append(contentsOf: "null".utf8)
        } else {
            answer.becomeEmpty()
        }
        return .answered
    }

    private func mayLeave(_ lease: ModesRow.Lease, _ submission: Submission) -> Bool {
        guard let text = secret.secret else {
            return submission.caller.grants.allow(
                .admin, center: submission.center, name: nil, object: nil)
        }
        return SecretHash(of: text).matches(lease.tokenHash)
    }
}
