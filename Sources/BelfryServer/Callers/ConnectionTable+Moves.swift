import BelfryBytes
import BelfryCenter
import BelfryHTTP
import BelfryLoop

// What connections are told that happened, and what follows from it.

extension ConnectionTable {
    /// Tells a connection what happened, and does what its machine says.
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

    /// The client has shut down its half, behind bytes that wait for the answer to what came before them.
    mutating func noteEndAhead(of id: ConnectionID, _ outbox: inout Outbox) {
        guard has(id), self[id].kind == .http, self[id].isAwaiting else { return }
        endPoll(id, &outbox)
    }

    /// Nobody knows whether the other half is still read: what waits need not wait for that.
    private mutating func endPoll(_ id: ConnectionID, _ outbox: inout Outbox) {
        let (center, encoding) = (self[id].center, self[id].encoding)
        guard !center.isEmpty else { return }
        tell(center, .endWait, by: id, encoding, &outbox)
    }

    /// Lets what waited be read, and then from the socket again.
    mutating func readOn(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard has(id), self[id].reading.state == .open else { return }
        if outbox.loop.mustBeWrittenFirst(id) { return throttle(id, &outbox) }
        outbox.loop.resumeReading(id)
        guard let unfinished = self[id].unfinished, !unfinished.waitingBytes.isEmpty else {
            return move(id, .inputRead, &outbox)
        }
        ready.append(id)
    }

    /// Keeps bytes that must wait for an answer to what came before them.
    mutating func keepWaiting(_ id: ConnectionID, _ bytes: Span<UInt8>, _ outbox: inout Outbox) {
        let unfinished = unfinished(of: id)
        unfinished.waitingBytes.append(bytes)
        unfinished.recount()
        outbox.loop.pauseReading(id)
    }

    /// What waited on a connection was read, unless it waits again.
    mutating func noteRead(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard self[id].unfinished?.waitingBytes.isEmpty ?? true else { return }
        move(id, .inputRead, &outbox)
    }

    /// A connection waits for the answer to a request.
    ///
    /// The request is whole: its time is over, and that of the answer is the broker's.
    mutating func wait(_ id: ConnectionID, _ outbox: inout Outbox) {
        move(id, .asked, &outbox)
        setDeadline(id, .answer, &outbox)
    }

    /// A connection that asked waits for its answer.
    mutating func wait(for submission: borrowing Submission, _ outbox: inout Outbox) {
        let id = submission.reply.connection
        switch submission.reply.form {
        case .none: return
        case .calls:
            move(id, .asked, &outbox)
        case .http:
            wait(id, &outbox)
            // The end of the connection is the end of a mailbox's reader, of an asker, and of one who waits.
            switch submission.request {
            case .readMailbox(let secret, _, _):
                self[id].mailbox = secret.number
                self[id].center = submission.center
            case .ask, .fate, .readValue: self[id].center = submission.center
            default: break
            }
        }
    }

    /// The answer to a connection was written, whether it waited for that or not.
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

    /// The client has shut down its half: what it asked for is still answered.
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
