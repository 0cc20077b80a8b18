import BelfryCenter
import BelfryHTTP
import BelfryWire

// Posts that wait for acknowledging observers, and asks: the center tells when they are complete.

extension CenterHost {
    /// Parks the reply of posts or of an ask, which were applied, until they are complete.
    ///
    /// - Parameters:
    ///   - form: the form of the receipts; nil for the answer to an ask.
    ///   - call: the id of the call that has posted or asked, if it is one.
    ///   - place: the place of the call in its batch, if it is in one.
    mutating func park(
        _ reply: Reply, _ form: ReceiptForm?, _ sight: Sight, call: [UInt8]? = nil,
        place: CallPlace? = nil, _ outbox: inout Outbox
    ) {
        completions.add(
            WaitingReply(
                reply: reply, form: form, sight: sight, call: call,
                ticket: promises.awaitedTicket, place: place),
            for: applied.id)
        promises.awaitedTicket = 0
        // An observer may have to acknowledge on the connection that posts. The calls of a batch
        // are all performed first.
        if call != nil, place == nil { outbox.letGoOn(reply) }
    }

    /// Answers complete posts and asks, one in any case, and more while the turn has room.
    mutating func answerCompletions(_ outbox: inout Outbox) {
        guard completions.hasCompleted else { return }
        while let item = completions.takeCompleted() {  // Share: polls
            complete(item, &outbox)
            if outbox.largeAnswersMustWait { return }
        }
    }

    /// Refuses those that wait for answers of observers.
    mutating func refuse(
        _ waiting: [WaitingReply], _ problem: Problem, _ outbox: inout Outbox
    ) {
        for item in waiting {  // Bound: waiting
            beginAnswer(&outbox)
            if item.form == nil { asks.takePlace(of: item.reply.number.rawValue) }
            item.answer(&promises, &outbox) { _ throws(Problem) in throw problem }
        }
    }

    private mutating func complete(_ item: CompletedCommand, _ outbox: inout Outbox) {
        beginAnswer(&outbox)
        promises.awaitedTicket =
            item.waiting.ticket > promises.committedTicket ? item.waiting.ticket : 0
        if item.waitsForTurn, shared.store != nil {
            promises.awaitEverything()
        }
        let (reply, sight) = (item.waiting.reply, item.waiting.sight)
        switch item.completion {
        case .posts(let completion):
            let replayed = completion.replayedForm.map { ReceiptForm(rawValue: $0) }
            let form = replayed ?? item.waiting.form ?? []
            item.waiting.answer(&promises, &outbox) { outbox in
                var answer = form.appendAnswer(
                    completion.receipts, completion.reports, reply, sight, &outbox)
                if replayed != nil { answer.fields.append(.isReplayed) }
                return answer
            }
        case .ask(let completion):
            asks.takePlace(of: reply.number.rawValue)
            item.waiting.answer(&promises, &outbox) { outbox throws(Problem) in
                try completion.outcome.answer(
                    isReplayed: completion.replayedForm != nil, reply, sight, &outbox)
            }
        }
    }
}

extension WaitingReply {
    /// Answers a request, a call, or a call in a batch that has waited.
    func answer(
        _ promises: inout PromiseTable, _ outbox: inout Outbox,
        by append: (inout Outbox) throws(Problem) -> Answer
    ) {
        var answer = Answer.json
        do throws(Problem) {
            if let call { RPC.beginResult(id: call, to: &outbox.content) }
            answer = try append(&outbox)
            if call != nil { RPC.endResult(to: &outbox.content) }
        } catch {
            outbox.content.removeAll(keepingCapacity: true)
            if let call {
                outbox.noteRefusal(error)
                RPC.append(problem: error, id: call, to: &outbox.content)
            } else {
                answer = outbox.problemAnswer(error)
            }
        }
        guard let place else { return promises.deliver(answer, reply, &outbox) }
        place.batch.fill(place.number, with: outbox.content, ticket: promises.awaitedTicket)
        promises.deliver(place.batch, .none, &outbox)
    }
}
