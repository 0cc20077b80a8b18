import BelfryCenter

/// The judge of asks and of mailboxes, by what an outsider sees of a center and what holds always.
struct MixedJudge {
    /// The observers that were shown each ask.
    private var shown: [NotificationID: Set<UInt64>] = [:]
    /// The asks of an earlier life, whose stored facts an outsider does not know.
    private var inherited: Set<NotificationID> = []
    /// The clients to which more is to be written before anything else is.
    private var flushing: Set<UInt64> = []
    /// The clients that something may wait for at an interval.
    private var paced: Set<UInt64> = []
    /// The mailboxes at which a reader has waited.
    private var awaited: Set<UInt64> = []
    /// A mailbox that is about to be read, its row's count, and the acknowledgements of the read.
    private var reading: (observer: UInt64, delivered: UInt64, count: UInt64)?

    /// A command is about to be applied.
    mutating func begin(_ action: Command.Action, in center: NotificationCenter) {
        reading = nil
        switch action {
        case .addObserver(let registration, let client, _):
            if registration.terms.minInterval > 0 { paced.insert(client) }
        case .drain(let client): flushing.remove(client)
        case .attachStream(let observer, _): awaited.insert(observer)
        case .readMailbox(let observer, let through, let wait):
            if wait != nil { awaited.insert(observer) }
            guard let through, !awaited.contains(observer), let row = center.observer(observer),
                let page = center.mailbox(of: observer, after: 0, limit: .max)
            else { return }
            // A present value that no look has shown yet is read by a later one (rule V6).
            let hasInitial = page.elements.contains { element in
                let text = element.notification.content.userInfoBytes ?? []
                return String(decoding: text, as: UTF8.self).contains(#""initial":true"#)
            }
            if hasInitial { return }
            let read = page.elements.filter {
                $0.notification.sequence <= through && $0.addressed?.isAsk != true
            }
            reading = (observer, row.tally.delivered, UInt64(read.count))
        default: break
        }
    }

    /// A command has been applied.
    ///
    /// - Parameter isStoring: whether the store is still to be told of asks that are shown then.
    mutating func end(
        _ effects: Effects, in center: NotificationCenter, isStoring: Bool, at time: CommandTime
    ) throws(Violation) {
        let open = center.openAsks
        for ask in open where center.observer(ask.observer) == nil {
            throw Violation("rule R11: ask #\(ask.id.low) is at o\(ask.observer), which is gone")
        }
        try judgeOrder(effects, open)
        try judgeReading(in: center)
        for case .flushFollows(let client, _) in effects.notices { flushing.insert(client) }
        for case .flushGoesOn(let client, _) in effects.notices { flushing.insert(client) }
        for ask in open where ask.isShown { shown[ask.id, default: []].insert(ask.observer) }
        if isStoring { return }
        for ask in open where !ask.isShown && ask.answerBy > time.wallMilliseconds {
            try judgeWait(of: ask, in: center)
        }
    }

    /// The next life begins.
    mutating func restart(_ center: NotificationCenter) {
        inherited = Set(center.openAsks.map(\.id))
        flushing = []
    }

    /// Checks that what a command shows is open when it is done (rule R10).
    private mutating func judgeOrder(
        _ effects: Effects, _ open: [AskRow]
    ) throws(Violation) {
        let living = Set(open.map(\.id))
        for delivery in effects.deliveries where delivery.form == .ask {
            let id = effects.notifications[Int(delivery.notification)].id
            shown[id, default: []].insert(delivery.observer)
            guard living.contains(id) else {
                throw Violation("rule R10: ask #\(id.low) is written, and is over")
            }
        }
    }

    /// The row of a mailbox counts what is read out of it (rule C19).
    private func judgeReading(in center: NotificationCenter) throws(Violation) {
        guard let reading, let row = center.observer(reading.observer) else { return }
        let count = row.tally.delivered - reading.delivered
        if count < reading.count {
            throw Violation(
                "rule C19: o\(reading.observer) has read \(reading.count), and counts \(count)")
        }
    }

    /// Checks that a live responder with room takes an ask that waits at its address (rule R6).
    private func judgeWait(
        of ask: AskRow, in center: NotificationCenter
    ) throws(Violation) {
        if inherited.contains(ask.id) { return }
        // One that is taken over has what it was shown again behind what it is written first.
        guard let holder = center.observer(ask.observer), let address = holder.object,
            !flushing.contains(holder.client)
                || shown[ask.id]?.contains(ask.observer) != true
        else { return }
        for row in center.responders(at: address) {
            let observer = row.observer
            guard let terms = observer.role.responder, terms.implements.contains(ask.selector),
                row.openAskCount < terms.concurrency,
                observer.serial == ask.observer
                    || shown[ask.id]?.contains(observer.serial) != true,
                let client = center.client(observer.client)
            else { continue }
            let isReady =
                client.transport == .mailbox
                || client.state == .live && !flushing.contains(client.id)
                    && !paced.contains(client.id)
            if isReady {
                throw Violation(
                    """
                    rule R6: ask #\(ask.id.low) waits for o\(ask.observer), \
                    and o\(observer.serial) may take it
                    """)
            }
        }
    }
}

extension Addressed {
    fileprivate var isAsk: Bool {
        if case .ask = kind { true } else { false }
    }
}

extension NotificationCenter {
    /// The asks that are open.
    var openAsks: [AskRow] {
        asks(matching: ObserverQuery(limit: .max), visible: { _, _ in true }).rows
    }
}
