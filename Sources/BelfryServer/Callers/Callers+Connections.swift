import BelfryBytes
import BelfryHTTP
import BelfryLoop
import BelfryWire

// Connections come, wait, fall silent and go; what is spoken on them is in other files.

extension Callers {
    mutating func accept(_ id: ConnectionID, listener: Int, _ outbox: inout Outbox) {
        let isSecure = listener >= firstSecureListener
        if connectionsAreFull(forSession: isSecure, &outbox) {
            return refuseConnection(id, isSecure: isSecure, &outbox)
        }
        connections.insert(Connection(id: id))
        outbox.counters.connectionsAccepted += 1
        if outbox.shares.countsAddresses || outbox.configuration.addressConnectionLimit != nil,
            !takeSeat(id, isSecure: isSecure, &outbox)
        {
            return refuseSeat(id, isSecure: isSecure, &outbox)
        }
        setDeadline(id, .head, &outbox)
        if isSecure { admitSecurely(id, &outbox) }
    }

    /// Gives a connection of the listeners that all loops share to the next loop in turn.
    ///
    /// The listeners are the first loop's: a port that several listeners share could be shared with
    /// another broker too, and a listener that several loops watch gives nearly all to one of them.
    mutating func placeArrival(_ outbox: inout Outbox) {
        guard let arrival = outbox.loop.takeArrival() else { return }
        let target = nextSeat
        nextSeat = (nextSeat + 1) % outbox.configuration.loopCount
        if target == outbox.number { return admit(arrival, &outbox) }
        if !shared.mailboxes[target].post(.arrived(arrival)) { arrival.close() }
    }

    /// Takes a connection that was given to this loop.
    mutating func admit(_ arrival: Arrival, _ outbox: inout Outbox) {
        guard let event = outbox.loop.adopt(arrival) else { return }
        switch event {
        case .accepted(let id, let listener): accept(id, listener: listener, &outbox)
        case .refused(let id, let listener): refuse(id, listener: listener, &outbox)
        default:
            preconditionFailure("a connection that is adopted is accepted or refused")
        }
    }

    /// The loop has as many connections as it may have.
    mutating func refuse(_ id: ConnectionID, listener: Int, _ outbox: inout Outbox) {
        refuseConnection(id, isSecure: listener >= firstSecureListener, &outbox)
    }

    /// One connection too many: it is told so and closed; a handshake to tell it costs too much.
    mutating func refuseConnection(_ id: ConnectionID, isSecure: Bool, _ outbox: inout Outbox) {
        outbox.counters.connectionsRefused += 1
        outbox.meet(.connections)
        if isSecure { return outbox.loop.close(id) }
        let start = outbox.loop.output.count
        outbox.loop.output.append(contentsOf: outbox.refusalBytes())
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        outbox.loop.closeAfterFlush(id, lingering: true)
    }

    /// The connection with this name, if it still is; it is copied.
    @inline(__always)
    func connection(_ id: ConnectionID) -> Connection? {
        connections.has(id) ? connections[id] : nil
    }

    /// Keeps bytes that must wait for an answer to what came before them.
    mutating func keepWaiting(_ id: ConnectionID, _ bytes: Span<UInt8>, _ outbox: inout Outbox) {
        unfinished(of: id).waitingBytes.append(bytes)
        outbox.loop.pauseReading(id)
        countUnfinished(of: id, &outbox)
    }

    /// Tells a connection what happened, and does what its machine says.
    mutating func move(_ id: ConnectionID, _ event: Reading.Event, _ outbox: inout Outbox) {
        guard connections.has(id) else { return }
        switch connections[id].reading.take(event) {
        case .nothing:
            break
        case .pause:
            outbox.loop.pauseReading(id)
        case .readOn:
            readOn(id, &outbox)
        case .endPoll:
            endPoll(of: id, &outbox)
        case .lineUp:
            corked.append((connections[id].reading.cork, id))
        case .uncork:
            outbox.loop.uncork(id)
            outbox.loop.tellWhenDrained(id)
        case .close(let isLingering):
            leave(id, &outbox)
            connections[id].unfinished = nil
            outbox.loop.closeAfterFlush(id, lingering: isLingering)
        }
    }

    /// Lets what waited be read, and then from the socket again.
    mutating func readOn(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard connections.has(id), connections[id].reading.state == .open else { return }
        if outbox.loop.mustBeWrittenFirst(id) { return throttle(id, &outbox) }
        outbox.loop.resumeReading(id)
        guard let unfinished = connections[id].unfinished, !unfinished.waitingBytes.isEmpty else {
            return move(id, .inputRead, &outbox)
        }
        ready.append(id)
    }

    /// What waited on a connection was read, unless it waits again.
    mutating func noteRead(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard connections[id].unfinished?.waitingBytes.isEmpty ?? true else { return }
        move(id, .inputRead, &outbox)
    }

    /// The answer to a connection was written, whether it waited for that or not.
    mutating func noteAnswer(on id: ConnectionID, _ outbox: inout Outbox) {
        if connections[id].isAwaiting, connections[id].reading.ending != .afterAnswer,
            connections[id].kind == .http
        {
            connections[id].mailbox = 0
            setDeadline(id, .idle, &outbox)
        }
        move(id, .answered, &outbox)
    }

    /// The box for what is unfinished on a connection.
    mutating func unfinished(of id: ConnectionID) -> Unfinished {
        if let unfinished = connections[id].unfinished { return unfinished }
        let unfinished = Unfinished(unfinishedTotal)
        connections[id].unfinished = unfinished
        return unfinished
    }

    /// The client has shut down its half: what it asked for is still answered.
    mutating func endInput(_ id: ConnectionID, _ outbox: inout Outbox) {
        switch connections[id].kind {
        case .http: move(id, .inputEnded, &outbox)
        case .webSocket, .events, .debugWebSocket: move(id, .closes(lingering: false), &outbox)
        }
    }

    /// Nobody knows whether the other half is still read: a poll need not wait for that.
    private mutating func endPoll(of id: ConnectionID, _ outbox: inout Outbox) {
        let mailbox = connections[id].mailbox
        guard mailbox != 0 else { return }
        tell(
            connections[id].center, .endPoll(observer: mailbox), by: id, connections[id].encoding,
            &outbox)
    }

    /// A connection has ended, whoever ended it.
    mutating func forget(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard connections.has(id) else { return }
        leave(id, isForgotten: true, &outbox)
    }

    /// Tells the center of a client, or of a mailbox, that the connection has ended.
    ///
    /// - Parameters:
    ///   - id: the connection, which is there.
    ///   - isForgotten: whether it is no more before the center hears of it.
    mutating func leave(_ id: ConnectionID, isForgotten: Bool = false, _ outbox: inout Outbox) {
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
        outbox.tellSuspension(of: client, true, because: "away")
        tell(
            center, mailbox != 0 ? .detachReader(observer: mailbox) : .disconnect(client: client),
            by: id, encoding, &outbox)
    }

    /// Tells a center something about a connection, to which there is no answer.
    mutating func tell(
        _ center: [UInt8], _ request: CenterRequest, by id: ConnectionID,
        _ encoding: FrameEncoding, _ outbox: inout Outbox
    ) {
        departing.append(
            Submission(
                center: center, request: request, caller: outbox.anonymous,
                reply: Reply(
                    loop: outbox.number, connection: id, form: .none, encoding: encoding)))
    }

    /// Closes a connection at once.
    mutating func cut(_ id: ConnectionID, _ outbox: inout Outbox) {
        leave(id, &outbox)
        connections[Int(id.index)] = nil
        outbox.loop.close(id)
    }

    /// Closes a connection once what it was sent has left.
    mutating func closeSoon(_ id: ConnectionID, _ outbox: inout Outbox) {
        move(id, .closes(lingering: true), &outbox)
    }

    // MARK: Deadlines

    mutating func setDeadline(
        _ id: ConnectionID, _ kind: Connection.DeadlineKind, _ outbox: inout Outbox
    ) {
        connections.setDeadline(id, kind)
        var time = timeouts.deadline(kind, from: outbox.loop.now)
        switch kind {
        case .ping, .pong, .slow, .comment:
            // A stream ends with the credentials that opened it.
            time = min(time, connections[id].credentialDeadline)
        case .head, .body, .idle, .drain, .answer: break
        }
        outbox.loop.setDeadline(id, at: time)
    }

    mutating func meetDeadline(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let connection = connection(id), !connection.isClosing else { return }
        if connection.kind != .http, connection.credentialDeadline <= outbox.loop.now {
            closeExpired(connection, &outbox)
            return
        }
        switch connection.deadline {
        case .head where connection.unfinished?.exchange?.parser.hasBegunRequest != true,
            .idle, .answer:
            // Nothing was begun, so there is nothing to answer (RFC 9112 §9.5).
            noteLateHandshake(id, &outbox)
            closeSoon(id, &outbox)
        case .head, .body:
            refuseRequest(id, Problem(.timeout, "The request did not arrive in time."), &outbox)
        case .drain:
            outbox.log.write(.debug, "closing a client that does not read its answers")
            cut(id, &outbox)
        case .ping:
            sendPing(id, &outbox)
            setDeadline(id, .pong, &outbox)
        case .pong:
            outbox.log.write(
                .debug, "closing a client that answers no ping", ("client", "c\(connection.client)")
            )
            cut(id, &outbox)
        case .slow:
            closeTooSlow(id, &outbox)
        case .comment:
            let start = outbox.loop.output.count
            outbox.loop.output.append(contentsOf: ":\n\n".utf8)
            outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .delivery)
            setDeadline(id, .comment, &outbox)
        }
    }
}
