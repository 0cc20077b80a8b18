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
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        let (position, observer) = try host.centers.ownObserver(secret, submission)
        let mayWait = wait > 0 && !context.life.isStopping
        host.submitCommand(
            .readMailbox(
                observer: observer.serial, through: request.after,
                wait: mayWait ? host.centers.name(of: submission.reply.number) : nil),
            to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) throws(Problem) -> Ending {
        let position = host.applied.position
        let through = request.after.map { min($0, host.centers[position].sequence) }
        let page = host.centers[position].mailbox(
            of: secret.number, after: through ?? 0, limit: request.limit)
        guard let page else { throw Problem(Refusal.noMailbox) }
        guard case .waiting = host.effects.outcome else {
            host.fill(&answer, with: page, of: secret.number)
            return .answered
        }
        let poll = Waits.MailboxPoll(
            observer: secret.number, look: MailboxRequest(after: through, limit: request.limit))
        host.waits.mailboxes.park(
            poll, at: nil, submission, for: min(wait, host.maxWait), &context)
        // Notifications that came with the wait itself were reported before the poll was parked.
        if !page.isEmpty || context.life.isStopping {
            host.waits.mailboxes.release(submission.reply.number.rawValue, .over)
        }
        return .later
    }
}

extension CenterHost {
    /// Answers a request that has waited at a mailbox with the content that this broker knows.
    ///
    /// It does not wait until the center has detached its reader: a log may need long for that.
    mutating func endWait(
        of poll: Waits.MailboxPoll, _ submission: Submission, _ context: inout LoopContext
    ) {
        guard let position = centers.position(of: submission.center) else {
            return refuse(.noCenter, submission, &context)
        }
        let name = centers.name(of: submission.reply.number)
        tell(.detachReader(observer: poll.observer, name), to: position, &context)
        let page = centers[position].mailbox(
            of: poll.observer, after: poll.look.after ?? 0, limit: poll.look.limit)
        guard let page else {
            let problem = centers.endOfReading(poll.observer, at: position)
            return refuse(problem, submission, &context)
        }
        var answer = context.outbox.answers.make()
        fill(&answer, with: page, of: poll.observer)
        promises.deliver(answer, submission.reply, &context)
    }

    /// Fills an answer with a page of a mailbox.
    ///
    /// Asks in it are shown when they are stored (rule R20).
    fileprivate func fill(_ answer: inout Answer, with page: MailboxPage, of observer: UInt64) {
        let hasAsks = page.elements.contains { element in
            if case .ask? = element.addressed?.kind { true } else { false }
        }
        if hasAsks { answer.wait(until: promises.ticketOfEverything) }
        Shape.append(mailbox: page, observer: observer, to: &answer.content)
    }
}
