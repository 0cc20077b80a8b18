import BelfryAccess
import BelfryCenter
import BelfryWire
import Synchronization

// Requests of centers: each finds the loop of its center and is performed there, in one callout.

extension CenterHost {
    /// Performs a request of a center that lives on this loop.
    ///
    /// - Returns: whether the connection that asks may go on; otherwise its answer comes later.
    mutating func perform(_ submission: Submission, _ outbox: inout Outbox) -> Bool {
        outbox.content.removeAll(keepingCapacity: outbox.content.capacity <= 1 << 20)
        promises.awaitedTicket = 0
        calloutDeliveryCount = 0
        if outbox.life.isSealed { return refuseSealed(submission, &outbox) }
        let answer: Answer?
        do throws(Problem) {
            switch submission.request {
            case .centers(let rows, let cursor, let limit):
                return try listCenters(rows, cursor: cursor, limit: limit, submission, &outbox)
            case .connect(let transport, let observers, let since):
                try connect(transport, observers, since: since, submission, &outbox)
                return true
            case .calls(let text, let client):
                return performCalls(text, client: client, submission, &outbox)
            case .openStream(let secret, let since):
                try openStream(secret, since: since, submission, &outbox)
                return true
            case .post, .postBatch, .disconnect, .becomeSlow, .drain, .addObserver,
                .removeObserver, .readObserver, .readMailbox, .endPoll, .detachReader,
                .removeClient, .suspendClient, .dequeue, .enterMode, .leaveMode, .fate, .observers,
                .clients, .channels, .queue, .queueEntry, .modes, .explain, .leaks, .unmatched,
                .endCenter:
                answer = try performRequest(submission, &outbox)
            }
        } catch {
            outbox.content.removeAll(keepingCapacity: true)
            deliver(outbox.problemAnswer(error), submission.reply, &outbox)
            fanOut(&outbox)
            return true
        }
        if let answer { deliver(answer, submission.reply, &outbox) }
        // What follows a registration comes after its answer.
        fanOut(&outbox)
        return answer != nil
    }

    /// Nothing is done any more: whoever asks is told so, call by call.
    private mutating func refuseSealed(
        _ submission: Submission, _ outbox: inout Outbox
    ) -> Bool {
        if case .calls(let text, let client) = submission.request {
            return performCalls(text, client: client, submission, &outbox)
        }
        deliver(outbox.problemAnswer(.isStopping), submission.reply, &outbox)
        return true
    }

    /// Performs a request; nil if its answer comes later.
    private mutating func performRequest(
        _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Answer? {
        let caller = submission.caller
        let name = submission.center
        switch submission.request {
        case .post(let request, let wishes):
            return try post(request, wishes, submission, &outbox)
        case .postBatch(let requests, let wishes):
            return try post(requests, wishes, submission, &outbox)
        case .disconnect(let client):
            if departuresMustWait(&outbox) {
                postpone(.departure(client, submission), &outbox)
            } else {
                endConnection(of: client, submission, &outbox)
            }
            return .empty
        case .becomeSlow(let client):
            submitInternal(.becomeSlow(client: client), center: name, &outbox)
            return .empty
        case .drain(let client):
            submitInternal(.drain(client: client), center: name, &outbox)
            return .empty
        case .addObserver(let request):
            return try addObserver(request, submission, &outbox)
        case .removeObserver(let secret):
            let row = try removableObserver(secret, caller, center: name)
            try removeObserver(row, by: .principal(caller.principal), center: name, &outbox)
            return .empty
        case .readMailbox(let secret, let request, let wait):
            return try readMailbox(secret, request, wait: wait, submission, &outbox)
        case .endPoll:
            endPoll(of: submission)
            return nil
        case .detachReader(let observer):
            detachReader(observer, submission, &outbox)
            return nil
        case .removeClient(let id, let session):
            try removeClient(id, session: session, submission, &outbox)
            return .empty
        case .suspendClient(let id, let session, let isSuspended):
            return try suspendClient(id, session: session, isSuspended, submission, &outbox)
        case .dequeue(let request):
            return try answerDequeue(request, submission, &outbox)
        case .enterMode(let request):
            return try answerEnterMode(request, submission, &outbox)
        case .leaveMode(let secret):
            try leaveMode(secret, submission, &outbox)
            return .empty
        case .endCenter:
            return try endCenter(submission, &outbox)
        case .readObserver, .fate, .observers, .clients, .channels, .queue, .queueEntry, .modes,
            .explain, .leaks, .unmatched:
            return try look(submission, &outbox)
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
        _ action: consuming Command.Action, to position: Int, isPromise: Bool = true,
        _ outbox: inout Outbox
    ) -> CommandID {
        precondition(unspread == nil, "what the last command brought about is on its way")
        unspread = position
        let id = centers.submit(action, to: position, at: outbox.commandTime, into: &effects)
        if !effects.changes.isEmpty, shared.hasStore {
            promises.noteChanges(isPromised: isPromise)
        }
        if centers.observerGrowth != 0 {
            countObservers(centers.observerGrowth, &outbox)
            accountForKept(&outbox)
        }
        // The first answer may still wait for what this one repeats.
        if case .replayed = effects.outcome { promises.awaitEverything() }
        return id
    }

    private mutating func countObservers(_ growth: Int, _ outbox: inout Outbox) {
        shared.observerCount.add(growth, ordering: .relaxed)
        if growth > 0 {
            outbox.counters.registrations += UInt64(growth)
        } else {
            outbox.counters.removals += UInt64(-growth)
        }
    }

    /// Gives a center, if it is there, a command that nobody waits for.
    mutating func submitInternal(
        _ action: consuming Command.Action, center name: [UInt8], _ outbox: inout Outbox
    ) {
        guard let position = centers.position(of: name) else { return }
        submitCommand(action, to: position, isPromise: false, &outbox)
    }

    /// The center that a submission names; it is made unless it is there.
    mutating func makeCenter(for submission: borrowing Submission, _ outbox: inout Outbox)
        throws(Problem) -> Int
    {
        if let position = centers.position(of: submission.center) { return position }
        if outbox.life.isSealed { throw Problem.isStopping }
        let owner = owner(of: submission, &outbox)
        try reserveCenter(for: owner, &outbox)
        defer { watchCenters(&outbox) }
        return centers.make(
            submission.center, owner: owner, epoch: outbox.random.hexadecimal(digitCount: 12),
            time: outbox.commandTime)
    }

    /// The refusal of the last command as a problem.
    mutating func checkOutcome() throws(Problem) {
        if case .refused(let refusal) = effects.outcome { throw Problem(refusal) }
    }
}
