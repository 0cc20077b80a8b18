import BelfryCenter
import BelfryWire

/// The opening of a mailbox's stream on the connection of a request.
struct OpenStream: Operation {
    static let answersFirst = false
    static let isPromise = false
    let secret: Secret
    let since: ReplayPosition?
    private var isForeign = false

    init(_ secret: Secret, since: ReplayPosition?) {
        self.secret = secret
        self.since = since
    }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        let (position, observer) = try host.centers.ownObserver(secret, submission)
        isForeign = since.map { $0.epoch != host.centers[position].epoch } ?? false
        host.submitCommand(
            .readMailbox(
                observer: observer.serial, through: isForeign ? nil : since?.sequence),
            to: position, &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) -> Ending {
        let attachment = AttachStream(observer: secret.number, isForeign: isForeign)
        return host.perform(attachment, submission, &outbox) ? .written : .later
    }
}

/// The attachment of a stream to its mailbox.
private struct AttachStream: Operation {
    static let answersFirst = true
    static let isPromise = false
    let observer: UInt64
    let isForeign: Bool

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) {
        let name = host.centers.name(of: submission.reply.number)
        host.submitCommand(
            .attachStream(observer: observer, name), to: host.applied.position,
            &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Ending {
        let position = host.applied.position
        let connection = submission.reply.number
        guard let row = host.centers[position].observer(observer) else { throw Problem.noObserver }
        if isForeign {
            let gap = Gap(
                observer: observer, selector: row.selector, lostCount: nil, firstSequence: 0,
                lastSequence: host.centers[position].sequence, reason: .unknown)
            host.effects.notices.append(
                .gap(
                    connection: host.centers.name(of: connection), transport: .ofMailboxStreams, gap
                ))
        }
        host.polls.streams[connection.rawValue] = observer
        outbox.counters.countClient(of: .ofMailboxStreams)
        // The token of an observer does not entitle its holder to a session.
        let welcome = Welcome(
            client: row.client, session: [], center: submission.center,
            epoch: host.centers[position].epoch, sequence: host.centers[position].sequence)
        let sequel = Sequel.stream(
            observer: observer, client: row.client, center: submission.center)
        outbox.open(.ofMailboxStreams, welcome, sequel, submission.reply)
        return .written
    }
}
