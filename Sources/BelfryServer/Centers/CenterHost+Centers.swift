import BelfryAccess
import BelfryCenter
import BelfryWire
import Synchronization

// Requests of centers: each is performed on the loop of its center, in one callout.

extension CenterHost {
    /// Performs a request of a center that lives on this loop.
    ///
    /// - Returns: whether the connection that asks may go on; otherwise its answer comes later.
    mutating func perform(_ submission: Submission, _ outbox: inout Outbox) -> Bool {
        beginAnswer(&outbox)
        calloutDeliveryCount = 0
        if outbox.life.isSealed { return refuseSealed(submission, &outbox) }
        switch submission.request {
        case .post(let request, let wishes):
            let form = ReceiptForm(of: submission.reply, isBatch: false)
            return perform(
                MakePost(request: request, wishes: wishes, form: form), submission, &outbox)
        case .postBatch(let requests, let wishes):
            let form = ReceiptForm(of: submission.reply, isBatch: true)
            return perform(
                MakePosts(requests: requests, wishes: wishes, form: form), submission, &outbox)
        case .connect(let transport, let observers, let since):
            return perform(Connect(transport, observers, since: since), submission, &outbox)
        case .addObserver(let request):
            guard let session = request.session else {
                return perform(OpenMailbox(request), submission, &outbox)
            }
            return perform(
                AddObserver(request, client: nil, session: session), submission, &outbox)
        case .removeObserver(let secret):
            return perform(RemoveObserver(.path(secret)), submission, &outbox)
        case .readMailbox(let secret, let request, let wait):
            return perform(ReadMailbox(secret, request, wait: wait), submission, &outbox)
        case .openStream(let secret, let since):
            return perform(OpenStream(secret, since: since), submission, &outbox)
        case .removeClient(let id, let session):
            return perform(RemoveClient(client: id, session: session), submission, &outbox)
        case .suspendClient(let id, let session, let isSuspended):
            let operation = SetSuspended(
                isSuspended: isSuspended, client: id, asker: .path(session: session))
            return perform(operation, submission, &outbox)
        case .dequeue(let request):
            return perform(Dequeue(request: request), submission, &outbox)
        case .enterMode(let request):
            return perform(EnterMode(request, client: nil), submission, &outbox)
        case .leaveMode(let secret):
            return perform(LeaveMode(secret: secret), submission, &outbox)
        case .calls(let text, let client):
            return performCalls(text, client: client, submission, &outbox)
        case .disconnect, .becomeSlow, .drain, .endPoll, .detachReader:
            note(submission, &outbox)
            return true
        case .centers(let rows, let cursor, let limit):
            return listCenters(rows, cursor: cursor, limit: limit, submission, &outbox)
        case .readObserver, .fate, .observers, .clients, .channels, .queue, .queueEntry, .modes,
            .explain, .leaks, .unmatched, .endCenter:
            do throws(Problem) {
                let answer =
                    if case .endCenter = submission.request {
                        try endCenter(submission, &outbox)
                    } else {
                        try look(submission.request, submission, &outbox)
                    }
                deliver(answer, submission.reply, &outbox)
            } catch {
                refuse(error, submission, &outbox)
            }
            return true
        }
    }

    /// Takes what a connection tells its center; nobody waits for an answer.
    private mutating func note(_ submission: Submission, _ outbox: inout Outbox) {
        let name = submission.center
        switch submission.request {
        case .disconnect(let client):
            if departuresMustWait(&outbox) {
                postpone(.departure(client, submission), &outbox)
            } else {
                endConnection(of: client, submission, &outbox)
            }
        case .becomeSlow(let client): tell(.becomeSlow(client: client), center: name, &outbox)
        case .drain(let client): tell(.drain(client: client), center: name, &outbox)
        case .endPoll: endPoll(of: submission)
        case .detachReader(let observer): detachReader(observer, submission, &outbox)
        default: break
        }
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
}
