import BelfryCenter
import BelfryHTTP
import BelfryWire

// Posts that wait for acknowledging observers: the center tells when they are complete.

extension CenterHost {
    /// Keeps the reply of posts that were applied and wait for their observers, until they are complete.
    ///
    /// - Parameters:
    ///   - call: the id of the call that has posted, if it is one.
    ///   - place: its place in its batch, if it is in one.
    mutating func park(
        _ reply: Reply, _ form: ReceiptForm, call: [UInt8]? = nil, place: CallPlace? = nil,
        _ outbox: inout Outbox
    ) {
        completions.add(
            WaitingReply(
                reply: reply, form: form, call: call, ticket: promises.awaitedTicket, place: place),
            for: applied.id)
        promises.awaitedTicket = 0
        // An observer may have to acknowledge on the connection that posts. The calls of a batch
        // are all performed first.
        if call != nil, place == nil { outbox.letGoOn(reply) }
    }

    /// Answers all posts that this turn has completed.
    mutating func answerCompletions(_ outbox: inout Outbox) {
        // An answer may let a request be read that completes another post.
        while completions.hasCompleted {
            for item in completions.takeCompleted() { complete(item, &outbox) }
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
            var answer = form.appendAnswer(
                item.completion.receipts, item.completion.reports, item.waiting.reply, &outbox)
            if replayed != nil { answer.fields.append(.isReplayed) }
            return promises.deliver(answer, item.waiting.reply, &outbox)
        }
        RPC.beginResult(id: call, to: &outbox.content)
        form.append(item.completion.receipts, item.completion.reports, to: &outbox.content)
        RPC.endResult(to: &outbox.content)
        guard let place = item.waiting.place else {
            return promises.deliver(.json, item.waiting.reply, &outbox)
        }
        place.batch.fill(place.number, with: outbox.content, ticket: promises.awaitedTicket)
        promises.deliver(place.batch, .none, &outbox)
    }
}
