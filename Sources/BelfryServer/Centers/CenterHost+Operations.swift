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
        _ operation: consuming Requested, _ submission: Submission, _ context: inout LoopContext
    ) -> Bool {
        var answer = context.outbox.answers.make()
        do throws(Problem) {
            try operation.begin(&self, submission, &context)
            if applied.isUnspread {
                let ending = try end(operation, &answer, submission, &context)
                return close(ending, answer, submission, &context)
            }
        } catch {
            guard mayBeBehind(error) else {
                refuse(error, answer, submission, &context)
                return true
            }
            awaitLog(&context)
        }
        context.outbox.answers.reclaim(answer)
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

    /// Sends or parks the answer of an operation that has ended.
    ///
    /// - Returns: whether the request is answered.
    @inline(__always)
    private mutating func close(
        _ ending: Ending, _ answer: consuming Answer, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Bool {
        var isAnswered = true
        switch ending {
        case .answered: promises.deliver(answer, submission.reply, &context)
        case .written: context.outbox.answers.reclaim(answer)
        case .waiting(let form):
            park(submission.reply, form, submission.sight, after: answer.ticket, &context)
            context.outbox.answers.reclaim(answer)
            isAnswered = false
        case .later:
            context.outbox.answers.reclaim(answer)
            isAnswered = false
        }
        fanOut(&context)
        return isAnswered
    }

    /// Makes the answer of an operation before or after the effects of its command.
    @inline(__always)
    mutating func end<Requested: Operation>(
        _ operation: borrowing Requested, _ answer: inout Answer, _ submission: Submission,
        _ context: inout LoopContext
    ) throws(Problem) -> Ending {
        if Requested.isPromise {
            answer.wait(until: ticketOfChanges)
            // The first answer, which this one repeats, may still wait for its commit.
            if case .replayed = effects.outcome { answer.wait(until: promises.ticketOfEverything) }
        }
        if !Requested.answersFirst { fanOut(&context) }
        try checkOutcome()
        return try operation.finish(&answer, &self, submission, &context)
    }

    /// Answers a request with a problem.
    mutating func refuse(_ problem: Problem, _ submission: Submission, _ context: inout LoopContext)
    {
        refuse(problem, context.outbox.answers.make(), submission, &context)
    }

    /// Answers a request with a problem, in place of what its answer says so far.
    mutating func refuse(
        _ problem: Problem, _ answer: consuming Answer, _ submission: Submission,
        _ context: inout LoopContext
    ) {
        context.refuse(problem, in: &answer)
        promises.deliver(answer, submission.reply, &context)
        fanOut(&context)
    }

    // MARK: Commands

    /// Gives a center a command; its effects are in `effects`, unless a sequencer has taken it.
    ///
    /// - Parameters:
    ///   - number: the number of the client, or of the mode lease, that the command makes.
    ///   - time: the time of the command; nil is the time of the turn.
    mutating func submitCommand(
        _ action: consuming Command.Action, making number: UInt64 = 0, to position: Int,
        at time: CommandTime? = nil, _ context: inout LoopContext
    ) {
        precondition(!applied.isUnspread, "what the last command brought about is on its way")
        // A sequencer gives it another name.
        let command = Command(
            id: centers.nextCommand, time: time ?? context.commandTime, action: action)
        if centers.hasSequencer {
            applied.id = centers.hand(command, for: position)
            context.loop.takeAnotherTurn()
        } else {
            applied.id = command.id
            applied.number = number
            centers.apply(command, to: position, into: &effects)
            noteApplied(to: position, &context)
        }
    }

    /// Notes that a command was applied; its effects are sent with ``fanOut(_:)``.
    @inline(__always)
    private mutating func noteApplied(to position: Int, _ context: inout LoopContext) {
        applied.isUnspread = true
        applied.position = position
        if !effects.changes.isEmpty, shared.hasStore { promises.noteChanges() }
        if centers.observerGrowth != 0 {
            shared.totals.observerCount.add(centers.observerGrowth, ordering: .relaxed)
            context.counters.countObservers(centers.observerGrowth)
            kept.account(for: &centers, &context)
        }
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
    mutating func applyInOrder(_ context: inout LoopContext) {
        guard let sequencer = centers.sequencer else { return }
        let shareEnd = context.loop.clock + Self.entryShare
        // Share: entries
        while let event = centers.next(at: context.commandTime, shared.totals, into: &effects) {
            switch event {
            case .step(let step): take(step, &context)
            case .failed(let id, let failure):
                fail(id, Problem(failure), mayHappen: failure == .unknownOutcome, &context)
            case .refused(let id, let problem): fail(id, problem, mayHappen: false, &context)
            case .restored, .began, .broker, .fenced, .left, .stopped: takePart(event, &context)
            }
            if context.loop.clock >= shareEnd { return context.loop.takeAnotherTurn() }
        }
        if sequencer.needsTurns, sequencer.isWaiting { context.loop.takeAnotherTurn() }
    }

    /// Sends the effects of a step, and finishes the operation of its command.
    private mutating func take(_ step: Shard.Step, _ context: inout LoopContext) {
        let command = step.id.flatMap { centers.takeBack($0) }
        let begun = step.id.flatMap { pending.removeValue(forKey: $0) }
        let isGone = step.id.map { gone.remove($0) != nil } ?? false
        promises.batch = begun?.frame?.batch
        part.isSure = true
        defer { part.isSure = false }
        if let id = step.id { applied.id = id }
        applied.number = step.number
        applied.result = step.result
        tickets.decide(behind: step, &centers, &context)
        switch (step.result, step.center) {
        case (.told, let position?):
            noteApplied(to: position, &context)
            if command?.work == .trim { centers.noteKept(at: position) }
            let lost = isGone ? effects.client(of: step, in: centers[position]) : nil
            if let begun { finish(begun.operation, begun, &context) }
            fanOut(&context)
            if let lost { endLost(lost, at: position, &context) }
        case (.made, let position?):
            noteMade(at: position, for: begun, isOwn: command != nil, &context)
        case (.noCenter, _):
            // The center has ended before the command was applied.
            if let begun { beginAgain(begun, &context) }
        case (.ended, _), (.inUse, _):
            applied.endTicket = 0
            if step.result == .ended { noteEnd(isStored: centers.endedIsStored) }
            applied.isUnspread = true
            if let begun { finish(begun.operation, begun, &context) }
        case (.done, _), (.refused, _): if let begun { goOn(begun, &context) }
        case (.told, nil), (.made, nil), (.began, _), (.lifeEnded, _), (.used, _): break
        }
        close(begun, &context)
    }

    /// Refuses an operation whose command was not applied, or has an unknown outcome.
    ///
    /// - Parameter mayHappen: whether the log may show it still: a client that it makes must be
    ///   removed then.
    private mutating func fail(
        _ id: CommandID, _ problem: Problem, mayHappen: Bool, _ context: inout LoopContext
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
        if let begun { refuse(problem, context.outbox.answers.make(), begun, &context) }
        tickets.fail(id, problem, mayHappen: mayHappen, &centers, &context)
        close(begun, &context)
    }

    private mutating func close(_ begun: Pending?, _ context: inout LoopContext) {
        fanOut(&context)
        promises.batch = nil
        if let begun, begun.hasLeft {
            endWait(of: begun.submission.reply.number, center: begun.submission.center, &context)
        }
    }

    /// Begins an operation again, as its center is another than before.
    mutating func beginAgain(_ begun: consuming Pending, _ context: inout LoopContext) {
        var again = begun
        deliveryBound = again.frame?.deliveryBound ?? DeliveryBound()
        do throws(Problem) {
            try again.operation.begin(&self, again.submission, &context)
            pending[applied.id] = again
        } catch {
            refuse(error, context.outbox.answers.make(), again, &context)
        }
    }

    mutating func finish<Begun: Operation>(
        _ operation: Begun, _ begun: Pending, _ context: inout LoopContext
    ) {
        var answer = context.outbox.answers.make()
        begun.frame?.beginResult(in: &answer)
        do throws(Problem) {
            let ending = try end(operation, &answer, begun.submission, &context)
            guard var frame = begun.frame else {
                _ = close(ending, answer, begun.submission, &context)
                return
            }
            frame.finish(ending, answer, begun.place, &self, &context)
        } catch {
            refuse(error, answer, begun, &context)
        }
    }

    private mutating func refuse(
        _ problem: Problem, _ answer: consuming Answer, _ begun: Pending,
        _ context: inout LoopContext
    ) {
        guard var frame = begun.frame else {
            return refuse(problem, answer, begun.submission, &context)
        }
        frame.refuse(problem, in: &answer, &context)
        frame.finish(.written, answer, begun.place, &self, &context)
    }

    /// The ticket that stores the changes of the last command; 0 without changes to store.
    @inline(__always)
    var ticketOfChanges: UInt64 {
        !effects.changes.isEmpty && shared.hasStore ? promises.ticket : 0
    }

    /// Gives a center a command that has no answer, and sends its effects.
    mutating func tell(
        _ action: consuming Command.Action, to position: Int, _ context: inout LoopContext
    ) {
        submitCommand(action, to: position, &context)
        fanOut(&context)
    }

    /// Gives a center, if it is there, a command that has no answer.
    mutating func tell(
        _ action: consuming Command.Action, center name: [UInt8], _ context: inout LoopContext
    ) {
        if let position = centers.position(of: name) { tell(action, to: position, &context) }
    }

    /// The refusal of the last command as a problem.
    @inline(__always)
    func checkOutcome() throws(Problem) {
        if case .refused(let refusal) = effects.outcome { throw Problem(refusal) }
    }
}
