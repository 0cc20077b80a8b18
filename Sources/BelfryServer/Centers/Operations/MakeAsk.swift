import BelfryAccess
import BelfryCenter
import BelfryWire

/// One ask, made by a request or a call.
struct MakeAsk: Operation {
    static let answersFirst = false
    let request: AskRequest
    let wishes: AskWishes
    /// The client that calls, if a call asks.
    var client: UInt64?
    private var id = NotificationID(high: 0, low: 0)

    init(_ request: AskRequest, _ wishes: AskWishes, client: UInt64? = nil) {
        self.request = request
        self.wishes = wishes
        self.client = client
    }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        try submission.checkAsk(request.content)
        if request.options.isUsed {
            try host.centers.check(Shard.levelSix, of: "present and ifNobody")
        }
        if !wishes.outlivesAsker { try host.completions.checkRoom() }
        guard let position = try host.makeCenter(for: submission, &context) else { return }
        id = host.centers.nextNotificationID(at: position, &context)
        let terms = terms(&host, submission, &context)
        host.submitCommand(.ask(ask(host), terms), to: position, &context)
    }

    /// The ask of this moment; a method of the host would copy it.
    @inline(__always)
    private func ask(_ host: borrowing CenterHost) -> Ask {
        let lifetime: Int64
        var wait: Int64?
        if wishes.outlivesAsker {
            lifetime = request.timeToLive ?? Self.defaultLifetime
            wait = host.completions.hasRoom ? min(wishes.wait ?? 0, host.maxWait) : 0
        } else {
            let asked = wishes.wait ?? CenterHost.defaultWait
            lifetime = min(asked > 0 ? asked : Self.leastWait, host.maxWait)
        }
        return Ask(
            id: id, content: request.content, causedBy: request.causedBy,
            fallback: request.fallback, isOnce: request.isOnce, lifetime: lifetime, wait: wait,
            options: request.options)
    }

    /// The default lifetime of an ask that outlives its asker, in nanoseconds.
    private static let defaultLifetime: Int64 = 3_600_000_000_000

    /// The wait of an asker that says 0 and waits for the end, in nanoseconds.
    private static let leastWait: Int64 = 1_000_000_000

    /// The terms of the ask.
    private func terms(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) -> AskTerms {
        var terms = AskTerms()
        terms.client = client
        terms.principal = submission.caller.principal
        terms.canStore = host.shared.canStore
        terms.owner = host.centers.owner(of: submission, &context)
        terms.byteRoom = host.kept.askByteRoom(for: terms.owner, &context)
        if let key = wishes.key {
            terms.key = IdempotencyKey(
                principal: terms.principal, text: key.text, requestHash: key.requestHash,
                form: 0, owner: terms.owner)
        }
        return terms
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) throws(Problem) -> Ending {
        if case .asked(let outcome, let replayedForm) = host.effects.outcome {
            try outcome.fill(
                &answer, isReplayed: replayedForm != nil, submission.reply, submission.sight,
                &context)
            return .answered
        }
        // With a key it may wait for the answer to an earlier ask.
        if case .http = submission.reply.form, case .awaiting(let ask) = host.effects.outcome {
            host.waits.add(
                Waits.AskPlace(ask: ask, command: host.applied.id),
                by: submission.reply.number.rawValue)
        }
        return .waiting(nil)
    }
}

/// The withdrawal of an ask, by its asker or an admin.
struct WithdrawAsk: Operation {
    static let answersFirst = false
    let id: NotificationID
    /// Whether a call asks, which is answered with a count.
    var isCall = false

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        guard let position = host.centers.position(of: submission.center),
            let ask = host.centers[position].ask(id, at: context.commandTime),
            submission.owns(ask, orBy: .admin)
        else { throw Problem.noAsk }
        host.submitCommand(.withdraw(id), to: position, &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        if isCall {
            Shape.append(removedCount: 1, to: &answer.content)
        } else {
            answer.becomeEmpty()
        }
        return .answered
    }
}

/// The answer of a responder by a request that has the responder's token.
struct AnswerAsk: Operation {
    static let answersFirst = false
    let id: NotificationID
    let responder: Secret
    let response: Response

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        let (position, row) = try host.centers.observer(responder, orBy: [], submission)
        let principal = host.centers.knowsAnswerers ? submission.caller.principal : []
        host.submitCommand(
            .answer(
                id, observer: row.serial, response.known(in: host.centers), principal: principal),
            to: position, &context)
    }
}

extension Problem {
    /// The problem of an ask that was never made, too long ago, or by another caller.
    static let noAsk = Problem(
        .notFound, "No such ask is known, or its end is no longer kept (--ask-fate-age).")
}
