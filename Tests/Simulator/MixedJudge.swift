import BelfryCenter
import BelfryHistory

/// The judge of asks and of mailboxes, by what an outsider sees of a center and what holds always.
struct MixedJudge {
    /// The mailboxes at which somebody has waited.
    private var awaited: Set<UInt64> = []
    /// A mailbox that is about to be read, what its row has counted, and how many are acknowledged
    /// by that.
    private var reading: (observer: UInt64, delivered: UInt64, count: UInt64)?

    /// A command is about to be applied.
    mutating func begin(_ action: Command.Action, in center: NotificationCenter) {
        reading = nil
        switch action {
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
            reading = (observer, row.delivered, UInt64(read.count))
        default: break
        }
    }

    /// A command has been applied.
    func end(_ effects: Effects, in center: NotificationCenter) throws(Violation) {
        let open = center.openAsks
        for ask in open where center.observer(ask.observer) == nil {
            throw Violation("rule R11: ask #\(ask.id.low) is at o\(ask.observer), which is gone")
        }
        try judgeOrder(effects, open)
        try judgeReading(in: center)
    }

    /// Checks that what a command shows is open when it is done (rule R10).
    private func judgeOrder(_ effects: Effects, _ open: [AskRow]) throws(Violation) {
        let living = Set(open.map(\.id))
        for delivery in effects.deliveries where delivery.form == .ask {
            let id = effects.notifications[Int(delivery.notification)].id
            guard living.contains(id) else {
                throw Violation("rule R10: ask #\(id.low) is written, and is over")
            }
        }
    }

    /// The row of a mailbox counts what is read out of it (rule C19).
    private func judgeReading(in center: NotificationCenter) throws(Violation) {
        guard let reading, let row = center.observer(reading.observer) else { return }
        let count = row.delivered - reading.delivered
        if count < reading.count {
            throw Violation(
                "rule C19: o\(reading.observer) has read \(reading.count), and counts \(count)")
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
