import BelfryAccess
import BelfryCenter
import BelfryWire

// Clients: who may control them, what they acknowledge, and what they cannot know.

extension CenterHost {
    /// The client that the caller may control: its own by the session, any as an admin.
    ///
    /// Whoever knows no secret of the client learns nothing about it.
    func controlledClient(
        _ id: UInt64, session: [UInt8]?, _ submission: Submission
    ) throws(Problem) -> (position: Int, isOwn: Bool) {
        guard let position = centers.position(of: submission.center),
            let client = centers[position].client(id)
        else { throw Problem.noClient }
        let isOwn = session.map { Self.speaks($0, for: client) } ?? false
        let grants = submission.caller.grants
        // A client has neither name nor object: it takes an admin of all of them.
        guard isOwn || grants.allow(.admin, center: submission.center, name: nil, object: nil)
        else {
            throw Problem.noClient
        }
        return (position, isOwn)
    }

    /// Takes a response as the acknowledgement of a delivery; one with an unknown id is ignored.
    mutating func acknowledge(
        _ id: [UInt8], error: Range<Int>?, _ frame: CallFrame, _ outbox: inout Outbox
    ) {
        guard let (observer, sequence) = RPC.delivery(ofID: id.span),
            let position = centers.position(of: frame.submission.center)
        else { return }
        var refusal: [UInt8]?
        if let error { refusal = RPC.refusal(error: frame.text.span.extracting(error)) }
        // Whoever loses an acknowledgement gets the notification again: nobody waits for the store.
        tell(
            .acknowledge(
                client: frame.client.number, observer: observer, sequence: sequence,
                error: refusal), to: position, &outbox)
    }

    /// A position of another life of the center: nobody can know what was lost since (decision 21).
    mutating func tellForeignPosition(of observers: [ObserverRow], _ client: ClientRow) {
        effects.notices.removeAll { notice in
            if case .gap(_, _, let gap) = notice { gap.reason == .unknown } else { false }
        }
        for row in observers {
            let gap = Gap(
                observer: row.serial, selector: row.selector, lostCount: nil, firstSequence: 0,
                lastSequence: centers[applied.position].sequence, reason: .unknown)
            effects.notices.append(
                .gap(
                    connection: client.connection.number, transport: client.transport, gap))
        }
    }
}

extension Problem {
    /// What is said of a client that is not there, or that the caller may not know of.
    static let noClient = Problem(.notFound, "There is no such client.")

    /// What is said of a session that nobody has.
    static let noSession = Problem(
        .notFound, "The session is not that of a client of this center.")
}
