import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWebSocket
import BelfryWire

// Connections come, wait, fall silent and go; what is spoken on them is in other files.

extension ServerLoop {
    mutating func accept(_ id: ConnectionID) {
        connections.insert(Connection(id: id))
        counters.connectionsAccepted += 1
        setDeadline(id, .head)
    }

    /// One connection too many: it is told so and closed; a handshake to tell it costs too much.
    mutating func refuseConnection(_ id: ConnectionID, isSecure: Bool) {
        counters.connectionsRefused += 1
        if isSecure { return loop.close(id) }
        let problem = Problem(.overloaded, "The broker has as many connections as it may have.")
        answerContent.removeAll(keepingCapacity: true)
        problem.append(to: &answerContent)
        sendResponse(
            status: problem.kind.status,
            fields: [
                HTTPField("Content-Type", "application/problem+json"),
                HTTPField("Retry-After", "5"),
            ], to: id, ResponseContext.closing)
        loop.closeAfterFlush(id, lingering: true)
    }

    /// The connection with this name, if it still is.
    func connection(_ id: ConnectionID) -> Connection? {
        connections.has(id) ? connections[Int(id.index)] : nil
    }

    /// Hands what was read to the protocol of the connection.
    mutating func receive(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        guard let kind = connections.kind(of: id) else { return }
        if connections.mustWait(id, ticket: promises.ticket) {
            keepWaiting(id, bytes)
            return
        }
        switch kind {
        case .http: receiveRequests(id, bytes)
        case .webSocket, .debugWebSocket: receiveMessages(id, bytes)
        case .events: break  // An event stream has nothing more to say.
        }
    }

    /// Keeps bytes that must wait for an answer to what came before them.
    mutating func keepWaiting(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        unfinished(of: id).waitingBytes.append(copying: bytes)
        loop.pauseReading(id)
    }

    /// The answer that a connection waited for was sent: what came meanwhile is its turn.
    mutating func goOn(_ id: ConnectionID) {
        guard var connection = connection(id), connection.isAwaiting else { return }
        connection.isAwaiting = false
        if connection.kind == .http { connection.mailbox = 0 }
        connections[Int(id.index)] = connection
        if connection.kind == .http { setDeadline(id, .idle) }
        readOn(id)
    }

    /// Reads what waited, and then from the socket again.
    mutating func readOn(_ id: ConnectionID) {
        guard let connection = connection(id), !connection.isAwaiting, !connection.isThrottled
        else { return }
        loop.resumeReading(id)
        guard let unfinished = connection.unfinished, !unfinished.waitingBytes.isEmpty else {
            return
        }
        var bytes: [UInt8] = []
        swap(&bytes, &unfinished.waitingBytes)
        receive(id, bytes.span)
    }

    /// So much output was made for a connection in one turn that the rest of its input must wait.
    ///
    /// Without this, small pipelined requests with large answers would cost memory without bound.
    mutating func throttle(_ id: ConnectionID) {
        connections[Int(id.index)]?.isThrottled = true
        loop.pauseReading(id)
        throttled.append(id)
        armRelease(at: loop.now)
    }

    /// Sees to it that throttled connections are looked at again: there is one timer for all.
    private mutating func armRelease(at time: MonotonicTime) {
        if isReleaseArmed { return }
        isReleaseArmed = true
        _ = loop.schedule(at: time, Self.throttleTimer)
    }

    /// The sockets were written: who has room again goes on.
    mutating func releaseThrottled() {
        isReleaseArmed = false
        var released: [ConnectionID] = []
        swap(&released, &throttled)
        for id in released {
            let inflates = hasInflatedEnough && connections[Int(id.index)]?.encoding != .plain
            if inflates || loop.unsentByteCount(of: id) > Self.roomByteCount {
                throttled.append(id)
            } else {
                release(id)
            }
        }
        if !throttled.isEmpty {
            armRelease(at: hasInflatedEnough ? loop.now : loop.now + .milliseconds(5))
        }
    }

    /// The socket of a connection has room again.
    mutating func release(_ id: ConnectionID) {
        guard let connection = connection(id), connection.isThrottled, !connection.isClosing
        else { return }
        connections[Int(id.index)]?.isThrottled = false
        if connection.deadline == .drain {
            setDeadline(id, connection.kind == .http ? .idle : .ping)
        }
        readOn(id)
    }

    /// The box for what is unfinished on a connection.
    mutating func unfinished(of id: ConnectionID) -> Unfinished {
        if let unfinished = connections[Int(id.index)]?.unfinished { return unfinished }
        let unfinished = Unfinished()
        connections[Int(id.index)]?.unfinished = unfinished
        return unfinished
    }

    /// The client has shut down its half: what it asked for is still answered.
    mutating func endInput(_ id: ConnectionID) {
        guard let connection = connection(id), !connection.isClosing else { return }
        switch connection.kind {
        case .http where connection.isAwaiting:
            // The answer is under way; it is the last one.
            connections[Int(id.index)]?.closesAfterAnswer = true
            // Nobody knows whether the other half is still read: a poll need not wait for that.
            if connection.mailbox != 0 {
                submit(.endPoll(observer: connection.mailbox), connection)
            }
        case .http, .webSocket, .events, .debugWebSocket:
            leave(connection)
            connections[Int(id.index)]?.isClosing = true
            loop.closeAfterFlush(id, lingering: false)
        }
    }

    /// A connection has ended, whoever ended it.
    mutating func forget(_ id: ConnectionID) {
        guard let connection = connection(id) else { return }
        connections[Int(id.index)] = nil
        leave(connection)
    }

    /// Tells the center of a client, or of a mailbox, that the connection has ended.
    mutating func leave(_ connection: Connection) {
        guard connection.client != 0 || connection.mailbox != 0 else { return }
        connections[Int(connection.id.index)]?.client = 0
        connections[Int(connection.id.index)]?.mailbox = 0
        if connection.mailbox != 0 {
            submit(.detachReader(observer: connection.mailbox), connection)
        } else {
            submit(.disconnect(client: connection.client), connection)
        }
    }

    /// Tells the center of a connection something to which there is no answer.
    private mutating func submit(_ request: CenterRequest, _ connection: Connection) {
        submit(
            Submission(
                center: connection.center, request: request, caller: anonymous,
                reply: Reply(
                    loop: number, connection: connection.id, form: .none,
                    encoding: connection.encoding)))
    }

    /// Closes a connection once what it was sent has left.
    mutating func closeSoon(_ id: ConnectionID) {
        guard let connection = connection(id), !connection.isClosing else { return }
        leave(connection)
        connections[Int(id.index)]?.isClosing = true
        connections[Int(id.index)]?.unfinished = nil
        loop.closeAfterFlush(id, lingering: true)
    }

    // MARK: Deadlines

    mutating func setDeadline(_ id: ConnectionID, _ kind: Connection.DeadlineKind) {
        connections.setDeadline(id, kind)
        var time = timeouts.deadline(kind, from: loop.now)
        switch kind {
        case .ping, .pong, .slow, .comment:
            // A stream ends with the credentials that opened it.
            if let end = connections[Int(id.index)]?.credentialDeadline { time = min(time, end) }
        case .head, .body, .idle, .drain, .answer: break
        }
        loop.setDeadline(id, at: time)
    }

    mutating func meetDeadline(_ id: ConnectionID) {
        guard let connection = connection(id), !connection.isClosing else { return }
        if connection.kind != .http, connection.credentialDeadline <= loop.now {
            closeExpired(connection)
            return
        }
        switch connection.deadline {
        case .head where connection.unfinished?.exchange == nil, .idle, .answer:
            // Nothing was begun, so there is nothing to answer (RFC 9112 §9.5).
            closeSoon(id)
        case .head, .body:
            refuseRequest(id, Problem(.timeout, "The request did not arrive in time."))
        case .drain:
            log.write(.debug, "closing a client that does not read its answers")
            leave(connection)
            connections[Int(id.index)] = nil
            loop.close(id)
        case .ping:
            sendPing(id)
            setDeadline(id, .pong)
        case .pong:
            log.write(
                .debug, "closing a client that answers no ping", ("client", "c\(connection.client)")
            )
            leave(connection)
            connections[Int(id.index)] = nil
            loop.close(id)
        case .slow:
            closeTooSlow(id)
        case .comment:
            let start = loop.output.count
            loop.output.append(contentsOf: ":\n\n".utf8)
            loop.send(start..<loop.output.count, to: id, as: .delivery)
            setDeadline(id, .comment)
        }
    }
}
