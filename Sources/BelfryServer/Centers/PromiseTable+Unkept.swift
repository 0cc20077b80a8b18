import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire

// Answers whose promise could not be kept in time (decision 113): the outcome of their requests is
// unknown.

extension PromiseTable {
    /// Answers all that have waited for the store since a time, or for longer.
    ///
    /// Their changes may be stored later, or lost: the answers say neither. A later commit finds
    /// them answered.
    mutating func giveUp(since time: MonotonicTime, _ outbox: inout Outbox) {
        var isNews = false
        while let reply = nextCorked(since: time) {  // Bound: commit
            outbox.sendUnknown(insteadOfWithheldOn: reply)
            isNews = true
        }
        while let parked = nextAnswer(since: time) {  // Bound: commit
            switch parked {
            case .answer(let answer):
                outbox.sendUnknown(insteadOf: answer)
                isNews = true
            case .flush(let client, let connection):
                outbox.send([], .flushGoesOn(client: client), to: connection)
            }
        }
        if isNews { outbox.shared.store?.noteStandstill() }
    }

    /// Answers all that wait: no more changes are stored in this life.
    mutating func giveUpAll(_ outbox: inout Outbox) {
        giveUp(since: .distantFuture, &outbox)
    }
}

extension Outbox {
    /// Answers the first request behind a cork, in place of its answer and all behind it.
    ///
    /// The connection closes, which says nothing about the requests behind it, as is true (RFC 9112
    /// §9.3.2).
    fileprivate mutating func sendUnknown(insteadOfWithheldOn reply: Reply) {
        guard case .http(let http) = reply.form else { return }
        let start = loop.output.count
        let bytes = unknownOutcome(for: http)
        loop.output += bytes
        loop.uncork(reply.connection, instead: start..<loop.output.count)
        add(.answer(.close), to: reply.number)
    }

    /// Sends a problem in place of a kept answer.
    fileprivate mutating func sendUnknown(insteadOf answer: ParkedAnswer) {
        switch answer.reply.form {
        case .none: return
        case .http(let http):
            send(unknownOutcome(for: http), .answer(.close), to: answer.reply.number)
        case .calls:
            content.removeAll(keepingCapacity: true)
            noteRefusal(.isNotStored)
            let payload = answer.bytes.span.extracting(answer.frameHeaderByteCount...)
            RPC.append(.isNotStored, insteadOfResultsIn: payload, to: &content)
            send(contentFrame(), .lateAnswer, to: answer.reply.number)
        }
    }

    /// The answer to a request that closes its connection.
    private mutating func unknownOutcome(for http: HTTPReply) -> [UInt8] {
        var http = http
        http.context.keepsAlive = false
        content.removeAll(keepingCapacity: true)
        let isFull = http.isRemoval && shared.store?.isFull ?? false
        return encoded(problemAnswer(isFull ? .removalHasNoRoom : .isNotStored), http)
    }
}

extension ParkedAnswer {
    /// The length of the header of its text frame (RFC 6455 §5.2).
    fileprivate var frameHeaderByteCount: Int { bytes[1] < 126 ? 2 : bytes[1] == 126 ? 4 : 10 }
}

extension Problem {
    /// The problem of a removal for which the disk had no room: a repetition does no harm.
    fileprivate static var removalHasNoRoom: Problem {
        Problem(
            .storeUnavailable,
            """
            The disk is full. What you removed is gone, but the store does not know it: it comes \
            back when the broker ends before the disk has room. Repeat the request later.
            """)
    }

    /// The problem of a request whose changes may not be stored.
    fileprivate static var isNotStored: Problem {
        Problem(
            .outcomeUnknown,
            """
            The store has not confirmed this request in time (--store-answer-timeout): it may have \
            happened, and may be lost when the broker ends. Repeat a post or an ask with the same \
            Idempotency-Key, and it happens once; before you repeat anything else, check its effect.
            """)
    }
}
