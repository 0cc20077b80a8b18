import BelfryCenter
import BelfryHTTP
import BelfryStore
import BelfryWire

// Answers that promise something wait until it is stored; deliveries do not (decision 20).

extension CenterHost {
    /// Sends an answer, as soon as what it promises is stored.
    mutating func deliver(_ answer: Answer, _ reply: Reply, _ outbox: inout Outbox) {
        guard promises.awaitedTicket != 0 else { return outbox.deliver(answer, reply) }
        deliverWhenStored(answer, reply, &outbox)
    }

    private mutating func deliverWhenStored(
        _ answer: Answer, _ reply: Reply, _ outbox: inout Outbox
    ) {
        let ticket = promises.awaitedTicket
        promises.awaitedTicket = 0
        switch reply.form {
        case .none:
            return
        case .http(let http) where reply.loop == outbox.number:
            outbox.promise(answer, reply, http, until: ticket)
        case .http(let http):
            let bytes = outbox.encoded(answer, http)
            let sequel = http.context.keepsAlive ? answer.sequel : answer.sequel.orClose
            promises.park(ParkedAnswer(bytes: bytes, reply: reply, sequel: sequel), until: ticket)
        case .calls:
            // The next frame of the client can be read: calls are told apart by their ids.
            outbox.letGoOn(reply)
            let bytes = outbox.contentFrame()
            if bytes.isEmpty { return }
            promises.park(ParkedAnswer(bytes: bytes, reply: reply, sequel: .none), until: ticket)
        }
    }

    /// Everything that this loop handed over up to a ticket is stored: who waited for it is answered.
    mutating func takeCommit(_ ticket: UInt64, _ outbox: inout Outbox) {
        promises.commit(ticket)
        while let numbers = promises.nextNumbers() {
            numbers.block.commit(through: numbers.through)
        }
        while let answer = promises.nextAnswer() { outbox.send(answer) }
    }

    /// Hands the store what must last of this turn.
    mutating func handToStore(_ changes: consuming [StoreChange], _ outbox: inout Outbox) {
        guard let store = shared.store, !outbox.life.isSealed else { return }
        var changes = changes
        let ticket = promises.ticket
        for block in shared.numberBlocks {
            guard let request = block.takeRequest() else { continue }
            changes.append(request.change)
            promises.await(request, until: ticket)
        }
        if changes.isEmpty { return }
        store.hand(StoreBatch(loop: outbox.number, ticket: promises.takeTicket(), changes: changes))
    }

    // MARK: What may be promised

    /// Whether what must last can be stored now.
    @inline(__always)
    var canStore: Bool { !shared.hasStore || shared.store?.takesPromises ?? true }

    /// Refuses what would have to be stored and cannot be.
    @inline(__always)
    func checkStore() throws(Problem) {
        guard canStore else { throw Problem(Refusal.cannotStore) }
    }

    /// The terms that every post has; whoever makes the post adds what the caller asked for.
    @inline(__always)
    func terms(_ outbox: inout Outbox) -> PostTerms {
        var terms = PostTerms()
        terms.canStore = canStore
        terms.queueByteRoom = queueByteRoom(&outbox)
        return terms
    }

    /// A number for an observer, a client or a mode lease.
    @inline(__always)
    func takeNumber(_ block: NumberBlock) throws(Problem) -> UInt64 {
        guard let number = block.take() else { throw Problem(Refusal.cannotStore) }
        return number
    }
}
