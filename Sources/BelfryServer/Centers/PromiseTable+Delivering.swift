import BelfryCenter
import BelfryHTTP
import BelfryStore
import BelfryWire

// Answers that promise something wait until it is stored; deliveries do not (decision 20).

extension PromiseTable {
    /// Sends an answer as soon as its promise is stored.
    mutating func deliver(_ answer: consuming Answer, _ reply: Reply, _ context: inout LoopContext)
    {
        guard answer.ticket != 0 else { return context.deliver(answer, reply) }
        deliverWhenStored(answer, reply, &context)
    }

    private mutating func deliverWhenStored(
        _ answer: consuming Answer, _ reply: Reply, _ context: inout LoopContext
    ) {
        let ticket = answer.ticket
        switch reply.form {
        case .none:
            context.outbox.answers.reclaim(answer)
        case .http(let http) where reply.loop == context.number:
            context.promise(answer, reply, http)
            noteCork(reply, until: ticket, &context)
        case .http(let http):
            let sequel = http.context.keepsAlive ? answer.sequel : answer.sequel.orClose
            let bytes = context.encoded(answer, http)
            let parked = ParkedAnswer(bytes: bytes, reply: reply, sequel: sequel)
            park(.answer(parked), until: ticket, &context)
        case .calls:
            // The next frame of the client can be read: calls are told apart by their ids.
            context.letGoOn(reply)
            let bytes = context.frame(of: answer)
            if bytes.isEmpty { return }
            let parked = ParkedAnswer(bytes: bytes, reply: reply, sequel: .none)
            park(.answer(parked), until: ticket, &context)
        }
    }

    /// Resumes a client's held deliveries behind its answer, wherever that waits.
    mutating func flushBehindAnswers(
        _ client: UInt64, _ connection: ConnectionNumber, _ context: inout LoopContext
    ) {
        if keep(client, behindBatchOn: connection) { return }
        let ticket = ticketOfEverything
        guard ticket != 0 else {
            return context.send([], .flushGoesOn(client: client), to: connection)
        }
        park(.flush(of: client, connection), until: ticket, &context)
    }

    /// Sends the answers of a batch once it is complete, and resumes the deliveries behind them.
    mutating func deliver(_ batch: CallBatch, _ sequel: Sequel, _ context: inout LoopContext) {
        if batch.isComplete { deliverWhole(batch, sequel, &context) }
        let clients = batch.takeFlushes()
        if !clients.isEmpty { close(batch) }
        for client in clients {  // Bound: calls
            flushBehindAnswers(client, batch.reply.number, &context)
        }
    }

    private mutating func deliverWhole(
        _ batch: CallBatch, _ sequel: Sequel, _ context: inout LoopContext
    ) {
        var answer = context.outbox.answers.make()
        batch.append(to: &answer.content)
        answer.sequel = sequel
        if batch.ticket > committedTicket { answer.wait(until: batch.ticket) }
        deliver(answer, batch.reply, &context)
    }

    /// Hands the store the changes of this turn.
    mutating func hand(_ changes: consuming [StoreChange], _ context: inout LoopContext) {
        guard let store = context.shared.store, !context.life.isSealed else { return }
        var changes = changes
        let ticket = ticket
        for block in context.shared.numbers.all {  // Bound: few
            guard let request = block.takeRequest() else { continue }
            changes.append(request.change)
            self.await(request, until: ticket)
        }
        if changes.isEmpty { return }
        store.hand(StoreBatch(loop: context.number, ticket: takeTicket(), changes: changes))
    }
}

extension CenterHost {
    /// Answers all that waited for the commit of a ticket of this loop.
    mutating func takeCommit(_ ticket: UInt64, _ context: inout LoopContext) {
        promises.commit(ticket)
        while let numbers = promises.nextNumbers() {  // Bound: commit
            numbers.block.commit(through: numbers.through)
        }
        while let parked = promises.nextAnswer() {  // Bound: commit
            switch parked {
            case .answer(let answer): context.send(answer)
            case .flush(let client, let connection):
                context.send([], .flushGoesOn(client: client), to: connection)
            }
        }
        while let reply = promises.nextCorked() {  // Bound: commit
            context.outbox.add(.stored(through: ticket), to: reply.number)
        }
        while let asks = promises.nextAsks() {  // Bound: commit
            if context.life.isSealed { continue }
            tell(.showAnnounced(through: asks.number), center: asks.center, &context)
        }
    }
}
