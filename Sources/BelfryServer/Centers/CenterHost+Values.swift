import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryJSON
import BelfryLoop
import BelfrySystem
import BelfryWire

// Values are read without a command; a poll is answered when the value has changed.

extension CenterHost {
    /// Shows a value; a request that waits is answered when the value differs from the reader's.
    ///
    /// - Returns: whether the request is answered.
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

    /// Answers polls of values that have ended or whose value has changed.
    ///
    /// It answers one in any case, and more while the turn has room.
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

    /// The value at a place, which is stored before it is shown (rule V15).
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
    /// Whether a value with this tag differs from the reader's.
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
