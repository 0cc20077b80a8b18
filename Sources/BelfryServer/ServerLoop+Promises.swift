import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryStore
import BelfryWebSocket
import BelfryWire
import Synchronization

// Answers that promise something wait until it is stored; deliveries do not (decision 20).

extension ServerLoop {
    /// Sends an answer as soon as what it promises is stored.
    mutating func deliverWhenStored(_ answer: Answer, _ reply: Reply) {
        let ticket = promises.awaitedTicket
        promises.awaitedTicket = 0
        switch reply.form {
        case .none:
            return
        case .http(let http) where reply.loop == number:
            cork(reply.connection, until: ticket)
            send(answer, to: reply.connection, http)
        case .http(let http):
            var bytes: [UInt8] = []
            appendResponse(answer, http, to: &bytes)
            let sequel = http.context.keepsAlive ? answer.sequel : answer.sequel.orClose
            promises.park(ParkedAnswer(bytes: bytes, reply: reply, sequel: sequel), until: ticket)
        case .webSocket:
            // The next frame of the client can be read: calls are told apart by their ids.
            letGoOn(reply)
            guard !answerContent.isEmpty else { return }
            var bytes: [UInt8] = []
            FrameWriter.append(.text, payload: answerContent.span, to: &bytes)
            promises.park(ParkedAnswer(bytes: bytes, reply: reply, sequel: .none), until: ticket)
        }
    }

    /// Keeps back what a connection is sent, and what it asks in later turns.
    ///
    /// Requests of this turn share the ticket, so they are still read. Later ones would have a later
    /// ticket, and a client that never stops asking would never be answered.
    private mutating func cork(_ id: ConnectionID, until ticket: UInt64) {
        guard let connection = connection(id), connection.corkTicket < ticket else { return }
        connections[id].corkTicket = ticket
        loop.cork(id)
        promises.cork(id, until: ticket)
    }

    /// A client's next frame can be read, though its call is not answered.
    mutating func letGoOn(_ reply: Reply) {
        if reply.loop == number {
            goOn(reply.connection)
        } else {
            sendElsewhere([], .none, reply)
        }
    }

    /// Everything that this loop handed over up to a ticket is stored: who waited for it is answered.
    mutating func takeCommit(_ ticket: UInt64) {
        promises.commit(ticket)
        while let request = requestedNumbers.first, request.ticket <= ticket {
            let (_, numbers) = requestedNumbers.removeFirst()
            numbers.block.commit(through: numbers.through)
        }
        while let answer = promises.nextAnswer() { send(answer) }
        while let id = promises.nextConnection() { uncork(id) }
    }

    private mutating func uncork(_ id: ConnectionID) {
        guard let connection = connection(id),
            connection.corkTicket <= promises.committedTicket
        else { return }
        connections[id].corkTicket = 0
        loop.uncork(id)
        // What it asks next may cork it again, so it is read when this has been written.
        connections[id].isThrottled = true
        loop.tellWhenDrained(id)
    }

    private mutating func send(_ answer: ParkedAnswer) {
        guard answer.reply.loop != number else {
            let start = loop.output.count
            loop.output.append(contentsOf: answer.bytes)
            loop.send(start..<loop.output.count, to: answer.reply.connection, as: .answer)
            return
        }
        let content: RemoteOutput.Content
        switch answer.reply.form {
        case .http: content = .answer(answer.sequel)
        case .webSocket, .none: content = .lateAnswer
        }
        outbound[answer.reply.loop].output.add(
            answer.bytes, to: answer.reply.number.rawValue, content)
    }

    /// Hands the store what must last of this turn.
    mutating func handToStore(_ changes: consuming [StoreChange]) {
        guard let store = shared.store, !stop.isSealed else { return }
        var changes = changes
        let ticket = promises.ticket
        for block in shared.numberBlocks {
            guard let request = block.takeRequest() else { continue }
            changes.append(request.change)
            requestedNumbers.append((ticket, request))
        }
        if changes.isEmpty { return }
        store.hand(StoreBatch(loop: number, ticket: promises.takeTicket(), changes: changes))
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
    var postTerms: PostTerms {
        var terms = PostTerms()
        terms.canStore = canStore
        terms.queueByteRoom = queueByteRoom
        return terms
    }

    /// A number for an observer, a client or a mode lease.
    @inline(__always)
    func takeNumber(_ block: NumberBlock) throws(Problem) -> UInt64 {
        guard let number = block.take() else { throw Problem(Refusal.cannotStore) }
        return number
    }
}
