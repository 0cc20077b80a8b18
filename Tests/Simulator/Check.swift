import BelfryCenter

// The effects of the center against the prediction of the model.

extension World {
    func check(_ expected: Prediction, _ command: Command) throws(Violation) {
        // A connection's end has no answer.
        if case .disconnect = command.action { return try checkParts(expected) }
        try compare("outcome", SeenOutcome(effects.outcome), expected.outcome)
        try checkParts(expected)
    }

    private func checkParts(_ expected: Prediction) throws(Violation) {
        try checkAccounts()
        try compare("receipts", effects.receipts, expected.receipts)
        if model.terms.reportsObservers || !expected.reports.isEmpty {
            try compare("report", effects.reports, expected.reports)
        }
        try compare("completions", effects.completions, expected.completions)
        try checkNotices(expected.notices)
        try checkDeliveries(expected.deliveries)
        if center.sequence != model.sequence {
            throw Violation("sequence is \(center.sequence), expected \(model.sequence)")
        }
        if expected.promises, effects.changes.isEmpty {
            throw Violation("the answer promises what no change tells the store")
        }
    }

    private func compare<Value: Equatable>(
        _ what: String, _ found: Value, _ expected: Value
    ) throws(Violation) {
        guard found != expected else { return }
        throw Violation("\(what):\n      found    \(found)\n      expected \(expected)")
    }

    /// Law 3: matched = delivered + held + coalesced + dropped, and rows say the same.
    private func checkAccounts() throws(Violation) {
        for receipts in [effects.receipts] + effects.completions.map(\.receipts) {
            for receipt in receipts {
                let sum = receipt.delivered + receipt.held + receipt.coalesced + receipt.dropped
                guard receipt.matched == sum,
                    receipt.acknowledged + receipt.refused + receipt.pending <= receipt.delivered
                else { throw Violation("law 3: the account does not add up: \(receipt)") }
            }
        }
    }

    /// Deliveries of one connection have one order; connections among each other have none.
    private func checkDeliveries(_ expected: [PredictedDelivery]) throws(Violation) {
        let found = effects.deliveries
        guard found.count == expected.count else {
            throw Violation(
                """
                deliveries:
                      found    \(found.map(Show.delivery(in: effects)))
                      expected \(expected.map(Show.predicted))
                """)
        }
        if zip(found, expected).allSatisfy({ isEqual($0, $1) }) { return }
        let foundSorted = found.enumerated().sorted {
            ($0.element.connection.number, $0.offset)
                < ($1.element.connection.number, $1.offset)
        }
        let expectedSorted = expected.enumerated().sorted {
            ($0.element.connection.number, $0.offset)
                < ($1.element.connection.number, $1.offset)
        }
        for (left, right) in zip(foundSorted, expectedSorted)
        where !isEqual(left.element, right.element) {
            throw Violation(
                """
                deliveries:
                      found    \(found.map(Show.delivery(in: effects)))
                      expected \(expected.map(Show.predicted))
                """)
        }
    }

    private func isEqual(_ found: Delivery, _ expected: PredictedDelivery) -> Bool {
        guard Int(found.notification) < effects.notifications.count else { return false }
        let notification = effects.notifications[Int(found.notification)]
        return found.connection == expected.connection && found.observer == expected.observer
            && found.transport == expected.transport && found.form == expected.form
            && found.isRedelivered == expected.isRedelivered
            && center.selector(found.selector) == expected.selector
            && isEqual(notification, expected.note)
    }

    func isEqual(_ notification: Notification, _ note: Model.Note) -> Bool {
        notification.sequence == note.sequence && notification.id == note.id
            && notification.postedAt == note.postedAt && notification.causedBy == note.causedBy
            && notification.content.nameBytes == note.name
            && notification.content.objectBytes == note.object
            && notification.content.userInfoBytes == note.userInfo
    }

    /// Notices of a command come before its deliveries; among each other they have no order.
    private func checkNotices(_ expected: [Notice]) throws(Violation) {
        if effects.notices == expected { return }
        let found = effects.notices.map { "\($0)" }.sorted()
        let wanted = expected.map { "\($0)" }.sorted()
        guard found != wanted else { return }
        throw Violation("notices:\n      found    \(effects.notices)\n      expected \(expected)")
    }

    // MARK: Everything that can be seen

    /// Compares all that can be seen of the center.
    func checkAll() throws(Violation) {
        noteLooks()
        if isJudgedByHistoryAlone { return }
        try checkRows()
        try checkExplanation()
        let queue = center.queue(matching: ObserverQuery(limit: 1_000) { $0.isWaiting = false }) {
            _, _ in true
        }.rows
        try compare("queue", queue.map { SeenEntry($0) }, model.queueRows)
        try compare("mode", center.modes.current, model.currentMode)
        try compare("modes", center.modes.stack.map(\.serial), model.modes.map(\.entry.serial))
        for (place, fate) in model.fates.enumerated() where fate.forgottenAt > now {
            // The fate of a queued post is followed by that of the same post when it has left.
            let id = fate.receipt.id
            if model.fates[(place + 1)...].contains(where: { $0.receipt.id == id }) { continue }
            try compare(
                "fate", center.receipt(of: fate.receipt.id, at: time), fate.receipt)
        }
        for (serial, tombstone) in model.tombstones {
            try compare("tombstone of o\(serial)", center.tombstone(serial), tombstone)
        }
        try compare("needsIdle", center.needsIdle, model.needsIdle)
        if let expected = model.nextDeadline, center.nextDeadline ?? .max > expected {
            throw Violation(
                "nextDeadline is \(center.nextDeadline ?? .max), expected no later than \(expected)"
            )
        }
        try compare(
            "queue bytes", center.queueByteCount, model.queue.reduce(0) { $0 + $1.byteCount })
    }

    private func checkRows() throws(Violation) {
        var query = ObserverQuery()
        query.limit = 1_000
        let rows = center.observers(matching: query) { _, _ in true }.rows
        try compare("observer count", rows.count, model.observers.count)
        for (place, row) in rows.enumerated() {
            try compare("observer", SeenObserver(row), model.row(ofObserver: place))
            guard row.transport == .mailbox else { continue }
            let page = center.mailbox(of: row.serial, after: 0, limit: 1_000)
            try compare(page, model.mailbox(of: row.serial, after: 0, limit: 1_000))
        }
        let clients = center.clients(matching: ObserverQuery(after: 0, limit: 1_000)).rows
        try compare("client count", clients.count, model.clients.count)
        for (place, row) in clients.enumerated() {
            try compare("client", SeenClient(row), model.row(ofClient: place))
        }
    }

    /// Rule W10: who would get the last notification is who matches it now.
    private func checkExplanation() throws(Violation) {
        guard let note = model.ring.last else { return }
        // Without a userInfo its conditions would not be asked (rule W6).
        let explanation = center.explain(
            name: note.name, object: note.object, userInfo: note.userInfo ?? [UInt8]("{}")
        ) { _, _ in true }
        try compare(
            "explanation of \(note.sequence)", explanation.observers.map(\.row.serial),
            model.observers.filter { $0.matches(note) }.map(\.serial))
    }

    func compare(_ found: MailboxPage?, _ expected: SeenPage?) throws(Violation) {
        if isJudgedByHistoryAlone { return }
        try compare("mailbox", found.map { SeenPage($0) }, expected)
    }
}

extension Model {
    /// The queue as it would be posted: asap entries first.
    var queueRows: [SeenEntry] {
        (queue.filter { $0.style == .asap } + queue.filter { $0.style == .idle }).map { entry in
            SeenEntry(
                id: entry.id,
                content: Notification.Content(
                    name: entry.name, object: entry.object, userInfo: entry.userInfo),
                style: entry.style, coalescing: entry.coalescing, modes: entry.modes,
                mergedCount: entry.merged, enqueuedAt: entry.enqueuedAt)
        }
    }
}
