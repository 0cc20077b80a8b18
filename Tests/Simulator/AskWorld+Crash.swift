import BelfryCenter
import TestSupport

// Turns are handed to the store and committed; the broker dies at any moment of that, or stops in
// order.

extension AskWorld {
    /// Gives the store the changes of the turn, with an outsider's knowledge at their commit.
    func handOver() {
        guard !turn.isEmpty else { return }
        uncommitted.append(Turn(changes: turn, known: known, announcement: announcement))
        (turn, announcement) = ([], 0)
        recorder.endTurn()
    }

    /// The store commits the oldest turns: answers that promise what they changed leave.
    func commit(_ count: Int) throws(Violation) {
        for _ in 0..<min(count, uncommitted.count) {
            let oldest = uncommitted.removeFirst()
            try store.commit(oldest.changes)
            try recorder.commit()
            committed = oldest.known
            if oldest.announcement > 0, !isStopping {
                try submit(.showAnnounced(through: oldest.announcement))
            }
        }
    }

    /// The broker is killed, or stops in order, and begins again with what the store was told.
    func restart(isComplete: Bool) throws(Violation) {
        if isComplete {
            isStopping = true
            try submit(.terminate)
            try submit(.terminate)
            handOver()
            try commit(.max)
            isStopping = false
            committed = known
        }
        told.append(isComplete ? "restart" : "crash")
        let before = known
        life += 1
        turn = []
        (announcement, uncommitted, flushing) = (0, [], [])
        wall += Int64(dice.below(3_000))
        now = Int64(dice.number(in: 1_000_000...2_000_000_000)) * 1_000
        let epoch = [UInt8]("k\(life)")
        if let image = try store.restart(isComplete: isComplete) {
            // Times that a fast clock has stored are changed with the first turn.
            var noted: [Change] = []
            center = NotificationCenter(
                restoring: image, limits: limits, seed: HashSeed(dice.next(), 1), time: time,
                note: { noted.append($0) })
            turn = noted
            center.assignOwners { Owner(ofPrincipal: $0) }
        } else {
            center = NotificationCenter(
                name: center.name, epoch: epoch, limits: limits, seed: HashSeed(dice.next(), 1))
            lastSequence = 0
        }
        try recorder.restart(limits: limits, epoch: epoch, isComplete: isComplete, time: time)
        for client in clients.keys { clients[client] = .some(nil) }
        lastAsked = [:]
        try remember(before)
        try submit(.configure(limits))
        handOver()
        try commit(.max)
    }

    /// Makes an outsider's knowledge for the next life: committed facts, and sights of them.
    private func remember(_ before: Known) throws(Violation) {
        let kept = committed.asks
        known = committed
        for (id, ask) in kept {
            // A waiting ask was promised to no client.
            guard ask.ask.wait != nil || ask.isOver && ask.key != nil else {
                known.asks[id] = nil
                continue
            }
            known.asks[id]?.waiters = []
            let seen = before.asks[id]?.shown ?? ask.shown
            known.asks[id]?.shown = seen.map { showing in
                var showing = showing
                showing.isLost = true
                showing.isForgotten =
                    showing.isForgotten
                    || showing.isLook
                        && !ask.shown.contains { $0.sequence == showing.sequence }
                return showing
            }
            known.asks[id]?.answers = before.asks[id]?.answers ?? ask.answers
            // No clock leaves it more than its whole time.
            let answerBy = min(ask.answerBy, wall + ask.ask.lifetime / 1_000_000)
            known.asks[id]?.answerBy = answerBy
            known.asks[id]?.endsAt = now + max(0, answerBy - wall) * 1_000_000
            guard ask.ask.wait != nil, !ask.isOver else { continue }
            guard center.ask(id, at: time) != nil else {
                throw Violation("rule R20: ask #\(id.low) was answered 202, and is not known")
            }
        }
        known.keys = known.keys.filter { known.asks[$0.value] != nil }
        let serials = mailboxes
        mailboxes = serials.filter { center.observer($0) != nil }
    }
}

extension AskWorld {
    /// The options of an ask.
    func options() -> AskOptions {
        var options = AskOptions()
        options.waitsForAnybody = dice.oneIn(3)
        if dice.oneIn(4) { options.present = [UInt8](#"{"title":"\#(lastNumber)"}"#) }
        return options
    }

    /// Two principals, and nobody.
    func principal(of client: UInt64) -> [UInt8] {
        [[UInt8]("p"), [UInt8]("q"), []][Int(client % 3)]
    }
}
