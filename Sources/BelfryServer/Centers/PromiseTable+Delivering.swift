import BelfryCenter
import BelfryHTTP
import BelfryStore
import BelfryWire

// Answers that promise something wait until it is stored; deliveries do not (decision 20).

extension PromiseTable {
    /// Sends an answer as soon as its promise is stored.
    mutating func deliver(_ answer: Answer, _ reply: Reply, _ outbox: inout Outbox) {
        guard awaitedTicket != 0 else { return outbox.deliver(answer, reply) }
        deliverWhenStored(answer, reply, &outbox)
    }

    private mutating func deliverWhenStored(
        _ answer: Answer, _ reply: Reply, _ outbox: inout Outbox
    ) {
        let ticket = awaitedTicket
        awaitedTicket = 0
        switch reply.form {
        case .none:
            return
        case .http(let http) where reply.loop == outbox.number:
            outbox.promise(answer, reply, http, until: ticket)
            noteCork(reply, until: ticket, &outbox)
        case .http(let http):
            let bytes = outbox.encoded(answer, http)
            let sequel = http.context.keepsAlive ? answer.sequel : answer.sequel.orClose
            let parked = ParkedAnswer(bytes: bytes, reply: reply, sequel: sequel)
            park(.answer(parked), until: ticket, &outbox)
        case .calls:
            // The next frame of the client can be read: calls are told apart by their ids.
            outbox.letGoOn(reply)
            let bytes = outbox.contentFrame()
            if bytes.isEmpty { return }
            let parked = ParkedAnswer(bytes: bytes, reply: reply, sequel: .none)
            park(.answer(parked), until: ticket, &outbox)
        }
    }

    /// Resumes a client's held deliveries behind its answer, wherever that waits.
    mutating func flushBehindAnswers(
        _ client: UInt64, _ connection: ConnectionNumber, _ outbox: inout Outbox
    ) {
        if let batch, batch.hold(client, connection) { return }
        let ticket = ticketOfEverything
        guard ticket != 0 else {
            return outbox.send([], .flushGoesOn(client: client), to: connection)
        }
        park(.flush(of: client, connection), until: ticket, &outbox)
    }

    /// Sends the answers of a batch once it is complete, and resumes the deliveries behind them.
    mutating func deliver(_ batch: CallBatch, _ sequel: Sequel, _ outbox: inout Outbox) {
        if batch.isComplete { deliverWhole(batch, sequel, &outbox) }
        for client in batch.takeFlushes() {  // Bound: calls
            flushBehindAnswers(client, batch.reply.number, &outbox)
        }
    }

    private mutating func deliverWhole(
        _ batch: CallBatch, _ sequel: Sequel, _ outbox: inout Outbox
    ) {
        outbox.content.removeAll(keepingCapacity: outbox.content.capacity <= 1 << 20)
        batch.append(to: &outbox.content)
        awaitedTicket = batch.ticket > committedTicket ? batch.ticket : 0
        deliver(Answer(contentType: .json, sequel: sequel), batch.reply, &outbox)
    }

    /// Hands the store the changes of this turn.
    mutating func hand(_ changes: consuming [StoreChange], _ outbox: inout Outbox) {
        guard let store = outbox.shared.store, !outbox.life.isSealed else { return }
        var changes = changes
        let ticket = ticket
        for block in outbox.shared.numbers.all {  // Bound: few
            guard let request = block.takeRequest() else { continue }
            changes.append(request.change)
            self.await(request, until: ticket)
        }
        if changes.isEmpty { return }
        store.hand(StoreBatch(loop: outbox.number, ticket: takeTicket(), changes: changes))
    }
}

extension CenterHost {
    /// Answers all that waited for the commit of a ticket of this loop.
    mutating func takeCommit(_ ticket: UInt64, _ outbox: inout Outbox) {
        promises.commit(ticket)
        while let numbers = promises.nextNumbers() {  // Bound: commit
            numbers.block.commit(through: numbers.through)
        }
        while let parked = promises.nextAnswer() {  // Bound: commit
            switch parked {
            case .answer(let answer): outbox.send(answer)
            case .flush(let client, let connection):
                outbox.send([], .flushGoesOn(client: client), to: connection)
            }
        }
        while let reply = promises.nextCorked() {  // Bound: commit
            outbox.add(.stored(through: ticket), to: reply.number)
        }
        while let asks = promises.nextAsks() {  // Bound: commit
            if outbox.life.isSealed { continue }
            tell(.showAnnounced(through: asks.number), center: asks.center, &outbox)
        }
    }
}
