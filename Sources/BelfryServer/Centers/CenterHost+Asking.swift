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
        _ id: NotificationID, wait: Int64, _ submission: Submission, _ outbox: inout Outbox
    ) -> Bool {
        if wait > 0, asks.hasRoom, !outbox.life.isStopping,
            let position = centers.position(of: submission.center),
            let ask = centers[position].ask(id, at: outbox.commandTime),
            case .open = ask.outcome.state, submission.owns(ask, orBy: .inspect)
        {
            let deadline = min(
                outbox.loop.now + .nanoseconds(min(wait, maxWait)),
                outbox.credentialDeadline(of: submission.caller))
            asks.park(FatePoll(ask: id, submission: submission, deadline: deadline), &outbox)
            return false
        }
        return deliver(submission, &outbox) { host, outbox throws(Problem) in
            try host.look(.fate(id), submission, &outbox)
        }
    }

    /// Answers polls that have ended.
    ///
    /// It answers one in any case, and more while the turn has room.
    mutating func answerFates(_ outbox: inout Outbox) {
        while let poll = asks.takeNext() {  // Share: polls
            beginAnswer(&outbox)
            // The state of an ask that must last is stored before it is shown.
            promises.awaitEverything()
            _ = deliver(poll.submission, &outbox) { host, outbox throws(Problem) in
                try host.look(.fate(poll.ask), poll.submission, &outbox)
            }
            if outbox.largeAnswersMustWait { return }
        }
    }
}

extension AskOutcome {
    /// Appends the state of the ask, and returns the head of the asker's answer.
    func answer(
        isReplayed: Bool, _ reply: Reply, _ sight: Sight, _ outbox: inout Outbox
    ) throws(Problem) -> Answer {
        var answer = Answer.json
        if isReplayed { answer.fields.append(.isReplayed) }
        let problem: Problem
        switch state {
        case .answered, .fallback, .open:
            Shape.append(ask: self, sight: sight, to: &outbox.content)
            guard case .open = state, case .http(let http) = reply.form else { return answer }
            answer.status = 202
            var location: [UInt8] = []
            id.appendLocation(prefix: http.details.pathPrefix, to: &location)
            answer.fields.append(HTTPField("Location", location))
            return answer
        case .failed(let failure):
            problem = Problem(failure, id: id, path: path, sight)
        case .withdrawn:
            problem = Problem(withdrawn: id, path: path, sight)
        }
        guard case .http = reply.form else { throw problem }
        return outbox.problemAnswer(problem, fields: answer.fields)
    }
}
