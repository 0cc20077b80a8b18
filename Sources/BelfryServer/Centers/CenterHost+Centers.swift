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
    mutating func perform(_ submission: Submission, _ outbox: inout Outbox) -> Bool {
        beginAnswer(&outbox)
        deliveryBound = DeliveryBound()
        if outbox.life.isSealed, !isForLog(submission) { return refuseSealed(submission, &outbox) }
        if centers.log != nil, !isForLog(submission), let problem = logProblem {
            return refuseAll(problem, submission, &outbox)
        }
        switch submission.request {
        case .post(let request, let wishes):
            let form = ReceiptForm(of: submission.reply, isBatch: false)
            return perform(
                MakePost(request: request, wishes: wishes, form: form), submission, &outbox)
        case .postBatch(let requests, let wishes):
            let form = ReceiptForm(of: submission.reply, isBatch: true)
            return perform(
                MakePosts(requests: requests, wishes: wishes, form: form), submission, &outbox)
        case .ask(let request, let wishes):
            return perform(MakeAsk(request, wishes), submission, &outbox)
        case .withdraw(let id): return perform(WithdrawAsk(id: id), submission, &outbox)
        case .answer(let id, let responder, let response):
            let operation = AnswerAsk(id: id, responder: responder, response: response)
            return perform(operation, submission, &outbox)
        case .fate(let id, let wait): return readFate(id, wait: wait, submission, &outbox)
        case .readValue(let look, let wait): return readValue(look, wait: wait, submission, &outbox)
        case .write(let request): return perform(WriteValue(request: request), submission, &outbox)
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
        case .dequeue(let request): return perform(Dequeue(request: request), submission, &outbox)
        case .enterMode(let request):
            return perform(EnterMode(request, client: nil), submission, &outbox)
        case .leaveMode(let secret): return perform(LeaveMode(secret: secret), submission, &outbox)
        case .calls(let text, let client):
            var frame = CallFrame(text: text, client: client, submission: submission)
            return frame.perform(&self, &outbox)
        case .note(let note):
            take(note, submission, &outbox)
            return true
        case .centers(let rows, let cursor, let limit):
            return listCenters(rows, cursor: cursor, limit: limit, submission, &outbox)
        case .look(let look):
            return deliver(submission, &outbox) { host, outbox throws(Problem) in
                try host.look(look, submission, &outbox)
            }
        case .endCenter: return perform(EndCenter(), submission, &outbox)
        case .changeCluster(let change):
            return perform(ChangeCluster(change: change), submission, &outbox)
        case .makeTicket(let shown): return perform(MakeTicket(shown: shown), submission, &outbox)
        }
    }

    /// Answers a request that takes no command.
    mutating func deliver(
        _ submission: Submission, _ outbox: inout Outbox,
        _ answer: (inout CenterHost, inout Outbox) throws(Problem) -> Answer
    ) -> Bool {
        do throws(Problem) {
            promises.deliver(try answer(&self, &outbox), submission.reply, &outbox)
        } catch {
            guard mayBeBehind(error) else {
                refuse(error, submission, &outbox)
                return true
            }
            outbox.content.removeAll(keepingCapacity: true)
            awaitLog(&outbox)
            keep(AskAgain(), submission)
            return false
        }
        return true
    }

    /// Answers a look; the content goes to the outbox.
    mutating func look(
        _ look: Look, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Answer {
        try look.answer(submission, centers, &scanBudget, &outbox)
    }

    /// Performs the note of a connection, which has no answer.
    private mutating func take(
        _ note: ConnectionNote, _ submission: Submission, _ outbox: inout Outbox
    ) {
        let name = submission.center
        switch note {
        case .disconnect(let client, let end, let wasWritten):
            let departure = Departure(
                client: client, end: end == .broken && isLeaving(outbox) ? .brokerLeft : end,
                appliedIndex: wasWritten ? centers.logIndex : centers.log?.handedIndex,
                submission: submission)
            if postponed.departuresMustWait(&outbox) {
                postponed.add(.departure(departure), &outbox)
            } else {
                endConnection(departure, &outbox)
            }
        case .becomeSlow(let client):
            tell(.becomeSlow(client: client), ofClient: client, submission, &outbox)
        case .drain(let client):
            tell(.drain(client: client), ofClient: client, submission, &outbox)
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
            outbox.send(bytes, .notice, to: submission.reply.number)
        case .endWait: endWait(of: submission.reply.number, center: name, &outbox)
        case .detachReader(let observer):
            let connection = submission.reply.number
            markLeft(connection)
            polls.forget(connection.rawValue)
            tell(
                .detachReader(observer: observer, centers.name(of: connection)), center: name,
                &outbox)
        }
    }

    /// Gives a center a command that counts only while the connection is the client's.
    private mutating func tell(
        _ action: Command.Action, ofClient client: UInt64, _ submission: Submission,
        _ outbox: inout Outbox
    ) {
        let action = centers.action(action, ofClient: client, on: submission.reply.number)
        tell(action, center: submission.center, &outbox)
    }

    /// Whether the broker leaves a log whose level has the end `brokerLeft` for clients.
    private func isLeaving(_ outbox: borrowing Outbox) -> Bool {
        centers.log != nil && outbox.life.isStopping && centers.level >= Shard.levelThree
    }

    /// Ends every wait of a connection that has gone or is half closed.
    ///
    /// A half-closed one can be answered for an unknown time only.
    mutating func endWait(
        of connection: ConnectionNumber, center name: [UInt8], _ outbox: inout Outbox
    ) {
        markLeft(connection)
        postponed.endWait(of: connection.rawValue)
        polls.end(connection.rawValue, .filled)
        values.endWait(of: connection.rawValue)
        guard let place = asks.endWait(of: connection.rawValue) else { return }
        tell(.leaveAsk(place.ask, place.command), center: name, &outbox)
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
        _ submission: Submission, _ outbox: inout Outbox
    ) -> Bool {
        refuseAll(.isStopping, submission, &outbox)
    }

    private mutating func refuseAll(
        _ problem: Problem, _ submission: Submission, _ outbox: inout Outbox
    ) -> Bool {
        if case .calls(let text, let client) = submission.request {
            var frame = CallFrame(text: text, client: client, submission: submission)
            return frame.perform(&self, &outbox)
        }
        promises.deliver(outbox.problemAnswer(problem), submission.reply, &outbox)
        return true
    }

    /// The center that a submission names; makes it if there is none.
    ///
    /// - Returns: nil where a sequencer has taken the command that makes it: the operation begins
    ///   again when that was applied.
    mutating func makeCenter(for submission: borrowing Submission, _ outbox: inout Outbox)
        throws(Problem) -> Int?
    {
        if let position = centers.position(of: submission.center) { return position }
        if outbox.life.isSealed { throw Problem.isStopping }
        let owner = centers.owner(of: submission, &outbox)
        try kept.reserveCenter(for: owner, &outbox)
        let epoch = outbox.random.hexadecimal(digitCount: 12)
        guard !centers.hasSequencer else {
            applied.id = centers.hand(
                .makeCenter(submission.center, epoch: epoch), at: outbox.commandTime)
            outbox.loop.takeAnotherTurn()
            return nil
        }
        defer { schedule.watch(centers, &outbox) }
        return centers.make(
            submission.center, owner: owner, epoch: epoch, time: outbox.commandTime)
    }

    /// Notes that a center was made, and begins the operation again that needs it.
    ///
    /// - Parameter isOwn: whether this loop has submitted the command, and so counted the center
    ///   already.
    mutating func noteMade(
        at position: Int, for begun: Pending?, isOwn: Bool, _ outbox: inout Outbox
    ) {
        let isNew = centers.madeIsNew
        if isNew {
            if let begun {
                centers.assign(centers.owner(of: begun.submission, &outbox), to: position)
            }
            schedule.watch(centers, &outbox)
        }
        // Another command may have made it first.
        if isOwn, !isNew { kept.releaseCenter() }
        if !isOwn, isNew { shared.totals.centerCount.add(1, ordering: .relaxed) }
        if let begun { beginAgain(begun, &outbox) }
    }
}
