import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire

// Fates of asks: a poll is answered when the ask is over.

extension CenterHost {
    /// Shows the fate of a post or an ask; a request that waits is answered when the ask is over.
    ///
    /// - Returns: whether the request is answered.
    mutating func readFate(
        _ id: NotificationID, wait: Int64, _ submission: Submission, _ context: inout LoopContext
    ) -> Bool {
        if wait > 0, waits.fates.hasRoom, !context.life.isStopping,
            let position = centers.position(of: submission.center),
            let ask = centers[position].ask(id, at: context.commandTime),
            case .open = ask.outcome.state, submission.owns(ask, orBy: .inspect)
        {
            waits.fates.park(id, at: id, submission, for: min(wait, maxWait), &context)
            return false
        }
        return deliver(submission, &context) { answer, host, context throws(Problem) in
            try host.look(.fate(id), &answer, submission, &context)
        }
    }

    /// Answers polls that have ended.
    ///
    /// It answers one in any case, and more while the turn has room.
    mutating func answerFates(_ context: inout LoopContext) {
        while let (wait, _) = waits.fates.next() {  // Share: polls
            _ = deliver(wait.submission, &context) { answer, host, context throws(Problem) in
                // The state of an ask that must last is stored before it is shown.
                answer.wait(until: host.promises.ticketOfEverything)
                try host.look(.fate(wait.subject), &answer, wait.submission, &context)
            }
            if context.largeAnswersMustWait { return }
        }
    }
}

extension AskOutcome {
    /// Fills the asker's answer with the state of the ask.
    func fill(
        _ answer: inout Answer, isReplayed: Bool, _ reply: Reply, _ sight: Sight,
        _ context: inout LoopContext
    ) throws(Problem) {
        if isReplayed { answer.fields.append(.isReplayed) }
        let problem: Problem
        switch state {
        case .answered, .fallback, .open:
            if case .http(let http) = reply.form, http.details.isBare, fill(bare: &answer, sight) {
                return
            }
            Shape.append(ask: self, sight: sight, to: &answer.content)
            guard case .open = state, case .http(let http) = reply.form else { return }
            answer.status = 202
            var location: [UInt8] = []
            id.appendLocation(prefix: http.details.pathPrefix, to: &location)
            answer.fields.append(HTTPField("Location", location))
            return
        case .failed(let failure):
            problem = Problem(failure, id: id, path: path, sight)
        case .withdrawn:
            problem = Problem(withdrawn: id, path: path, sight)
        }
        guard case .http = reply.form else { throw problem }
        context.refuse(problem, fields: answer.fields, in: &answer)
    }

    /// Fills an answer for an asker who cannot take an object apart; tells whether there is one.
    ///
    /// The content is the answer itself, and the rest is in fields.
    private func fill(bare answer: inout Answer, _ sight: Sight) -> Bool {
        var answeredBy: [UInt8] = []
        switch state {
        case .answered(let given):
            answer.content += given.content
            answer.fields.append(HTTPField("Belfry-Answer-By", Array("responder".utf8)))
            if sight.seesAll(of: path) { answeredBy = given.principal }
        case .fallback(let content, _):
            answer.content += content
            answer.fields.append(HTTPField("Belfry-Answer-By", Array("default".utf8)))
        case .open, .failed, .withdrawn: return false
        }
        if !answeredBy.isEmpty, answeredBy != Shape.anonymous {
            answer.fields.append(HTTPField("Belfry-Answered-By", percentEncoding: answeredBy))
        }
        var text: [UInt8] = []
        id.append(to: &text)
        answer.fields.append(HTTPField("Belfry-Notification", text))
        return true
    }
}
