import BelfryCenter
import BelfryHTTP
import BelfryWire

// Posts that wait for acknowledging observers, and asks: the center tells when they are complete.

extension CenterHost {
    /// Parks the reply of posts or of an ask, which were applied, until they are complete.
    ///
    /// - Parameters:
    ///   - form: the form of the receipts; nil for the answer to an ask.
    ///   - ticket: the ticket of their changes; 0 without changes to store.
    ///   - call: the id of the call that has posted or asked, if it is one.
    ///   - place: the place of the call in its batch, if it is in one.
    mutating func park(
        _ reply: Reply, _ form: ReceiptForm?, _ sight: Sight, after ticket: UInt64,
        call: [UInt8]? = nil, place: CallPlace? = nil, _ context: inout LoopContext
    ) {
        completions.add(
            WaitingReply(
                reply: reply, form: form, sight: sight, call: call,
                ticket: ticket, place: place),
            for: applied.id)
        // An observer may have to acknowledge on the connection that posts. The calls of a batch
        // are all performed first.
        if call != nil, place == nil { context.letGoOn(reply) }
    }

    /// Answers complete posts and asks, one in any case, and more while the turn has room.
    mutating func answerCompletions(_ context: inout LoopContext) {
        guard completions.hasCompleted else { return }
        while let item = completions.takeCompleted() {  // Share: polls
            complete(item, &context)
            if context.largeAnswersMustWait { return }
        }
    }

    /// Refuses those that wait for answers of observers.
    mutating func refuse(
        _ waiting: [WaitingReply], _ problem: Problem, _ context: inout LoopContext
    ) {
        for item in waiting {  // Bound: waiting
            if item.form == nil { waits.removePlace(of: item.reply.number.rawValue) }
            item.answer(after: 0, &promises, &context) { _, _ throws(Problem) in throw problem }
        }
    }

    private mutating func complete(_ item: CompletedCommand, _ context: inout LoopContext) {
        var ticket = item.waiting.ticket > promises.committedTicket ? item.waiting.ticket : 0
        if item.waitsForTurn, shared.store != nil {
            ticket = max(ticket, promises.ticketOfEverything)
        }
        let (reply, sight) = (item.waiting.reply, item.waiting.sight)
        switch item.completion {
        case .posts(let completion):
            let replayed = completion.replayedForm.map { ReceiptForm(rawValue: $0) }
            let form = replayed ?? item.waiting.form ?? []
            item.waiting.answer(after: ticket, &promises, &context) { answer, _ in
                form.fill(&answer, completion.receipts, completion.reports, reply, sight)
                if replayed != nil { answer.fields.append(.isReplayed) }
            }
        case .ask(let completion):
            waits.removePlace(of: reply.number.rawValue)
            item.waiting.answer(after: ticket, &promises, &context) {
                answer, context throws(Problem) in
                try completion.outcome.fill(
                    &answer, isReplayed: completion.replayedForm != nil, reply, sight, &context)
            }
        }
    }
}

extension WaitingReply {
    /// Answers a request, a call, or a call in a batch that has waited.
    ///
    /// - Parameter ticket: the ticket that the answer waits for still; 0 without one.
    func answer(
        after ticket: UInt64, _ promises: inout PromiseTable, _ context: inout LoopContext,
        by fill: (inout Answer, inout LoopContext) throws(Problem) -> Void
    ) {
        var answer = context.outbox.answers.make()
        answer.wait(until: ticket)
        do throws(Problem) {
            if let call { RPC.beginResult(id: call, to: &answer.content) }
            try fill(&answer, &context)
            if call != nil { RPC.endResult(to: &answer.content) }
        } catch {
            if let call {
                context.noteRefusal(error)
                answer.content.removeAll(keepingCapacity: true)
                RPC.append(problem: error, id: call, to: &answer.content)
            } else {
                context.refuse(error, in: &answer)
            }
        }
        guard let place else { return promises.deliver(answer, reply, &context) }
        place.batch.fill(place.number, with: answer)
        context.outbox.answers.reclaim(answer)
        promises.deliver(place.batch, .none, &context)
    }
}
