import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

// Requests of centers: each finds the loop of its center and is performed there, in one callout.

extension ServerLoop {
    /// Performs a request here, or sends it to the loop of its center at the end of the turn.
    mutating func submit(_ submission: Submission) {
        let home = homeLoop(of: submission)
        if home == number {
            perform(submission)
            return
        }
        switch submission.reply.form {
        case .none: break
        case .webSocket:
            connections[submission.reply.connection].isAwaiting = true
        case .http:
            let id = submission.reply.connection
            connections[id].isAwaiting = true
            // The request is whole: its time is over, and that of the answer is the broker's.
            setDeadline(id, .answer)
        }
        outbound[home].submissions.append(submission)
    }

    mutating func homeLoop(of submission: Submission) -> Int {
        // The listing of all centers starts on the first loop and visits every one.
        if case .centers = submission.request { return 0 }
        return shared.home(of: submission.center)
    }

    /// Performs a request of a center that lives on this loop.
    mutating func perform(_ submission: Submission) {
        answerContent.removeAll(keepingCapacity: answerContent.capacity <= 1 << 20)
        promises.awaitedTicket = 0
        calloutDeliveryCount = 0
        if stop.isSealed { return refuseSealed(submission) }
        let answer: Answer?
        do throws(Problem) {
            switch submission.request {
            case .centers(let rows, let cursor, let limit):
                try listCenters(rows, cursor: cursor, limit: limit, submission)
                return
            case .connect(let transport, let observers, let since):
                try connect(transport, observers, since: since, submission)
                return
            case .calls(let text, let client):
                performCalls(text, client: client, submission)
                return
            case .openStream(let secret, let since):
                try openStream(secret, since: since, submission)
                return
            case .post, .postBatch, .disconnect, .becomeSlow, .drain, .addObserver,
                .removeObserver, .readObserver, .readMailbox, .endPoll, .detachReader,
                .removeClient, .suspendClient, .dequeue, .enterMode, .leaveMode, .fate, .observers,
                .clients, .channels, .queue, .queueEntry, .modes, .explain, .leaks, .unmatched,
                .endCenter:
                answer = try performRequest(submission)
            }
        } catch {
            answerContent.removeAll(keepingCapacity: true)
            deliver(problemAnswer(error), submission.reply)
            fanOut()
            return
        }
        if let answer { deliver(answer, submission.reply) }
        // What follows a registration comes after its answer.
        fanOut()
    }

    /// Nothing is done any more: whoever asks is told so, call by call.
    private mutating func refuseSealed(_ submission: Submission) {
        if case .calls(let text, let client) = submission.request {
            return performCalls(text, client: client, submission)
        }
        deliver(problemAnswer(.isStopping), submission.reply)
    }

    /// Performs a request; nil if its answer comes later.
    private mutating func performRequest(
        _ submission: Submission
    ) throws(Problem) -> Answer? {
        let caller = submission.caller
        let name = submission.center
        switch submission.request {
        case .post(let request, let wishes):
            return try post(request, wishes, submission)
        case .postBatch(let requests, let wishes):
            return try post(requests, wishes, submission)
        case .disconnect(let client):
            if departuresMustWait {
                postpone(.departure(client, submission))
            } else {
                endConnection(of: client, submission)
            }
            return .empty
        case .becomeSlow(let client):
            submitInternal(.becomeSlow(client: client), center: name)
            return .empty
        case .drain(let client):
            submitInternal(.drain(client: client), center: name)
            return .empty
        case .addObserver(let request):
            return try addObserver(request, submission)
        case .removeObserver(let secret):
            let row = try removableObserver(secret, caller, center: name)
            try removeObserver(row, by: .principal(caller.principal), center: name)
            return .empty
        case .readMailbox(let secret, let request, let wait):
            return try readMailbox(secret, request, wait: wait, submission)
        case .endPoll:
            endPoll(of: submission)
            return nil
        case .detachReader(let observer):
            detachReader(observer, submission)
            return nil
        case .removeClient(let id, let session):
            try removeClient(id, session: session, submission)
            return .empty
        case .suspendClient(let id, let session, let isSuspended):
            return try suspendClient(id, session: session, isSuspended, submission)
        case .dequeue(let request):
            return try answerDequeue(request, submission)
        case .enterMode(let request):
            return try answerEnterMode(request, submission)
        case .leaveMode(let secret):
            try leaveMode(secret, submission)
            return .empty
        case .endCenter:
            return try endCenter(submission)
        case .readObserver, .fate, .observers, .clients, .channels, .queue, .queueEntry, .modes,
            .explain, .leaks, .unmatched:
            return try look(submission)
        case .connect, .calls, .centers, .openStream:
            preconditionFailure("these are performed in a way of their own")
        }
    }

    // MARK: Commands

    /// Gives a center a command; what it brought about is in `effects`.
    ///
    /// Whoever submits calls `fanOut` before the next command.
    ///
    /// - Parameters:
    ///   - action: what to do.
    ///   - position: the center.
    ///   - isPromise: whether the answer must wait until what the command changes is stored.
    /// - Returns: the name of the command, by which its completion is found.
    @discardableResult
    mutating func submitCommand(
        _ action: consuming Command.Action, to position: Int, isPromise: Bool = true
    ) -> CommandID {
        lastCenter = position
        isSpread = false
        let id = centers.submit(action, to: position, at: commandTime, into: &effects)
        if !effects.changes.isEmpty, shared.hasStore {
            promises.noteChanges(isPromised: isPromise)
        }
        if centers.observerGrowth != 0 {
            countObservers(centers.observerGrowth)
            accountForKept()
        }
        // The first answer may still wait for what this one repeats.
        if case .replayed = effects.outcome { promises.awaitEverything() }
        return id
    }

    private mutating func countObservers(_ growth: Int) {
        shared.observerCount.add(growth, ordering: .relaxed)
        if growth > 0 {
            counters.registrations += UInt64(growth)
        } else {
            counters.removals += UInt64(-growth)
        }
    }

    /// Gives a center, if it is there, a command that nobody waits for.
    mutating func submitInternal(_ action: consuming Command.Action, center name: [UInt8]) {
        guard let position = centers.position(of: name) else { return }
        submitCommand(action, to: position, isPromise: false)
    }

    /// The center that a submission names; it is made unless it is there.
    mutating func makeCenter(for submission: borrowing Submission) throws(Problem) -> Int {
        if let position = centers.position(of: submission.center) { return position }
        if stop.isSealed { throw Problem.isStopping }
        let owner = owner(of: submission)
        try reserveCenter(for: owner)
        defer { watchCenters() }
        return centers.make(
            submission.center, owner: owner, epoch: random.hexadecimal(digitCount: 12),
            time: commandTime)
    }

    /// The refusal of the last command as a problem.
    mutating func checkOutcome() throws(Problem) {
        if case .refused(let refusal) = effects.outcome { throw Problem(refusal) }
    }
}
