import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryJSON
import BelfryLoop
import BelfrySystem
import BelfryWire

// Values are read without a command; who waits for another one is told when a change has come.

extension CenterHost {
    /// Shows what is at a place of a value; one who waits is told when it is another one than he has.
    ///
    /// - Returns: whether it is answered.
    mutating func readValue(
        _ look: ValueLook, wait: Int64, _ submission: Submission, _ outbox: inout Outbox
    ) -> Bool {
        if wait > 0, values.hasRoom, !outbox.life.isStopping, submission.mayRead(look.place),
            let present = value(at: look.place, of: submission.center),
            !look.condition.isNews(present.tag)
        {
            let deadline = min(
                outbox.loop.now + .nanoseconds(min(wait, maxWait)),
                outbox.credentialDeadline(of: submission.caller))
            values.park(
                ValuePoll(look: look, submission: submission, deadline: deadline), &outbox)
            return false
        }
        return deliver(submission, &outbox) { host, outbox throws(Problem) in
            try host.answer(look, submission, &outbox)
        }
    }

    /// Answers those that wait for a value no longer, one in any case, and more while the turn has
    /// room.
    mutating func answerValues(_ outbox: inout Outbox) {
        // Many may wait at one place: its tag is made once.
        var known: [ValueName: ValueTag?] = [:]
        while let (poll, isEnded) = values.takeNext() {  // Share: polls
            if !isEnded {
                let name = ValueName(center: poll.submission.center, place: poll.look.place)
                let tag = known[name] ?? value(at: poll.look.place, of: name.center)?.tag
                known[name] = .some(tag)
                if let tag, !poll.look.condition.isNews(tag) { continue }
            }
            values.remove(poll)
            beginAnswer(&outbox)
            _ = deliver(poll.submission, &outbox) { host, outbox throws(Problem) in
                try host.answer(poll.look, poll.submission, &outbox)
            }
            if outbox.largeAnswersMustWait { return }
        }
    }

    /// The place of a value of a center.
    private struct ValueName: Hashable {
        let center: [UInt8]
        let object: [UInt8]
        let path: DocumentPath

        init(center: [UInt8], place: ValuePlace) {
            self.center = center
            object = place.object
            path = place.path
        }
    }

    private func value(at place: ValuePlace, of center: [UInt8]) -> PresentValue? {
        centers.position(of: center).flatMap {
            centers[$0].value(of: place.object, at: place.path)
        }
    }

    /// What is at a place, which is stored when it is told (rule V15).
    mutating func presentValue(
        at place: ValuePlace, _ submission: Submission
    ) throws(Problem) -> (present: PresentValue, position: Int) {
        try submission.checkRead(place)
        guard let position = centers.position(of: submission.center) else {
            throw Problem.noCenter
        }
        if shared.hasStore { promises.awaitEverything() }
        guard let present = centers[position].value(of: place.object, at: place.path) else {
            throw Problem.noValue
        }
        return (present, position)
    }

    private mutating func answer(
        _ look: ValueLook, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Answer {
        let (present, position) = try presentValue(at: look.place, submission)
        if let matches = look.condition.matches, !matches.include(present.tag) {
            throw Problem(Refusal.preconditionFailed(current: present.tag))
        }
        var answer = Answer.json
        var text: [UInt8] = []
        EventStream.appendPosition(
            epoch: centers[position].epoch, sequence: present.sequence, to: &text)
        answer.fields = [.tag(present.tag), HTTPField("Belfry-Position", text)]
        if look.condition.isNews(present.tag) {
            present.value.append(to: &outbox.content)
        } else {
            answer.status = 304
            answer.contentType = .none
        }
        return answer
    }
}

extension ValueCondition {
    /// Whether a value with this tag is another one than the reader has.
    fileprivate func isNews(_ tag: ValueTag) -> Bool {
        noneMatches.map { !$0.include(tag) } ?? true
    }
}

extension HTTPField {
    /// The tag of a value.
    static func tag(_ tag: ValueTag) -> HTTPField {
        HTTPField("ETag", ValueTagText.text(tag))
    }
}
