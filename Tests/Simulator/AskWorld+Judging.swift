import BelfryCenter

// The rules for an outsider's sight.

extension AskWorld {
    /// Submits a command, and judges what it brings about.
    @discardableResult
    func submit(_ action: Command.Action) throws(Violation) -> Outcome {
        commandCount += 1
        let command = Command(
            id: CommandID(node: 0, incarnation: 1, counter: commandCount), time: time,
            action: action)
        try recorder.record(command)
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        turn += effects.changes
        announcement = max(announcement, effects.announcement)
        for case .flushFollows(let client, let connection) in effects.notices {
            flushing.append((client, connection.number))
        }
        told.append("\(Show.action(action)): \(Show.effects(effects, center))")
        if told.count > 100 { told.removeFirst(50) }
        try recorder.compare(with: center, effects)
        let showings = effects.deliveries.filter { $0.form == .ask }
        if case .ask = action, showings.count == 1, effects.askEnds.isEmpty {
            try judgeChoice(showings[0])
        }
        for delivery in showings { try judge(delivery) }
        for end in effects.askEnds { try judge(end) }
        for completion in effects.askCompletions {
            known.asks[completion.outcome.id]?.waiters
                .removeAll { $0.command == completion.command.counter }
        }
        try judgeTurns()
        return effects.outcome
    }

    /// Judges open asks: each is at a present observer, and does not wait without holding.
    private func judgeTurns() throws(Violation) {
        for ask in center.asks(matching: ObserverQuery(limit: .max), visible: { _, _ in true }).rows
        {
            let name = "ask #\(ask.id.low)"
            if ask.observer == 0 {
                try judgeWaiting(ask, name)
                continue
            }
            guard let row = center.observer(ask.observer) else {
                throw Violation("rule R11: \(name) is at o\(ask.observer), which is gone")
            }
            let holds = [.hold, .deliverImmediately].contains(row.terms.suspensionBehavior)
            // One that the store is told of waits for that, and may be overtaken meanwhile (rule
            // R20).
            guard !ask.isShown, !holds, row.state == .live, !mailboxes.contains(ask.observer),
                !awaitsStore,
                let responder = center.responders(at: ask.object)
                    .first(where: { $0.observer.serial == ask.observer })
            else { continue }
            if responder.openAskCount >= responder.observer.role.responder?.concurrency ?? 0 {
                throw Violation("rule R6: \(name) waits for o\(ask.observer), which does not hold")
            }
        }
    }

    /// Whether the store is told of asks that are shown once it has them, and take room until then.
    private var awaitsStore: Bool {
        announcement != 0 || uncommitted.contains { $0.announcement != 0 }
    }

    /// Judges an ask that waits for the first responder: there is none that it has not been to.
    private func judgeWaiting(_ row: AskRow, _ name: String) throws(Violation) {
        guard let ask = known.asks[row.id], ask.ask.options.waitsForAnybody else {
            throw Violation("rule R21: \(name) waits for anybody, and was not to")
        }
        if awaitsStore { return }
        switch center.explainAsk(object: row.object, selector: row.selector).outcome {
        case .failed: return
        case .delivered(let observer), .held(let observer):
            // Before a restart it may have been announced to that one, which counts as shown.
            if ask.life != life || ask.shown.contains(where: { $0.observer == observer }) { return }
            throw Violation("rule R21: \(name) waits, and o\(observer) is there")
        }
    }

    private func judge(_ delivery: Delivery) throws(Violation) {
        let note = effects.notifications[Int(delivery.notification)]
        let name = "ask #\(note.id.low)"
        guard let ask = known.asks[note.id], !ask.isOver else {
            throw Violation("\(name) was shown, and is not open")
        }
        guard note.sequence > lastSequence else {
            throw Violation("rule R13: \(name) has no higher number than the one before")
        }
        lastSequence = note.sequence
        try judgeAgain(ask, name, to: delivery.observer, delivery.isRedelivered)
        if ask.shown.contains(where: { $0.observer == delivery.observer && !$0.isLost }) {
            throw Violation("rule R11: \(name) came again to one that had not gone")
        }
        guard clients.values.contains(.some(delivery.connection.number)) else {
            throw Violation("rule R6: \(name) was written to nobody")
        }
        guard let row = center.observer(delivery.observer) else {
            throw Violation("rule C11: \(name) came to o\(delivery.observer), which is gone")
        }
        guard row.role.responder?.implements.contains(ask.ask.content.nameBytes) == true else {
            throw Violation("rule R5: \(name) came to one that does not implement it")
        }
        let isHeldBack = row.terms.suspensionBehavior != .deliverImmediately
        if isHeldBack, known.suspended.contains(row.client) {
            throw Violation("rule R6: \(name) came to one that is suspended")
        }
        known.asks[note.id]?.shown.append(
            Showing(
                observer: delivery.observer,
                client: row.client, sequence: note.sequence,
                life: life))
        lastAsked[delivery.observer] = note.sequence
    }

    /// A responder that sees an ask again is told so; with `once` it does not see it again.
    ///
    /// An ask that the broker was about to show when it died is marked, too.
    private func judgeAgain(
        _ ask: Seen, _ name: String, to observer: UInt64, _ isRedelivered: Bool
    ) throws(Violation) {
        if ask.ask.isOnce, ask.shown.contains(where: { !$0.isForgotten }) {
            throw Violation("rule R12: \(name) was shown again")
        }
        let earlier = ask.shown.filter { $0.observer == observer }
        if isRedelivered, earlier.isEmpty, !mailboxes.contains(observer), ask.life == life {
            throw Violation("rule R11: \(name) is marked as redelivered, and comes the first time")
        }
        if !isRedelivered, earlier.contains(where: { !$0.isForgotten }) {
            throw Violation("rule R11: \(name) came again, and is not marked")
        }
    }

    /// Judges an ask in a look into a mailbox; looks may repeat it.
    func judge(_ element: MailboxPage.Element, in observer: UInt64) throws(Violation) {
        let note = element.notification
        let name = "ask #\(note.id.low) in o\(observer)"
        guard let ask = known.asks[note.id], !ask.isOver else {
            throw Violation("rule R10: \(name) is there, and is over")
        }
        let terms = center.observer(observer)?.role.responder
        guard terms?.implements.contains(ask.ask.content.nameBytes) == true else {
            throw Violation("rule R5: \(name) came to one that does not implement it")
        }
        if ask.shown.contains(where: { $0.observer == observer && $0.sequence == note.sequence }) {
            return
        }
        try judgeAgain(ask, name, to: observer, element.isRedelivered)
        known.asks[note.id]?.shown.append(
            Showing(
                observer: observer, client: 0, sequence: note.sequence, life: life, isLook: true))
    }

    /// Judges the end of an ask: it ends with its last waiter; one that was answered 202 has none.
    func judge(
        _ before: [NotificationID: Seen],
        where isGone: ((command: UInt64, client: UInt64?)) -> Bool
    ) throws(Violation) {
        for (id, ask) in before where !ask.isOver && ask.waiters.contains(where: isGone) {
            let isAwaited = !ask.waiters.allSatisfy(isGone)
            let end = known.asks[id]?.end
            if end == nil, !isAwaited {
                throw Violation("rule R16: ask #\(id.low) is open, and its asker is gone")
            }
            if end == .withdrawn, isAwaited {
                throw Violation("rule R17: ask #\(id.low) went from one who waits for it")
            }
        }
    }

    // MARK: Keys

    /// A key may begin again where its first ask was not answered, or where it is over.
    func judgeNew(_ id: NotificationID, after earlier: Seen?) throws(Violation) {
        guard let earlier, now < earlier.keyEndsAt else { return }
        switch earlier.end {
        case .failed(.noResponder), .failed(.responderBusy), .failed(.noAnswer), .withdrawn: return
        case nil, .open, .answered, .fallback, .failed:
            throw Violation(
                "rule R17: ask #\(id.low) repeats #\(earlier.ask.id.low), and was asked again")
        }
    }

    /// Judges the answer to a repeated ask: the first answer, or the state.
    func judge(
        _ again: AskOutcome, repeating id: NotificationID, _ first: Seen
    ) throws(Violation) {
        guard again.id == id else {
            throw Violation("rule R17: the answer of #\(again.id.low) repeats #\(id.low)")
        }
        if case .open = again.state, first.ask.wait != nil { return }
        guard again.state == first.end else {
            throw Violation("rule R17: #\(id.low) is told another end than it had")
        }
    }

    // MARK: Choice and end

    /// Judges the choice among responders that share an address.
    ///
    /// The one with the fewest open asks is asked, then the one asked longest ago, then the oldest.
    private func judgeChoice(_ delivery: Delivery) throws(Violation) {
        let note = effects.notifications[Int(delivery.notification)]
        guard let target = effects.addressed(of: delivery.notification)?.target else { return }
        let rows = center.responders(at: target)
        guard let chosen = rows.first(where: { $0.observer.serial == delivery.observer }) else {
            throw Violation(
                "rule R4: ask #\(note.id.low) came to one that does not hold the address")
        }
        let rank = self.rank(of: chosen, openAskCount: chosen.openAskCount - 1)
        for other in rows where other.observer.serial != delivery.observer {
            let terms = other.observer.role.responder
            // The moment when a mailbox is asked is not visible.
            guard let terms, !mailboxes.contains(other.observer.serial),
                terms.implements.contains(note.content.nameBytes),
                other.observer.state == .live, other.openAskCount < terms.concurrency,
                self.rank(of: other, openAskCount: other.openAskCount) < rank
            else { continue }
            throw Violation(
                """
                rule R2: ask #\(note.id.low) came to o\(delivery.observer), \
                before o\(other.observer.serial)
                """
            )
        }
    }

    private func rank(of row: ResponderRow, openAskCount: Int) -> (Int, UInt64, UInt64) {
        (openAskCount, lastAsked[row.observer.serial] ?? 0, row.observer.serial)
    }

    private func judge(_ end: AskOutcome) throws(Violation) {
        let name = "ask #\(end.id.low)"
        guard let ask = known.asks[end.id], !ask.isOver else {
            throw Violation("\(name) ended twice, or was never asked")
        }
        known.asks[end.id]?.end = end.state
        switch end.state {
        case .open: throw Violation("\(name) ended, and is open")
        case .withdrawn: return
        case .answered(let answer):
            guard ask.answers.contains(answer) else {
                throw Violation("rules R7 and R22: o\(answer.observer) did not answer \(name) so")
            }
        case .fallback(let text, _):
            guard ask.ask.fallback == text else {
                throw Violation("\(name) ended with a default that is not its own")
            }
        case .failed(let failure):
            if ask.ask.fallback != nil { throw Violation("\(name) has a default, and failed") }
            if ask.ask.options.waitsForAnybody,
                [.noResponder, .responderBusy].contains(failure)
                    || failure == .selectorNotImplemented && !ask.wasPassed
            {
                throw Violation("rule R21: \(name) waits for a responder, and ended without")
            }
            if failure == .noAnswer, ask.endsAt > now {
                throw Violation("\(name) ended before its time")
            }
        }
    }
}
