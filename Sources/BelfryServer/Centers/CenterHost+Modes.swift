import BelfryAccess
import BelfryCenter
import BelfryWire

// Modes: entered by leases, which end with a client's connection or with their time (rule Q16).

extension CenterHost {
    /// Enters a mode, and appends the lease with its token.
    ///
    /// - Parameter client: whose connection the lease ends with; nil over HTTP.
    mutating func enterMode(
        _ request: ModeRequest, client: UInt64?, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        guard submission.caller.grants.allowSome(.modes, center: submission.center.span) else {
            throw Problem.lacking("modes", submission.caller, center: submission.center)
        }
        let position = try makeCenter(for: submission, &outbox)
        let serial = try takeNumber(shared.modeSerials)
        let secret = outbox.random.text(byteCount: 16)
        let entry = ModeEntry(
            serial: serial, tokenHash: SecretHash(of: secret), mode: request.mode, client: client,
            lease: client == nil ? request.lease : nil)
        submitCommand(.enterMode(entry), to: position, &outbox)
        try checkOutcome()
        var token: [UInt8] = []
        IdentifierText.append(mode: serial, secret: secret, to: &token)
        Shape.append(modeLease: serial, token: token, mode: request.mode, to: &outbox.content)
    }

    /// Enters a mode over HTTP (POST /v1/modes).
    mutating func answerEnterMode(
        _ request: ModeRequest, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Answer {
        try enterMode(request, client: nil, submission, &outbox)
        var answer = Answer(status: 201, contentType: .json)
        answer.fields = [.noStore, .noReferrer]
        return answer
    }

    /// Leaves a mode: with the token anybody, by the id alone an admin.
    mutating func leaveMode(_ secret: Secret, _ submission: Submission, _ outbox: inout Outbox)
        throws(Problem)
    {
        guard let position = centers.position(of: submission.center) else {
            throw Problem(Refusal.unknownMode)
        }
        let lease = centers[position].modes.stack.first { $0.serial == secret.number }
        guard let lease, mayLeave(lease, secret, submission) else {
            throw Problem(Refusal.unknownMode)
        }
        submitCommand(.leaveMode(serial: lease.serial), to: position, &outbox)
        try checkOutcome()
    }

    private func mayLeave(
        _ lease: ModesRow.Lease, _ secret: Secret, _ submission: Submission
    ) -> Bool {
        guard let text = secret.secret else {
            return submission.caller.grants.allow(
                .admin, center: submission.center, name: nil, object: nil)
        }
        return SecretHash(of: text).matches(lease.tokenHash)
    }
}
