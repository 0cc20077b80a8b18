import BelfryCenter
import BelfryCluster
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

// The one way of a command: submitted, applied, fanned out, answered.

extension CenterHost {
    /// Begins an operation, and finishes it where its command was applied at once.
    ///
    /// - Returns: whether the request is answered.
    mutating func perform<Requested: Operation>(
        _ operation: consuming Requested, _ submission: Submission, _ outbox: inout Outbox
    ) -> Bool {
        do throws(Problem) {
            try operation.begin(&self, submission, &outbox)
            if applied.isUnspread { return try finish(operation, submission, &outbox) }
        } catch {
            guard mayBeBehind(error) else {
                refuse(error, submission, &outbox)
                return true
            }
            awaitLog(&outbox)
        }
        keep(operation, submission)
        return false
    }

    /// Keeps an operation whose command is not applied yet.
    ///
    /// If this were inlined, its values would be copied for commands that were applied, too.
    @inline(never)
    mutating func keep(
        _ operation: some Operation, _ submission: Submission, _ frame: CallFrame? = nil,
        _ place: CallPlace? = nil
    ) {
        pending[applied.id] = Pending(
            operation: operation, submission: submission, frame: frame, place: place)
    }

    /// Finishes an operation whose command was applied.
    private mutating func finish<Requested: Operation>(
        _ operation: borrowing Requested, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Bool {
        var isAnswered = true
        switch try end(operation, submission, &outbox) {
        case .answer(let answer): promises.deliver(answer, submission.reply, &outbox)
        case .written: break
        case .waiting(let form):
            park(submission.reply, form, submission.sight, &outbox)
            isAnswered = false
        case .later: isAnswered = false
        }
        fanOut(&outbox)
        return isAnswered
    }

    /// Makes the answer of an operation before or after the effects of its command.
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
        promises.deliver(outbox.problemAnswer(problem), submission.reply, &outbox)
        fanOut(&outbox)
    }

    /// Prepares for a new answer.
    mutating func beginAnswer(_ outbox: inout Outbox) {
        outbox.content.removeAll(keepingCapacity: outbox.content.capacity <= 1 << 20)
        promises.awaitedTicket = 0
    }

    // MARK: Commands

    /// Gives a center a command; its effects are in `effects`, unless a sequencer has taken it.
    ///
    /// - Parameters:
    ///   - number: the number of the client, or of the mode lease, that the command makes.
    ///   - time: the time of the command; nil is the time of the turn.
    mutating func submitCommand(
        _ action: consuming Command.Action, making number: UInt64 = 0, to position: Int,
        at time: CommandTime? = nil, _ outbox: inout Outbox
    ) {
        precondition(!applied.isUnspread, "what the last command brought about is on its way")
        // A sequencer gives it another name.
        let command = Command(
            id: centers.nextCommand, time: time ?? outbox.commandTime, action: action)
        if centers.hasSequencer {
            applied.id = centers.hand(command, for: position)
            outbox.loop.takeAnotherTurn()
        } else {
            applied.id = command.id
            applied.number = number
            centers.apply(command, to: position, into: &effects)
            noteApplied(to: position, &outbox)
        }
    }

    /// Notes that a command was applied; its effects are sent with ``fanOut(_:)``.
    @inline(__always)
    private mutating func noteApplied(to position: Int, _ outbox: inout Outbox) {
        applied.isUnspread = true
        applied.position = position
        if !effects.changes.isEmpty, shared.hasStore { promises.noteChanges() }
        if centers.observerGrowth != 0 {
            shared.totals.observerCount.add(centers.observerGrowth, ordering: .relaxed)
            outbox.counters.countObservers(centers.observerGrowth)
            kept.account(for: &centers, &outbox)
        }
        // The first answer, which this one repeats, may still wait for its commit.
        if case .replayed = effects.outcome { promises.awaitEverything() }
    }

    /// The number for a client, an observer or a lease that a command makes.
    ///
    /// A sequencer gives numbers when commands are applied: then it is 0.
    @inline(__always)
    func number(_ block: NumberBlock) throws(Problem) -> UInt64 {
        centers.hasSequencer ? 0 : try block.take()
    }

    /// The time for which a turn applies entries of a log, whatever else it has done.
    private static let entryShare: Duration = .milliseconds(5)

    /// Applies the results of a sequencer, and finishes their operations.
    ///
    /// The log has a share of its own: busy clients could keep it waiting otherwise, and a broker
    /// that is late in the log is useless.
    mutating func applyInOrder(_ outbox: inout Outbox) {
        guard let sequencer = centers.sequencer else { return }
        let shareEnd = outbox.loop.clock + Self.entryShare
        // Share: entries
        while let event = centers.next(at: outbox.commandTime, shared.totals, into: &effects) {
            beginAnswer(&outbox)
            switch event {
            case .step(let step): take(step, &outbox)
            case .failed(let id, let failure):
                fail(id, Problem(failure), mayHappen: failure == .unknownOutcome, &outbox)
            case .refused(let id, let problem): fail(id, problem, mayHappen: false, &outbox)
            case .restored, .began, .broker, .fenced, .left, .stopped: takePart(event, &outbox)
            }
            if outbox.loop.clock >= shareEnd { return outbox.loop.takeAnotherTurn() }
        }
        if sequencer.needsTurns, sequencer.isWaiting { outbox.loop.takeAnotherTurn() }
    }

    /// Sends the effects of a step, and finishes the operation of its command.
    private mutating func take(_ step: Shard.Step, _ outbox: inout Outbox) {
        let command = step.id.flatMap { centers.takeBack($0) }
        let begun = step.id.flatMap { pending.removeValue(forKey: $0) }
        let isGone = step.id.map { gone.remove($0) != nil } ?? false
        promises.batch = begun?.frame?.batch
        part.isSure = true
        defer { part.isSure = false }
        if let id = step.id { applied.id = id }
        applied.number = step.number
        applied.result = step.result
        takeTickets(step, &outbox)
        switch (step.result, step.center) {
        case (.told, let position?):
            noteApplied(to: position, &outbox)
            if command?.work == .trim { centers.noteKept(at: position) }
            let lost = isGone ? effects.client(of: step, in: centers[position]) : nil
            if let begun { finish(begun.operation, begun, &outbox) }
            fanOut(&outbox)
            if let lost { endLost(lost, at: position, &outbox) }
        case (.made, let position?):
            noteMade(at: position, for: begun, isOwn: command != nil, &outbox)
        case (.noCenter, _):
            // The center has ended before the command was applied.
            if let begun { beginAgain(begun, &outbox) }
        case (.ended, _), (.inUse, _):
            if step.result == .ended { noteEnd(isStored: centers.endedIsStored) }
            applied.isUnspread = true
            if let begun { finish(begun.operation, begun, &outbox) }
        case (.done, _), (.refused, _): if let begun { goOn(begun, &outbox) }
        case (.told, nil), (.made, nil), (.began, _), (.lifeEnded, _), (.used, _): break
        }
        close(begun, &outbox)
    }

    /// Refuses an operation whose command was not applied, or has an unknown outcome.
    ///
    /// - Parameter mayHappen: whether the log may show it still: a client that it makes must be
    ///   removed then.
    private mutating func fail(
        _ id: CommandID, _ problem: Problem, mayHappen: Bool, _ outbox: inout Outbox
    ) {
        let command = centers.takeBack(id)
        let begun = pending.removeValue(forKey: id)
        // It does not matter whether an empty entry is in the log.
        let problem = command?.isEmpty == true ? Problem(Unavailability.noQuorum) : problem
        promises.batch = begun?.frame?.batch
        effects.reset()
        applied.id = id
        applied.isUnspread = true
        if command?.makesCenter == true { kept.releaseCenter() }
        if mayHappen { shared.cluster.withLock { $0.unknownOutcomeCount += 1 } }
        if mayHappen, begun?.operation is any MakesClient { gone.insert(id) }
        if let begun { refuse(problem, begun, &outbox) }
        failTickets(id, problem, mayHappen: mayHappen, &outbox)
        close(begun, &outbox)
    }

    private mutating func close(_ begun: Pending?, _ outbox: inout Outbox) {
        fanOut(&outbox)
        promises.batch = nil
        if let begun, begun.hasLeft {
            endWait(of: begun.submission.reply.number, center: begun.submission.center, &outbox)
        }
    }

    /// Begins an operation again, as its center is another than before.
    mutating func beginAgain(_ begun: consuming Pending, _ outbox: inout Outbox) {
        var again = begun
        deliveryBound = again.frame?.deliveryBound ?? DeliveryBound()
        do throws(Problem) {
            try again.operation.begin(&self, again.submission, &outbox)
            pending[applied.id] = again
        } catch {
            refuse(error, again, &outbox)
        }
    }

    mutating func finish<Begun: Operation>(
        _ operation: Begun, _ begun: Pending, _ outbox: inout Outbox
    ) {
        do throws(Problem) {
            guard var frame = begun.frame else {
                _ = try finish(operation, begun.submission, &outbox)
                return
            }
            frame.beginResult(&outbox)
            let ending = try end(operation, begun.submission, &outbox)
            frame.finish(ending, begun.place, &self, &outbox)
        } catch {
            refuse(error, begun, &outbox)
        }
    }

    private mutating func refuse(
        _ problem: Problem, _ begun: Pending, _ outbox: inout Outbox
    ) {
        guard var frame = begun.frame else {
            return refuse(problem, begun.submission, &outbox)
        }
        frame.refuse(problem, &outbox)
        frame.finish(.written, begun.place, &self, &outbox)
    }

    /// Makes the answer wait for the changes of the last command.
    @inline(__always)
    mutating func promiseChanges() {
        if !effects.changes.isEmpty, shared.hasStore { promises.awaitTurn() }
    }

    /// Gives a center a command that has no answer, and sends its effects.
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
