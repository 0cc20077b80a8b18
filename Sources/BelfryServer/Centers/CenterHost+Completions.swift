import BelfryCenter
import BelfryHTTP
import BelfryWire

// Posts that wait for acknowledging observers: the center tells when they are complete.

extension CenterHost {
    /// How many posts may wait for their observers at a time, on one loop.
    static let waitingReplyLimit = 65_536

    /// Whether one post more may wait; if not, it is posted with a wait of 0.
    @inline(__always)
    var canWait: Bool { waitingReplies.count < Self.waitingReplyLimit }

    /// Keeps the reply of posts that were applied and wait for their observers, until they are complete.
    ///
    /// - Parameters:
    ///   - call: the id of the call that has posted, if it is one.
    ///   - place: its place in its batch, if it is in one.
    mutating func park(
        _ reply: Reply, _ form: ReceiptForm, call: [UInt8]? = nil, place: CallPlace? = nil,
        _ outbox: inout Outbox
    ) {
        waitingReplies[applied.id] = WaitingReply(
            reply: reply, form: form, call: call, ticket: promises.awaitedTicket, place: place)
        promises.awaitedTicket = 0
        // An observer may have to acknowledge on the connection that posts. The calls of a batch
        // are all performed first.
        if call != nil, place == nil { outbox.letGoOn(reply) }
    }

    /// Keeps what the last command has completed until the end of the turn.
    ///
    /// An answer lets the next request of its connection go on, which has no place inside a command.
    mutating func keepCompletions(_ outbox: inout Outbox) {
        for completion in effects.completions {
            guard let waiting = waitingReplies.removeValue(forKey: completion.command) else {
                continue
            }
            let hasChanges = !effects.changes.isEmpty && shared.store != nil
            completions.append(
                CompletedPost(
                    completion: completion, waiting: waiting,
                    waitsForTurn: hasChanges || completion.replayedForm != nil))
        }
    }

    /// Answers all posts that this turn has completed.
    mutating func answerCompletions(_ outbox: inout Outbox) {
        // An answer may let a request be read that completes another post.
        while !completions.isEmpty {
            var completed: [CompletedPost] = []
            swap(&completed, &completions)
            for item in completed { complete(item, &outbox) }
        }
    }

    private mutating func complete(_ item: CompletedPost, _ outbox: inout Outbox) {
        beginAnswer(&outbox)
        promises.awaitedTicket =
            item.waiting.ticket > promises.committedTicket ? item.waiting.ticket : 0
        if item.waitsForTurn, shared.store != nil {
            promises.awaitEverything()
        }
        let replayed = item.completion.replayedForm.map { ReceiptForm(rawValue: $0) }
        let form = replayed ?? item.waiting.form
        guard let call = item.waiting.call else {
            var answer = appendPostAnswer(
                item.completion.receipts, item.completion.reports, form, item.waiting.reply, &outbox
            )
            if replayed != nil { answer.fields.append(Self.isReplayed) }
            return deliver(answer, item.waiting.reply, &outbox)
        }
        RPC.beginResult(id: call, to: &outbox.content)
        appendReceipts(item.completion.receipts, item.completion.reports, form, &outbox)
        RPC.endResult(to: &outbox.content)
        guard let place = item.waiting.place else {
            return deliver(.json, item.waiting.reply, &outbox)
        }
        place.batch.fill(place.number, with: outbox.content, ticket: promises.awaitedTicket)
        deliver(place.batch, .none, &outbox)
    }

    /// Says that an answer repeats an earlier one.
    static var isReplayed: HTTPField { HTTPField("Idempotency-Replayed", "true") }

    /// Appends receipts in their form to the answer.
    mutating func appendReceipts(
        _ receipts: [Receipt], _ reports: [[ReportRow]], _ form: ReceiptForm, _ outbox: inout Outbox
    ) {
        if !form.contains(.batch), let receipt = receipts.first {
            Shape.append(
                receipt: receipt, rows: form.contains(.observers) ? reports.first ?? [] : nil,
                to: &outbox.content)
            return
        }
        Shape.append(
            receipts: receipts, rows: form.contains(.observers) ? reports : nil, to: &outbox.content
        )
    }
}
