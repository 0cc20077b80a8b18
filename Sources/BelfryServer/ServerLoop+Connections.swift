import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWebSocket
import BelfryWire

// Connections come, wait, fall silent and go; what is spoken on them is in other files.

extension ServerLoop {
    mutating func accept(_ id: ConnectionID, isSecure: Bool = false) {
        if connectionsAreFull(forSession: isSecure) {
            return refuseConnection(id, isSecure: isSecure)
        }
        connections.insert(Connection(id: id))
        counters.connectionsAccepted += 1
        if countsAddresses || configuration.addressConnectionLimit != nil,
            !takeSeat(id, isSecure: isSecure)
        {
            return refuseSeat(id, isSecure: isSecure)
        }
        setDeadline(id, .head)
        if isSecure { admitSecurely(id) }
    }

    /// Gives a connection of the listeners that all loops share to the next loop in turn.
    ///
    /// The listeners are the first loop's: a port that several listeners share could be shared with
    /// another broker too, and a listener that several loops watch gives nearly all to one of them.
    mutating func placeArrival() {
        guard let arrival = loop.takeArrival() else { return }
        let target = nextSeat
        nextSeat = (nextSeat + 1) % configuration.loopCount
        if target == number { return admit(arrival) }
        if !shared.mailboxes[target].post(.arrived(arrival)) { arrival.close() }
    }

    /// Takes a connection that was given to this loop.
    mutating func admit(_ arrival: Arrival) {
        guard let event = loop.adopt(arrival) else { return }
        let nothing: [UInt8] = []
        handle(event, input: nothing.span)
    }

    /// One connection too many: it is told so and closed; a handshake to tell it costs too much.
    mutating func refuseConnection(_ id: ConnectionID, isSecure: Bool) {
        counters.connectionsRefused += 1
        meet(.connections)
        if isSecure { return loop.close(id) }
        let start = loop.output.count
        loop.output.append(contentsOf: refusalBytes())
        loop.send(start..<loop.output.count, to: id, as: .answer)
        loop.closeAfterFlush(id, lingering: true)
    }

    /// What a connection is told that is one too many.
    mutating func refusalBytes() -> [UInt8] {
        closingBytes(
            Problem(.overloaded, "The broker has as many connections as it may have."))
    }

    /// A problem as the only and last answer on a connection.
    mutating func closingBytes(_ problem: Problem) -> [UInt8] {
        var content: [UInt8] = []
        problem.append(to: &content)
        var bytes: [UInt8] = []
        let date = dateText()
        ResponseWriter.append(
            status: problem.kind.status,
            fields: [
                HTTPField("Content-Type", "application/problem+json"),
                HTTPField("Retry-After", "5"),
            ], content: content.span, for: .closing, date: date.span, to: &bytes)
        return bytes
    }

    /// The connection with this name, if it still is; it is copied.
    @inline(__always)
    func connection(_ id: ConnectionID) -> Connection? {
        connections.has(id) ? connections[id] : nil
    }

    /// Hands what was read to the protocol of the connection.
    mutating func receive(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        guard let kind = connections.kind(of: id) else { return }
        if connections.mustWait(id, ticket: promises.ticket) {
            keepWaiting(id, bytes)
            return
        }
        switch kind {
        case .http where loop.unsentByteCount(of: id) > Self.roomByteCount:
            // No answer is made while the ones before it are not read.
            keepWaiting(id, bytes)
            throttle(id)
        case .http: receiveRequests(id, bytes)
        case .webSocket, .debugWebSocket: receiveMessages(id, bytes)
        case .events: break  // An event stream has nothing more to say.
        }
    }

    /// Keeps bytes that must wait for an answer to what came before them.
    mutating func keepWaiting(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        unfinished(of: id).waitingBytes.append(copying: bytes)
        loop.pauseReading(id)
        countUnfinished(of: id)
    }

    /// The answer that a connection waited for was sent: what came meanwhile is its turn.
    mutating func goOn(_ id: ConnectionID) {
        guard connections[id].isAwaiting else { return }
        connections[id].isAwaiting = false
        if connections[id].kind == .http {
            connections[id].mailbox = 0
            setDeadline(id, .idle)
        }
        readOn(id)
        closeIfEnded(id)
    }

    /// Reads what waited, and then from the socket again.
    mutating func readOn(_ id: ConnectionID) {
        guard connections.has(id), !connections[id].isAwaiting, !connections[id].isThrottled
        else { return }
        if loop.mustBeWrittenFirst(id) { return throttle(id) }
        loop.resumeReading(id)
        guard let unfinished = connections[id].unfinished, !unfinished.waitingBytes.isEmpty else {
            return
        }
        var bytes: [UInt8] = []
        swap(&bytes, &unfinished.waitingBytes)
        unfinished.recount()
        receive(id, bytes.span)
    }

    /// The box for what is unfinished on a connection.
    mutating func unfinished(of id: ConnectionID) -> Unfinished {
        if let unfinished = connections[id].unfinished { return unfinished }
        let unfinished = Unfinished(unfinishedTotal)
        connections[id].unfinished = unfinished
        return unfinished
    }

    /// The client has shut down its half: what it asked for is still answered.
    mutating func endInput(_ id: ConnectionID) {
        switch connections.kind(of: id) {
        case nil:
            break
        case .http where connections[id].isThrottled:
            // It asked for more than it has read so far.
            connections[id].hasEnded = true
        case .http where connections[id].isAwaiting:
            // The answer is under way; it is the last one.
            connections[id].closesAfterAnswer = true
            // Nobody knows whether the other half is still read: a poll need not wait for that.
            let mailbox = connections[id].mailbox
            if mailbox != 0 {
                submit(
                    .endPoll(observer: mailbox), center: connections[id].center, from: id,
                    connections[id].encoding)
            }
        case .http, .webSocket, .events, .debugWebSocket:
            leave(id)
            connections[id].isClosing = true
            loop.closeAfterFlush(id, lingering: false)
        }
    }

    /// A connection has ended, whoever ended it.
    mutating func forget(_ id: ConnectionID) {
        guard connections.has(id) else { return }
        leave(id, isForgotten: true)
    }

    /// Tells the center of a client, or of a mailbox, that the connection has ended.
    ///
    /// - Parameters:
    ///   - id: the connection, which is there.
    ///   - isForgotten: whether it is no more before the center hears of it.
    mutating func leave(_ id: ConnectionID, isForgotten: Bool = false) {
        let (client, mailbox) = (connections[id].client, connections[id].mailbox)
        let isAnybody = client != 0 || mailbox != 0
        let center = isAnybody ? connections[id].center : []
        let encoding = connections[id].encoding
        if isForgotten {
            connections[Int(id.index)] = nil
        } else if isAnybody {
            connections[id].client = 0
            connections[id].mailbox = 0
        }
        guard isAnybody else { return }
        tellSuspension(of: client, true, because: "away")
        submit(
            mailbox != 0 ? .detachReader(observer: mailbox) : .disconnect(client: client),
            center: center, from: id, encoding)
    }

    /// Tells the center of a connection something to which there is no answer.
    private mutating func submit(
        _ request: CenterRequest, center: [UInt8], from id: ConnectionID, _ encoding: FrameEncoding
    ) {
        submit(
            Submission(
                center: center, request: request, caller: anonymous,
                reply: Reply(loop: number, connection: id, form: .none, encoding: encoding)))
    }

    /// Closes a connection once what it was sent has left.
    mutating func closeSoon(_ id: ConnectionID) {
        guard connections.kind(of: id) != nil else { return }
        leave(id)
        connections[id].isClosing = true
        connections[id].unfinished = nil
        loop.closeAfterFlush(id, lingering: true)
    }

    // MARK: Deadlines

    mutating func setDeadline(_ id: ConnectionID, _ kind: Connection.DeadlineKind) {
        connections.setDeadline(id, kind)
        var time = timeouts.deadline(kind, from: loop.now)
        switch kind {
        case .ping, .pong, .slow, .comment:
            // A stream ends with the credentials that opened it.
            time = min(time, connections[id].credentialDeadline)
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
        case .head where connection.unfinished?.exchange?.parser.hasBegunRequest != true,
            .idle, .answer:
            // Nothing was begun, so there is nothing to answer (RFC 9112 §9.5).
            noteLateHandshake(id)
            closeSoon(id)
        case .head, .body:
            refuseRequest(id, Problem(.timeout, "The request did not arrive in time."))
        case .drain:
            log.write(.debug, "closing a client that does not read its answers")
            leave(id)
            connections[Int(id.index)] = nil
            loop.close(id)
        case .ping:
            sendPing(id)
            setDeadline(id, .pong)
        case .pong:
            log.write(
                .debug, "closing a client that answers no ping", ("client", "c\(connection.client)")
            )
            leave(id)
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
