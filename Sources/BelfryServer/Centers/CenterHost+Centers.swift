import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWire
import Synchronization

// Requests of centers: each is performed on the loop of its center, in one callout.

extension CenterHost {
    /// Performs a request of a center that lives on this loop.
    ///
    /// - Returns: whether the connection may continue; otherwise its answer comes later.
    mutating func perform(_ submission: Submission, _ context: inout LoopContext) -> Bool {
        deliveryBound = DeliveryBound()
        if context.life.isSealed, !isForLog(submission) {
            return refuseSealed(submission, &context)
        }
        if centers.log != nil, !isForLog(submission), let problem = logProblem {
            return refuseAll(problem, submission, &context)
        }
        switch submission.request {
        case .post(let request, let wishes):
            let form = ReceiptForm(of: submission.reply, isBatch: false)
            return perform(
                MakePost(request: request, wishes: wishes, form: form), submission, &context)
        case .postBatch(let requests, let wishes):
            let form = ReceiptForm(of: submission.reply, isBatch: true)
            return perform(
                MakePosts(requests: requests, wishes: wishes, form: form), submission, &context)
        case .ask(let request, let wishes):
            return perform(MakeAsk(request, wishes), submission, &context)
        case .withdraw(let id): return perform(WithdrawAsk(id: id), submission, &context)
        case .answer(let id, let responder, let response):
            let operation = AnswerAsk(id: id, responder: responder, response: response)
            return perform(operation, submission, &context)
        case .archives(let request): return request.perform(&self, submission, &context)
        case .fate(let id, let wait): return readFate(id, wait: wait, submission, &context)
        case .readValue(let look, let wait):
            return readValue(look, wait: wait, submission, &context)
        case .write(let request): return perform(WriteValue(request: request), submission, &context)
        case .connect(let transport, let observers, let since):
            return perform(Connect(transport, observers, since: since), submission, &context)
        case .addObserver(let request):
            guard let session = request.session else {
                return perform(OpenMailbox(request), submission, &context)
            }
            return perform(
                AddObserver(request, client: nil, session: session), submission, &context)
        case .removeObserver(let secret):
            return perform(RemoveObserver(.path(secret)), submission, &context)
        case .readMailbox(let secret, let request, let wait):
            return perform(ReadMailbox(secret, request, wait: wait), submission, &context)
        case .openStream(let secret, let since):
            return perform(OpenStream(secret, since: since), submission, &context)
        case .removeClient(let id, let session):
            return perform(RemoveClient(client: id, session: session), submission, &context)
        case .suspendClient(let id, let session, let isSuspended):
            let operation = SetSuspended(
                isSuspended: isSuspended, client: id, asker: .path(session: session))
            return perform(operation, submission, &context)
        case .dequeue(let request): return perform(Dequeue(request: request), submission, &context)
        case .enterMode(let request):
            return perform(EnterMode(request, client: nil), submission, &context)
        case .leaveMode(let secret): return perform(LeaveMode(secret: secret), submission, &context)
        case .calls(let text, let client):
            var frame = CallFrame(text: text, client: client, submission: submission)
            return frame.perform(&self, &context)
        case .note(let note):
            take(note, submission, &context)
            return true
        case .centers(let rows, let cursor, let limit):
            return listCenters(rows, cursor: cursor, limit: limit, submission, &context)
        case .look(let look):
            return deliver(submission, &context) { answer, host, context throws(Problem) in
                try host.look(look, &answer, submission, &context)
            }
        case .endCenter: return perform(EndCenter(), submission, &context)
        case .changeCluster(let change):
            return perform(ChangeCluster(change: change), submission, &context)
        case .makeTicket(let shown): return perform(MakeTicket(shown: shown), submission, &context)
        }
    }

    /// Answers a request that takes no command.
    mutating func deliver(
        _ submission: Submission, _ context: inout LoopContext,
        _ fill: (inout Answer, inout CenterHost, inout LoopContext) throws(Problem) -> Void
    ) -> Bool {
        var answer = context.outbox.answers.make()
        do throws(Problem) {
            try fill(&answer, &self, &context)
        } catch {
            guard mayBeBehind(error) else {
                refuse(error, answer, submission, &context)
                return true
            }
            context.outbox.answers.reclaim(answer)
            awaitLog(&context)
            keep(AskAgain(), submission)
            return false
        }
        promises.deliver(answer, submission.reply, &context)
        return true
    }

    /// Fills the answer to a look.
    mutating func look(
        _ look: Look, _ answer: inout Answer, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        try look.fill(&answer, submission, centers, &scanBudget, &context)
    }

    /// Performs the note of a connection, which has no answer.
    private mutating func take(
        _ note: ConnectionNote, _ submission: Submission, _ context: inout LoopContext
    ) {
        let name = submission.center
        switch note {
        case .disconnect(let client, let end, let wasWritten):
            let departure = Departure(
                client: client, end: end == .broken && isLeaving(context) ? .brokerLeft : end,
                appliedIndex: wasWritten ? centers.logIndex : centers.log?.handedIndex,
                submission: submission)
            if postponed.departuresMustWait(&context) {
                postponed.add(.departure(departure), &context)
            } else {
                endConnection(departure, &context)
            }
        case .becomeSlow(let client):
            tell(.becomeSlow(client: client), ofClient: client, submission, &context)
        case .drain(let client):
            if promises.keep(client, behindBatchOn: submission.reply.number) { return }
            tell(.drain(client: client), ofClient: client, submission, &context)
        case .keepAlive(let client):
            var bytes: [UInt8] = []
            if let position = centers.position(of: name),
                let row = centers[position].client(client), row.state == .live, row.held == 0
            {
                // Everything up to this position was written to the stream.
                EventStream.append(
                    comment: "", epoch: centers[position].epoch,
                    sequence: centers[position].sequence, to: &bytes)
            } else {
                EventStream.append(comment: "", to: &bytes)
            }
            context.send(bytes, .notice, to: submission.reply.number)
        case .endWait: endWait(of: submission.reply.number, center: name, &context)
        case .detachReader(let observer):
            let connection = submission.reply.number
            markLeft(connection)
            waits.mailboxes.remove(connection.rawValue)
            waits.streams[connection.rawValue] = nil
            tell(
                .detachReader(observer: observer, centers.name(of: connection)), center: name,
                &context)
        }
    }

    /// Gives a center a command that counts only while the connection is the client's.
    private mutating func tell(
        _ action: Command.Action, ofClient client: UInt64, _ submission: Submission,
        _ context: inout LoopContext
    ) {
        let action = centers.action(action, ofClient: client, on: submission.reply.number)
        tell(action, center: submission.center, &context)
    }

    /// Whether the broker leaves a log whose level has the end `brokerLeft` for clients.
    private func isLeaving(_ context: borrowing LoopContext) -> Bool {
        centers.log != nil && context.life.isStopping && centers.level >= Shard.levelThree
    }

    /// Ends every wait of a connection that has gone or is half closed.
    ///
    /// A half-closed one can be answered for an unknown time only.
    mutating func endWait(
        of connection: ConnectionNumber, center name: [UInt8], _ context: inout LoopContext
    ) {
        markLeft(connection)
        postponed.endWait(of: connection.rawValue)
        guard let place = waits.release(connection.rawValue) else { return }
        tell(.leaveAsk(place.ask, place.command), center: name, &context)
    }

    /// Marks the pending commands of a connection: the host ends their waits when it applies them.
    private mutating func markLeft(_ connection: ConnectionNumber) {
        for (command, begun) in pending  // Bound: commands
        where begun.submission.reply.number.rawValue == connection.rawValue {
            pending[command]?.hasLeft = true
        }
    }

    /// Whether a log needs the request even when the broker is sealed.
    ///
    /// Each end of a connection says how far it was written.
    private func isForLog(_ submission: Submission) -> Bool {
        if case .note = submission.request { centers.log != nil } else { false }
    }

    /// Refuses a request of a sealed broker, call by call.
    private mutating func refuseSealed(
        _ submission: Submission, _ context: inout LoopContext
    ) -> Bool {
        refuseAll(.isStopping, submission, &context)
    }

    private mutating func refuseAll(
        _ problem: Problem, _ submission: Submission, _ context: inout LoopContext
    ) -> Bool {
        if case .calls(let text, let client) = submission.request {
            var frame = CallFrame(text: text, client: client, submission: submission)
            return frame.perform(&self, &context)
        }
        promises.deliver(context.problemAnswer(problem), submission.reply, &context)
        return true
    }

    /// The center that a submission names; makes it if there is none.
    ///
    /// - Returns: nil where a sequencer has taken the command that makes it: the operation begins
    ///   again when that was applied.
    mutating func makeCenter(for submission: borrowing Submission, _ context: inout LoopContext)
        throws(Problem) -> Int?
    {
        if let position = centers.position(of: submission.center) { return position }
        if context.life.isSealed { throw Problem.isStopping }
        let owner = centers.owner(of: submission, &context)
        try kept.reserveCenter(for: owner, &context)
        let epoch = context.random.hexadecimal(digitCount: 12)
        guard !centers.hasSequencer else {
            applied.id = centers.hand(
                .makeCenter(submission.center, epoch: epoch), at: context.commandTime)
            context.loop.takeAnotherTurn()
            return nil
        }
        defer { schedule.watch(centers, &context) }
        return centers.make(
            submission.center, owner: owner, epoch: epoch, time: context.commandTime)
    }

    /// Notes that a center was made, and begins the operation again that needs it.
    ///
    /// - Parameter isOwn: whether this loop has submitted the command, and so counted the center
    ///   already.
    mutating func noteMade(
        at position: Int, for begun: Pending?, isOwn: Bool, _ context: inout LoopContext
    ) {
        let isNew = centers.madeIsNew
        if isNew {
            if let begun {
                centers.assign(centers.owner(of: begun.submission, &context), to: position)
            }
            schedule.watch(centers, &context)
        }
        // Another command may have made it first.
        if isOwn, !isNew { kept.releaseCenter() }
        if !isOwn, isNew { shared.totals.centerCount.add(1, ordering: .relaxed) }
        if let begun { beginAgain(begun, &context) }
    }
}
