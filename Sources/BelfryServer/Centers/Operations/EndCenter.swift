import BelfryAccess
import BelfryCenter
import BelfryWire

/// The end of a center, by an admin (DELETE /v1/centers/{center}).
struct EndCenter: Operation {
    static let answersFirst = false

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        let name = submission.center
        guard submission.caller.grants.allow(.admin, center: name, name: nil, object: nil) else {
            throw Problem.lacking("admin", submission.caller, center: name)
        }
        guard let position = host.centers.position(of: name) else { throw Problem.noCenter }
        guard position != host.centers.defaultPosition else {
            throw Problem(.centerInUse, "The center default cannot be removed.")
        }
        try host.checkUse(of: position)
        host.submitEnd(of: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) throws(Problem) -> Ending {
        answer.wait(until: host.applied.endTicket)
        let name = submission.center
        if let position = host.centers.position(of: name) { try host.checkUse(of: position) }
        context.log.write(
            .info, "an admin has removed a center",
            ("center", String(decoding: name, as: UTF8.self)))
        answer.becomeEmpty()
        return .answered
    }
}

extension CenterHost {
    /// Checks that a center has nothing that a client may come back for.
    fileprivate func checkUse(of position: Int) throws(Problem) {
        let use = centers[position].use
        guard use.isNone else { throw Problem(use) }
    }
}

extension Problem {
    /// The problem of a center with something that a client may come back for.
    fileprivate init(_ use: CenterUse) {
        let counts = [
            ("clients", use.clientCount), ("observers", use.observerCount),
            ("queue", use.queueCount + use.timerCount), ("held", use.heldCount),
            ("modes", use.modeCount),
            ("asks", use.askCount), ("values", use.valueCount), ("keys", use.keyCount),
            ("archives", use.archiveCount),
        ]
        self.init(
            .centerInUse,
            """
            The center is in use; first remove its clients, queue, values, modes and archives, \
            and wait until its asks and keys have expired.
            """,
            members: counts.map { Member($0.0, integer: $0.1) })
    }
}
