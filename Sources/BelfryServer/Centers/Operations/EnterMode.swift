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
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        guard submission.caller.grants.allowSome(.modes, center: submission.center.span) else {
            throw Problem.lacking("modes", submission.caller, center: submission.center)
        }
        guard let position = try host.makeCenter(for: submission, &outbox) else { return }
        let serial = try host.number(host.shared.numbers.modes)
        secret = outbox.random.text(byteCount: 16)
        let entry = ModeEntry(
            serial: serial, tokenHash: SecretHash(of: secret), mode: request.mode, client: client,
            lease: client == nil ? request.lease : nil)
        let action = host.centers.action(
            .enterMode(entry), ofClient: client, on: submission.reply.number)
        host.submitCommand(action, making: serial, to: position, &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) -> Ending {
        var token: [UInt8] = []
        IdentifierText.append(mode: host.applied.number, secret: secret, to: &token)
        Shape.append(
            modeLease: host.applied.number, token: token, mode: request.mode, to: &outbox.content)
        return .answer(
            Answer(status: 201, contentType: .json, fields: [.noStore, .noReferrer]))
    }
}

/// The end of a mode lease: by its token, or for an admin by its id alone.
struct LeaveMode: Operation {
    static let answersFirst = true
    let secret: Secret
    /// Whether a call asks, which is answered with null.
    var isCall = false

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        guard let position = host.centers.position(of: submission.center) else {
            throw Problem(Refusal.unknownMode)
        }
        let lease = host.centers[position].modes.stack.first { $0.serial == secret.number }
        guard let lease, mayLeave(lease, submission) else { throw Problem(Refusal.unknownMode) }
        host.submitCommand(.leaveMode(serial: lease.serial), to: position, &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) -> Ending {
        guard isCall else { return .answer(.empty) }
        outbox.content.append(contentsOf: "null".utf8)
        return .answer(.json)
    }

    private func mayLeave(_ lease: ModesRow.Lease, _ submission: Submission) -> Bool {
        guard let text = secret.secret else {
            return submission.caller.grants.allow(
                .admin, center: submission.center, name: nil, object: nil)
        }
        return SecretHash(of: text).matches(lease.tokenHash)
    }
}
