import BelfryHTTP
import BelfryLoop

/// One pass over what has arrived on a connection.
struct ReadingPass {
    let id: ConnectionID
    /// How much of it was read.
    var cursor = 0
    /// Where the output began that is made for it.
    let outputStart: Int
    /// Whether the bytes that follow begin a request.
    var beginsRequest = true
    /// Whether a request or a message was handed out or answered, and nothing was read behind it.
    var hasAsked = false
    /// What is spoken.
    let kind: Connection.Kind
}

// Reading: each pass hands out what is asked until nothing is left, or until what is left must wait.

extension Callers {
    /// Begins with what has arrived on a connection; nil where nothing of it can be read now.
    mutating func begin(
        reading id: ConnectionID, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> ReadingPass? {
        guard let kind = connections.kind(of: id) else { return nil }
        if connections.mustWait(id, ticket: ticket) {
            keepWaiting(id, bytes, &outbox)
            return nil
        }
        var pass = ReadingPass(id: id, outputStart: outbox.loop.outputByteCount, kind: kind)
        switch kind {
        // Where little waits for all sockets, little waits for this one.
        case .http
        where outbox.loop.unsentByteTotal > Self.roomByteCount
            && outbox.loop.unsentByteCount(of: id) > Self.roomByteCount:
            // No answer is made while the ones before it are not read.
            keepWaiting(id, bytes, &outbox)
            throttle(id, &outbox)
            return nil
        case .http:
            if connections.hasUnfinished(id) { pass.beginsRequest = !takeUpExchange(of: id) }
        case .webSocket, .debugWebSocket:
            guard takeUpReader(of: id, bytes, &outbox) else { return nil }
        case .events:
            return nil  // An event stream has nothing more to say.
        }
        return pass
    }

    /// Reads on to the next thing that is asked; nil when the rest waits, or there is none.
    mutating func next(
        _ pass: inout ReadingPass, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> CallerStep? {
        pass.kind == .http
            ? nextRequest(&pass, bytes, &outbox) : nextMessage(&pass, bytes, &outbox)
    }

    /// A connection waits for the answer to a request.
    ///
    /// The request is whole: its time is over, and that of the answer is the broker's.
    private mutating func wait(_ id: ConnectionID, _ outbox: inout Outbox) {
        move(id, .asked, &outbox)
        setDeadline(id, .answer, &outbox)
    }

    /// A connection that asked waits for its answer.
    mutating func wait(for submission: borrowing Submission, _ outbox: inout Outbox) {
        let id = submission.reply.connection
        switch submission.reply.form {
        case .none: return
        case .webSocket:
            move(id, .asked, &outbox)
        case .http:
            wait(id, &outbox)
            // The end of the connection is the end of a mailbox's reader.
            if case .readMailbox(let secret, _, _) = submission.request {
                connections[id].mailbox = secret.number
                connections[id].center = submission.center
            }
        }
    }

    /// A post was made without a submission: where it is answered its connection goes on, or closes.
    @inline(__always)
    mutating func finishPost(_ id: ConnectionID, isAnswered: Bool, _ outbox: inout Outbox) {
        if !isAnswered {
            wait(id, &outbox)
        } else if !exchange.reply.context.keepsAlive || !connections.takesRequests(id) {
            follow(exchange.reply.context.keepsAlive ? .none : .close, on: id, &outbox)
        }
    }

    /// Takes what connections have told their centers.
    mutating func takeDeparting() -> [Submission] {
        var taken: [Submission] = []
        swap(&taken, &departing)
        return taken
    }

    /// Takes the input of a connection that has waited and can be read now.
    mutating func takeReady() -> (id: ConnectionID, bytes: [UInt8])? {
        while ready.count > 0 {
            let id = ready.removeFirst()
            guard connections.has(id), connections[id].reading.state == .open,
                let unfinished = connections[id].unfinished, !unfinished.waitingBytes.isEmpty
            else { continue }
            var bytes: [UInt8] = []
            swap(&bytes, &unfinished.waitingBytes)
            unfinished.recount()
            return (id, bytes)
        }
        return nil
    }

    /// A throttled.connections connection goes on once no more than so many bytes wait for its socket.
    static let roomByteCount = 16 << 10
}
