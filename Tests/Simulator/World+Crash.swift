import BelfryCenter
import BelfryHistory
import TestSupport

// The broker dies at any moment of the store, or stops in order; then the next life begins.

extension World {
    /// Kill -9: what was not committed is gone, and so are all connections.
    func crash() throws(Violation) {
        // The turn in which it dies may have been handed over, and any number of turns committed.
        if dice.oneIn(2) { handOver() }
        try commit(dice.below(uncommitted.count + 1))
        tell("crash")
        try begin(isComplete: false)
    }

    /// A clean stop: everything is committed.
    func restart() throws(Violation) {
        try submit(.terminate)
        // Polls that this has answered are told the second time, as the server does it.
        try submit(.terminate)
        handOver()
        try commit(.max)
        committed = model
        tell("restart")
        try begin(isComplete: true)
    }

    private func begin(isComplete: Bool) throws(Violation) {
        noteList()
        incarnation += 1
        turn = StoreTurn()
        uncommitted = []
        pipes = [:]
        pendingPolls = []
        for place in ends.indices {
            ends[place].connection = nil
            ends[place].answered += ends[place].owed
            ends[place].owed = []
        }
        ends.removeAll { $0.transport == .events }
        setTimeOfNextLife()
        let epoch = [UInt8]("k\(seed).\(incarnation)")
        let found = try store.restart(isComplete: isComplete)
        if let image = found {
            guard image.sequence >= highestSequence || isJudgedByHistoryAlone else {
                throw Violation(
                    """
                    law 4: the next life begins at \(image.sequence), \
                    and \(highestSequence) was used
                    """
                )
            }
            if !isJudgedByHistoryAlone {
                try model.checkImage(image, against: committed, isComplete: isComplete)
            }
            if !isJudgedByHistoryAlone {
                model = committed.restored(
                    from: image, limits: profile.limits, now: now, wall: wall)
            }
            center = NotificationCenter(
                restoring: image, limits: profile.limits, seed: HashSeed(dice.next(), seed),
                time: time)
            center.assignOwners { Owner(ofPrincipal: $0) }
        } else {
            if !committed.isWorthNothing, !isJudgedByHistoryAlone {
                throw Violation("something must last, and the store does not know the center")
            }
            center = NotificationCenter(
                name: center.name, epoch: epoch, limits: profile.limits,
                seed: HashSeed(dice.next(), seed))
            model = Model(limits: profile.limits, now: now, wall: wall)
            highestSequence = 0
            for place in ends.indices {
                ends[place].lastSequence = 0
                ends[place].lastOfObserver = [:]
                ends[place].readThrough = 0
            }
        }
        committed = model
        noteRestart(isComplete: isComplete, hasState: found != nil)
        try recorder.restart(
            limits: profile.limits, epoch: epoch, isComplete: isComplete, time: time)
        try checkAll()
        // The loop lets the center reserve its first numbers before it listens.
        try submit(.configure(profile.limits))
        handOver()
        try commit(.max)
    }

    /// The monotonic clock starts anywhere in the next life.
    private func setTimeOfNextLife() {
        wall += Int64(dice.below(100_000))
        now = Int64(dice.number(in: 1_000_000...2_000_000_000)) * 1_000
    }
}

/// Compares a part of what is stored with what must be.
private func compare<Value: Equatable>(
    _ what: String, _ found: Value, _ expected: Value
) throws(Violation) {
    guard found != expected else { return }
    throw Violation("stored \(what):\n      found    \(found)\n      expected \(expected)")
}

extension Model {
    /// Whether nothing of it must last.
    var isWorthNothing: Bool {
        queue.isEmpty && !observers.contains { !$0.terms.endsWithConnection } && keys.isEmpty
    }

    /// Checks that the store has exactly the lasting part of the model.
    func checkImage(
        _ image: CenterImage, against model: Model, isComplete: Bool
    ) throws(Violation) {
        let lasting = model.observers.filter { !$0.terms.endsWithConnection }
        try compare("observers", image.observers.map(\.serial), lasting.map(\.serial))
        for (record, observer) in zip(image.observers, lasting) {
            try compare("client of an observer", record.client, observer.client)
            try compare("token", record.tokenHash, observer.tokenHash)
            try compare("filter", [record.name, record.object], [observer.name, observer.object])
            try compare("role", record.role, observer.role)
            try compare("selector", record.selector, observer.selector)
            try compare("terms", record.terms, observer.terms)
            try compare("since", record.since, observer.since)
            try compare("createdAt", record.createdAt, observer.createdAt)
            try compare(
                "acknowledgedThrough", record.acknowledgedThrough,
                observer.mailbox.acknowledgedThrough)
            try compare(
                "forgottenThrough", record.forgottenThrough, observer.mailbox.forgottenThrough)
        }
        let clients = model.clients.filter { client in lasting.contains { $0.client == client.id } }
        try compare("clients", image.clients.map(\.id), clients.map(\.id))
        for (record, client) in zip(image.clients, clients) {
            try compare("session", record.sessionHash, client.sessionHash)
            try compare("asked", record.isAsked, client.isAsked)
            try compare("was asked", record.wasAsked, client.wasAsked)
            try compare("principal", record.principal, client.principal)
            try compare("transport", record.transport, client.transport)
            try compare("immediateThrough", record.immediateThrough, client.immediateThrough)
            // A crash may come before it is stored; an end in order tells it of all.
            if isComplete || record.lastWritten != nil {
                try compare("lastWritten", record.lastWritten, client.lastWritten)
            }
            let away = model.away(client)
            // After a crash a lease may last a minute longer than it must, never less.
            let unknown: Int64 = isComplete ? 0 : 60_000_000_000
            guard (away - unknown...away).contains(record.disconnectedFor) else {
                throw Violation(
                    """
                    client \(client.id) was away for \(away) ns, \
                    stored are \(record.disconnectedFor)
                    """
                )
            }
        }
        try checkHeld(image, model, lasting, compare)
        try checkQueue(image, model)
        let keys = model.keys.filter { $0.forgottenAt > model.now }
        let stored = image.keys.filter { record in
            keys.contains { $0.key == record.key }
        }
        try compare("keys", stored.map(\.key), keys.map(\.key))
        for (record, key) in zip(stored, keys) {
            try compare("answer of \(key.key.text.shown)", record.receipts, key.receipts)
            try compare("rows of \(key.key.text.shown)", record.reports, key.reports)
        }
    }

    private func checkQueue(_ image: CenterImage, _ model: Model) throws(Violation) {
        try compare("queue", image.queue.map(\.id), model.queue.map(\.id))
        for (record, entry) in zip(image.queue, model.queue) {
            try compare("style of \(entry.id.low)", record.style, entry.style)
            try compare("modes", record.modes, entry.modes)
            try compare("merged", record.mergedCount, entry.merged)
            try compare("name", record.content.nameBytes, entry.name)
            try compare("object", record.content.objectBytes, entry.object)
            try compare("userInfo", record.content.userInfoBytes, entry.userInfo)
            try compare("causedBy", record.causedBy, entry.causedBy)
            try compare("depth", record.depth, entry.depth)
            try compare("immediate", record.isImmediate, entry.isImmediate)
            try compare("has maxDelay", record.delayLeft != nil, entry.promotesAt != .max)
            try compare("has ttl", record.timeToLive != nil, entry.expiresAt != .max)
        }
    }

    /// The time for which a client has been away, or its mailboxes have had no reader.
    private func away(_ client: Client) -> Int64 {
        guard client.isMailbox else {
            return client.isConnected ? 0 : now - client.disconnectedSince
        }
        let mailboxes = observers.lazy.filter { $0.client == client.id }.map(\.mailbox)
        return mailboxes.map { $0.reader == nil ? now - $0.lookedAt : 0 }.min() ?? 0
    }

    private func checkHeld(
        _ image: CenterImage, _ model: Model, _ lasting: [Observer],
        _ compare: (String, [String], [String]) throws(Violation) -> Void
    ) throws(Violation) {
        var expected: [(UInt64, UInt64)] = []
        for client in model.clients {
            for held in client.held + client.owed
            where lasting.contains(where: { $0.serial == held.observer }) {
                expected.append((held.note.sequence, held.observer))
            }
        }
        expected.sort { $0 < $1 }
        try compare(
            "held", image.held.map { "\($0.sequence)>o\($0.observer)" },
            expected.map { "\($0.0)>o\($0.1)" })
        var losses: [String] = []
        for observer in lasting {
            let drops = observer.terms.suspensionBehavior == .drop
            for loss in observer.losses.sorted(by: { $0.reason.rawValue < $1.reason.rawValue })
            where image.isComplete || loss.reason != .dropped && !(loss.reason == .unknown && drops)
            {
                losses.append(
                    Self.text(observer.serial, loss.reason, loss.count, loss.first, loss.last))
            }
        }
        let found = image.gaps.sorted {
            ($0.observer, $0.gap.reason.rawValue) < ($1.observer, $1.gap.reason.rawValue)
        }.filter { entry in
            // Dropped deliveries are not stored: after a crash the loss is reported as unknown.
            let drops = lasting.contains {
                $0.serial == entry.observer && $0.terms.suspensionBehavior == .drop
            }
            return image.isComplete
                || entry.gap.reason != .dropped && !(entry.gap.reason == .unknown && drops)
        }
        try compare(
            "losses",
            found.map {
                Self.text($0.observer, $0.gap.reason, $0.gap.count, $0.gap.first, $0.gap.last)
            },
            losses)
    }

    private static func text(
        _ observer: UInt64, _ reason: Gap.Reason, _ count: Int?, _ first: UInt64, _ last: UInt64
    ) -> String { "o\(observer) \(reason) \(count.map { "\($0)" } ?? "?") \(first)...\(last)" }

    /// The model of the next life: what was committed, and all clients are disconnected.
    func restored(
        from image: CenterImage, limits: CenterLimits, now: Int64, wall: Int64
    ) -> Model {
        var next = Model(limits: limits, now: now, wall: wall)
        next.sequence = image.sequence
        next.restoredThrough = image.sequence
        next.observers = observers.filter { !$0.terms.endsWithConnection }
        for place in next.observers.indices { next.restore(place, image) }
        for client in clients where next.observers.contains(where: { $0.client == client.id }) {
            next.clients.append(restored(client, image, &next))
        }
        for place in next.observers.indices {
            let client = next.client(of: place)
            next.observers[place].mailbox.lookedAt = next.clients[client].disconnectedSince
        }
        next.tombstones = image.tombstones.suffix(limits.tombstoneLimit).map {
            ($0.serial, $0.tombstone)
        }
        for (entry, record) in zip(queue, image.queue) {
            var entry = entry
            entry.promotesAt = record.delayLeft.map { now + $0 } ?? .max
            entry.expiresAt = record.timeToLive.map { now + $0 } ?? .max
            entry.isRestored = true
            entry.isInSnapshot = false
            next.queue.append(entry)
        }
        for record in image.keys {
            next.keys.append(
                KeyedAnswer(
                    key: record.key, receipts: record.receipts, reports: record.reports,
                    waitsFor: nil, forgottenAt: now + lifetime(of: limits.keyLifetime)))
        }
        return next
    }

    private mutating func restore(_ place: Int, _ image: CenterImage) {
        let old = observers[place]
        var observer = Observer(
            serial: old.serial, client: old.client, tokenHash: old.tokenHash, name: old.name,
            object: old.object, role: old.role, filter: old.filter, selector: old.selector,
            terms: old.terms, since: old.since,
            createdAt: old.createdAt)
        observer.mailbox.acknowledgedThrough = old.mailbox.acknowledgedThrough
        observer.mailbox.forgottenThrough = old.mailbox.forgottenThrough
        let known = image.clients.first { $0.id == old.client }?.lastWritten
        observer.writtenThrough = min(sequence, known?.sequence ?? sequence)
        // Drops in a life that did not end in order are unknown.
        if !image.isComplete, old.terms.suspensionBehavior == .drop, old.since < sequence {
            observer.losses = [
                Loss(reason: .unknown, count: nil, first: old.since + 1, last: sequence)
            ]
        }
        observers[place] = observer
        for (serial, gap) in image.gaps where serial == old.serial {
            lose(
                Loss(reason: gap.reason, count: gap.count, first: gap.first, last: gap.last),
                at: place)
        }
    }

    private func restored(
        _ old: Client, _ image: CenterImage, _ next: inout Model
    ) -> Client {
        let away = image.clients.first { $0.id == old.id }?.disconnectedFor ?? 0
        var client = Client(
            id: old.id, transport: old.transport,
            connection: ConnectionName(node: 0, number: 0), sessionHash: old.sessionHash,
            principal: old.principal, connectedAt: old.connectedAt, stateSince: next.wall)
        client.isConnected = false
        client.isAsked = old.isAsked
        client.wasAsked = old.wasAsked
        client.immediateThrough = old.immediateThrough
        client.lastWritten = image.clients.first { $0.id == old.id }?.lastWritten
        client.disconnectedSince = next.now - away
        var kept = old.held + old.owed
        kept.sort { Self.isBefore($0, $1) }
        for held in kept {
            guard let observer = next.place(ofObserver: held.observer),
                let record = image.notifications.first(where: {
                    $0.notification.sequence == held.note.sequence
                })
            else { continue }
            let terms = next.observers[observer].terms
            let note = Note(
                id: held.note.id, sequence: held.note.sequence, postedAt: held.note.postedAt,
                causedBy: held.note.causedBy, name: held.note.name, object: held.note.object,
                userInfo: held.note.userInfo,
                expiresAt: record.timeToLive.map { next.now + $0 } ?? .max, isRestored: true)
            var again = Held(observer: held.observer, note: note)
            again.isRedelivered = true
            if terms.suspensionBehavior == .coalesce || terms.minInterval > 0 {
                // A later one replaces the last one of its kind.
                for place in client.held.indices
                where client.held[place].observer == held.observer
                    && client.held[place].note.isKind(of: note)
                { client.held[place].isReplaceable = false }
                again.isReplaceable = true
            }
            client.held.append(again)
        }
        return client
    }
}
