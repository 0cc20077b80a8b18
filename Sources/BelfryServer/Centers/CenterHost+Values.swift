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
        _ look: ValueLook, wait: Int64, _ submission: Submission, _ context: inout LoopContext
    ) -> Bool {
        if wait > 0, waits.values.hasRoom, !context.life.isStopping, submission.mayRead(look.place),
            let present = value(at: look.place, of: submission.center),
            !look.condition.isNews(present.tag)
        {
            let key = Waits.ValueKey(center: submission.center, object: look.place.object)
            waits.values.park(look, at: key, submission, for: min(wait, maxWait), &context)
            return false
        }
        return deliver(submission, &context) { answer, host, _ throws(Problem) in
            try host.fill(&answer, with: look, submission)
        }
    }

    /// Answers polls of values that have ended or whose value has changed.
    ///
    /// It answers one in any case, and more while the turn has room.
    mutating func answerValues(_ context: inout LoopContext) {
        // Many may wait at one place: its tag is made once.
        var known: [ValueName: ValueTag?] = [:]
        while let (wait, end) = waits.values.next() {  // Share: polls
            if end == .changed {
                let name = ValueName(center: wait.submission.center, place: wait.subject.place)
                let tag = known[name] ?? value(at: wait.subject.place, of: name.center)?.tag
                known[name] = .some(tag)
                if let tag, !wait.subject.condition.isNews(tag) { continue }
                waits.values.remove(wait.submission.reply.number.rawValue)
            }
            _ = deliver(wait.submission, &context) { answer, host, _ throws(Problem) in
                try host.fill(&answer, with: wait.subject, wait.submission)
            }
            if context.largeAnswersMustWait { return }
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

    /// The value at a place, which is stored before the answer shows it (rule V15).
    func presentValue(
        at place: ValuePlace, for answer: inout Answer, _ submission: Submission
    ) throws(Problem) -> (present: PresentValue, position: Int) {
        try submission.checkRead(place)
        guard let position = centers.position(of: submission.center) else {
            throw Problem.noCenter
        }
        if shared.hasStore { answer.wait(until: promises.ticketOfEverything) }
        guard let present = centers[position].value(of: place.object, at: place.path) else {
            throw Problem.noValue
        }
        return (present, position)
    }

    private func fill(
        _ answer: inout Answer, with look: ValueLook, _ submission: Submission
    ) throws(Problem) {
        let (present, position) = try presentValue(at: look.place, for: &answer, submission)
        if let matches = look.condition.matches, !matches.include(present.tag) {
            throw Problem(Refusal.preconditionFailed(current: present.tag))
        }
        var text: [UInt8] = []
        EventStream.appendPosition(
            epoch: centers[position].epoch, sequence: present.sequence, to: &text)
        answer.fields = [.tag(present.tag), HTTPField("Belfry-Position", text)]
        if look.condition.isNews(present.tag) {
            present.value.append(to: &answer.content)
        } else {
            answer.status = 304
            answer.contentType = .none
        }
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
