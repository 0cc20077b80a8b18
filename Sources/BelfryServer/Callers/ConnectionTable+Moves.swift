import BelfryBytes
import BelfryCenter
import BelfryHTTP
import BelfryLoop

// Events of connections, and their consequences.

extension ConnectionTable {
    /// Passes an event to a connection, and performs the reaction.
    mutating func move(_ id: ConnectionID, _ event: Reading.Event, _ outbox: inout Outbox) {
        guard has(id) else { return }
        switch self[id].reading.take(event) {
        case .nothing:
            break
        case .pause:
            outbox.loop.pauseReading(id)
        case .readOn:
            readOn(id, &outbox)
        case .endPoll:
            endPoll(id, &outbox)
        case .uncork:
            outbox.loop.uncork(id)
            outbox.loop.tellWhenDrained(id)
        case .close(let isLingering):
            leave(id, &outbox)
            dropUnfinished(id)
            outbox.loop.closeAfterFlush(id, lingering: isLingering)
        }
    }

    /// Ends the wait of a client that has shut down its half behind waiting bytes.
    mutating func noteEndAhead(of id: ConnectionID, _ outbox: inout Outbox) {
        guard has(id), self[id].kind == .http, self[id].isAwaiting else { return }
        endPoll(id, &outbox)
    }

    /// Ends the waits of a connection: it is unknown whether the client still reads.
    private mutating func endPoll(_ id: ConnectionID, _ outbox: inout Outbox) {
        let (center, encoding) = (self[id].center, self[id].encoding)
        guard !center.isEmpty else { return }
        tell(center, .endWait, by: id, encoding, &outbox)
    }

    /// Lets waiting bytes be read, and then the socket again.
    mutating func readOn(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard has(id), self[id].reading.state == .open else { return }
        if outbox.loop.mustBeWrittenFirst(id) { return throttle(id, &outbox) }
        outbox.loop.resumeReading(id)
        guard let unfinished = self[id].unfinished, !unfinished.waitingBytes.isEmpty else {
            return move(id, .inputRead, &outbox)
        }
        ready.append(id)
    }

    /// Keeps bytes that must wait for an earlier answer.
    mutating func keepWaiting(_ id: ConnectionID, _ bytes: Span<UInt8>, _ outbox: inout Outbox) {
        let unfinished = unfinished(of: id)
        unfinished.waitingBytes.append(bytes)
        unfinished.recount()
        outbox.loop.pauseReading(id)
    }

    /// Notes that waiting bytes were read, unless some wait again.
    mutating func noteRead(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard self[id].unfinished?.waitingBytes.isEmpty ?? true else { return }
        move(id, .inputRead, &outbox)
    }

    /// Makes a connection wait for the answer to a request.
    ///
    /// The request is whole: its deadline is over, and the deadline of the answer is the broker's.
    mutating func wait(_ id: ConnectionID, _ outbox: inout Outbox) {
        move(id, .asked, &outbox)
        setDeadline(id, .answer, &outbox)
    }

    /// Makes a connection wait for the answer to its submission.
    mutating func wait(for submission: borrowing Submission, _ outbox: inout Outbox) {
        let id = submission.reply.connection
        switch submission.reply.form {
        case .none: return
        case .calls:
            move(id, .asked, &outbox)
        case .http:
            wait(id, &outbox)
            // The end of the connection ends its reader of a mailbox, its ask, or its wait.
            switch submission.request {
            case .readMailbox(let secret, _, _):
                self[id].mailbox = secret.number
                self[id].center = submission.center
            case .ask, .fate, .readValue: self[id].center = submission.center
            default: break
            }
        }
    }

    /// Notes that an answer was written, whether the connection waited for it or not.
    @inline(__always)
    mutating func noteAnswer(on id: ConnectionID, _ outbox: inout Outbox) {
        if self[id].reading.ignoresAnswer { return }
        if self[id].isAwaiting, self[id].reading.ending != .afterAnswer, self[id].kind == .http {
            self[id].mailbox = 0
            if !self[id].center.isEmpty { self[id].center = [] }
            setDeadline(id, .idle, &outbox)
        }
        move(id, .answered, &outbox)
    }

    /// Notes that the client has shut down its half: requests before that are still answered.
    mutating func endInput(_ id: ConnectionID, _ outbox: inout Outbox) {
        move(id, self[id].kind == .http ? .inputEnded : .closes(lingering: false), &outbox)
    }

    /// Takes the input of a connection that has waited and can be read now.
    mutating func takeReady() -> (id: ConnectionID, bytes: [UInt8])? {
        while ready.count > 0 {
            let id = ready.removeFirst()
            guard has(id), self[id].reading.state == .open,
                let unfinished = self[id].unfinished, !unfinished.waitingBytes.isEmpty
            else { continue }
            var bytes: [UInt8] = []
            swap(&bytes, &unfinished.waitingBytes)
            unfinished.recount()
            return (id, bytes)
        }
        return nil
    }
}
