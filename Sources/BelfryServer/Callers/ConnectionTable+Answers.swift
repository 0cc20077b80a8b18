import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

// Output for a connection, and its consequences.

extension ConnectionTable {
    /// Answers a request of this loop with a problem.
    mutating func answer(
        _ problem: Problem, fields: [HTTPField] = [], to id: ConnectionID, _ reply: HTTPReply,
        _ outbox: inout Outbox
    ) {
        outbox.content.removeAll(keepingCapacity: true)
        let answer = outbox.problemAnswer(problem, fields: fields)
        send(answer, to: id, reply, &outbox)
    }

    /// Sends an answer that callers make themselves, and its consequences.
    mutating func send(
        _ answer: Answer, to id: ConnectionID, _ reply: HTTPReply, _ outbox: inout Outbox
    ) {
        outbox.write(answer, to: id, reply)
        follow(reply.context.keepsAlive ? answer.sequel : answer.sequel.orClose, on: id, &outbox)
    }

    /// Applies an item to its connection.
    mutating func apply(_ item: OutboxItem, _ outbox: inout Outbox) {
        let id = item.connection.connection
        // A connection that closes behind its answer waits for the commit, too.
        if case .stored(let ticket) = item.content {
            return move(id, .stored(through: ticket), &outbox)
        }
        guard kind(of: id) != nil else { return abandon(item, &outbox) }
        switch item.content {
        case .deliveries, .notice, .lateAnswer, .stored:
            break
        case .lastFrames:
            self[id].client = 0
            self[id].mailbox = 0
            self[id].center = []
            closeSoon(id, &outbox)
        case .answer(let sequel):
            follow(sequel, on: id, &outbox)
        case .promise(let sequel, let ticket):
            move(id, .corked(until: ticket), &outbox)
            follow(sequel, on: id, &outbox)
        case .flushGoesOn(let client):
            awaitRoom(client, on: id, &outbox)
        }
    }

    /// Ends the client or stream of a connection that has gone before its answer.
    private mutating func abandon(_ item: OutboxItem, _ outbox: inout Outbox) {
        guard case .answer(let sequel) = item.content else { return }
        let (id, encoding) = (item.connection.connection, item.connection.encoding)
        switch sequel {
        case .none, .close: return
        case .client(let client, _, _, let center):
            tell(
                center, .disconnect(client: client, wasWritten: false), by: id, encoding, &outbox)
        case .stream(let observer, _, let center):
            tell(center, .detachReader(observer: observer), by: id, encoding, &outbox)
        }
    }

    /// Applies the next state after an answer to its connection.
    mutating func follow(_ sequel: Sequel, on id: ConnectionID, _ outbox: inout Outbox) {
        switch sequel {
        case .none:
            noteAnswer(on: id, &outbox)
        case .close:
            closeSoon(id, &outbox)
        case .client(let client, let session, let transport, let center):
            guard has(id) else { return }
            change(id) { connection in
                connection.client = client
                connection.session = session
                connection.center = center
                connection.kind = .client(transport)
            }
            noteUpgrade(of: id, transport.silence, &outbox)
        case .stream(let observer, let client, let center):
            guard has(id) else { return }
            self[id].client = client
            self[id].mailbox = observer
            self[id].center = center
            self[id].kind = .client(.ofMailboxStreams)
            noteUpgrade(of: id, Transport.ofMailboxStreams.silence, &outbox)
        }
    }

    /// Makes a present connection that of a client.
    @inline(__always)
    private mutating func noteUpgrade(
        of id: ConnectionID, _ silence: Connection.DeadlineKind, _ outbox: inout Outbox
    ) {
        setDeadline(id, silence, &outbox)
        if !self[id].reading.ignoresAnswer { move(id, .upgraded, &outbox) }
    }
}
