import BelfryCenter
import BelfryWire
import Synchronization

// The one way of a command: submitted, applied, spread, answered.

extension CenterHost {
    /// Begins what a request asks for, and finishes it where its command was applied at once.
    ///
    /// - Returns: whether the request is answered.
    mutating func perform<Requested: Operation>(
        _ operation: consuming Requested, _ submission: Submission, _ outbox: inout Outbox
    ) -> Bool {
        do throws(Problem) {
            try operation.begin(&self, submission, &outbox)
            return try finish(operation, submission, &outbox)
        } catch {
            refuse(error, submission, &outbox)
            return true
        }
    }

    /// Finishes what a request asked for: its command was applied.
    private mutating func finish<Requested: Operation>(
        _ operation: borrowing Requested, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Bool {
        switch try end(operation, submission, &outbox) {
        case .answer(let answer): deliver(answer, submission.reply, &outbox)
        case .written: break
        case .later:
            fanOut(&outbox)
            return false
        }
        fanOut(&outbox)
        return true
    }

    /// Lets an operation make its answer, in its place among what its command brought about.
    @inline(__always)
    mutating func end<Requested: Operation>(
        _ operation: borrowing Requested, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Ending {
        if Requested.isPromise { promiseChanges() }
        if !Requested.answersFirst { fanOut(&outbox) }
        try checkOutcome()
        return try operation.finish(&self, submission, &outbox)
    }

    /// Answers a request with a problem.
    mutating func refuse(_ problem: Problem, _ submission: Submission, _ outbox: inout Outbox) {
        outbox.content.removeAll(keepingCapacity: true)
        deliver(outbox.problemAnswer(problem), submission.reply, &outbox)
        fanOut(&outbox)
    }

    /// Begins with something new: no answer is in the making.
    mutating func beginAnswer(_ outbox: inout Outbox) {
        outbox.content.removeAll(keepingCapacity: outbox.content.capacity <= 1 << 20)
        promises.awaitedTicket = 0
    }

    // MARK: Commands

    /// Gives a center a command; what it brought about is in `effects`.
    mutating func submitCommand(
        _ action: consuming Command.Action, to position: Int, _ outbox: inout Outbox
    ) {
        precondition(!applied.isUnspread, "what the last command brought about is on its way")
        applied.isUnspread = true
        applied.position = position
        applied.id = centers.submit(action, to: position, at: outbox.commandTime, into: &effects)
        if !effects.changes.isEmpty, shared.hasStore { promises.noteChanges() }
        if centers.observerGrowth != 0 {
            countObservers(centers.observerGrowth, &outbox)
            accountForKept(&outbox)
        }
        // The first answer may still wait for what this one repeats.
        if case .replayed = effects.outcome { promises.awaitEverything() }
    }

    /// The answer in the making says what the last command has changed.
    @inline(__always)
    mutating func promiseChanges() {
        if !effects.changes.isEmpty, shared.hasStore { promises.awaitTurn() }
    }

    private mutating func countObservers(_ growth: Int, _ outbox: inout Outbox) {
        shared.observerCount.add(growth, ordering: .relaxed)
        if growth > 0 {
            outbox.counters.registrations += UInt64(growth)
        } else {
            outbox.counters.removals += UInt64(-growth)
        }
    }

    /// Gives a center a command that has no answer, and lets everybody have what that brought about.
    mutating func tell(
        _ action: consuming Command.Action, to position: Int, _ outbox: inout Outbox
    ) {
        submitCommand(action, to: position, &outbox)
        fanOut(&outbox)
    }

    /// Gives a center, if it is there, a command that has no answer.
    mutating func tell(
        _ action: consuming Command.Action, center name: [UInt8], _ outbox: inout Outbox
    ) {
        if let position = centers.position(of: name) { tell(action, to: position, &outbox) }
    }

    /// The refusal of the last command as a problem.
    @inline(__always)
    func checkOutcome() throws(Problem) {
        if case .refused(let refusal) = effects.outcome { throw Problem(refusal) }
    }
}
