import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire

/// The reading of a mailbox, which acknowledges earlier pages.
struct ReadMailbox: Operation {
    static let answersFirst = false
    // A lost acknowledgement only causes a redelivery.
    static let isPromise = false
    let secret: Secret
    let request: MailboxRequest
    /// The wait of the request at an empty mailbox, in nanoseconds.
    let wait: Int64

    init(_ secret: Secret, _ request: MailboxRequest, wait: Int64) {
        self.secret = secret
        self.request = request
        self.wait = wait
    }

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        let (position, observer) = try host.centers.ownObserver(secret, submission)
        let mayWait = wait > 0 && !outbox.life.isStopping
        host.submitCommand(
            .readMailbox(
                observer: observer.serial, through: request.after,
                wait: mayWait ? host.centers.name(of: submission.reply.number) : nil),
            to: position, &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Ending {
        let position = host.applied.position
        let through = request.after.map { min($0, host.centers[position].sequence) }
        let page = host.centers[position].mailbox(
            of: secret.number, after: through ?? 0, limit: request.limit)
        guard let page else { throw Problem(Refusal.noMailbox) }
        guard case .waiting = host.effects.outcome else {
            return .answer(host.answer(page, of: secret.number, &outbox))
        }
        let deadline = min(
            outbox.loop.now + .nanoseconds(min(wait, host.maxWait)),
            outbox.credentialDeadline(of: submission.caller))
        let poll = Poll(
            observer: secret.number,
            look: MailboxRequest(after: through, limit: request.limit), submission: submission,
            deadline: deadline)
        host.polls.park(poll, &outbox)
        // Notifications that came with the wait itself were reported before the poll was parked.
        if !page.isEmpty || outbox.life.isStopping {
            host.polls.end(submission.reply.number.rawValue, .filled)
        }
        return .later
    }
}

extension CenterHost {
    /// Answers a request that has waited at a mailbox with the content that this broker knows.
    ///
    /// It does not wait until the center has detached its reader: a log may need long for that.
    mutating func endWait(of poll: Poll, _ outbox: inout Outbox) {
        guard let position = centers.position(of: poll.submission.center) else {
            return refuse(.noCenter, poll.submission, &outbox)
        }
        let name = centers.name(of: poll.submission.reply.number)
        tell(.detachReader(observer: poll.observer, name), to: position, &outbox)
        let page = centers[position].mailbox(
            of: poll.observer, after: poll.look.after ?? 0, limit: poll.look.limit)
        guard let page else {
            let problem = centers.endOfReading(poll.observer, at: position)
            return refuse(problem, poll.submission, &outbox)
        }
        let answer = answer(page, of: poll.observer, &outbox)
        promises.deliver(answer, poll.submission.reply, &outbox)
    }

    /// Appends a page of a mailbox; asks in it are shown when they are stored (rule R20).
    fileprivate mutating func answer(
        _ page: MailboxPage, of observer: UInt64, _ outbox: inout Outbox
    ) -> Answer {
        let hasAsks = page.elements.contains { element in
            if case .ask? = element.addressed?.kind { true } else { false }
        }
        if hasAsks { promises.awaitEverything() }
        Shape.append(mailbox: page, observer: observer, to: &outbox.content)
        return .json
    }
}
