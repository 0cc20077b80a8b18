import BelfryCenter
import BelfryHistory

// The output is compared with that of the model.

extension ActionWorld {
    func judge(rows expected: [ReportRow], of id: NotificationID) throws(Violation) {
        guard let found = effects.reports.first else { return }
        for (row, wanted) in zip(found, expected) where row.observer != wanted.observer {
            throw Violation("rule K2: the rows of #\(id.low) are not in order")
        }
        // A later action of the post may push an earlier one out of what its responder holds, or
        // get it written.
        let isSame =
            found.count == expected.count
            && zip(found, expected).allSatisfy { row, wanted in
                row.route == wanted.route
                    && (row.outcome == wanted.outcome
                        || wanted.outcome == .held
                            && [.dropped, .delivered, .pending].contains(row.outcome))
            }
        guard isSame else {
            throw Violation(
                """
                rules K1 and K4: rows of #\(id.low)
                      found    \(found.map(Self.text))
                      expected \(expected.map(Self.text))
                """
            )
        }
    }

    func judgeFrames() throws(Violation) {
        let found = effects.deliveries.compactMap { delivery -> ActionModel.Frame? in
            let note = effects.notifications[Int(delivery.notification)]
            guard let addressed = effects.addressed(of: delivery.notification),
                case .action(let selector, let row) = addressed.kind
            else { return nil }
            return ActionModel.Frame(
                connection: delivery.connection.number, responder: delivery.observer, row: row,
                sequence: note.sequence, id: note.id, selector: selector,
                target: addressed.target, name: note.content.nameBytes,
                object: note.content.objectBytes, isRequest: delivery.form == .acknowledgedAction,
                isRedelivered: delivery.isRedelivered)
        }
        guard found.count == effects.deliveries.count else {
            throw Violation("rule K8: something was delivered that is no action")
        }
        guard found == model.frames else {
            throw Violation(
                """
                rules K1, K3, K6 and K9: actions
                      found    \(found.map(Self.text))
                      expected \(model.frames.map(Self.text))
                """)
        }
    }

    static func text(_ action: Command.Action) -> String {
        guard case .addObserver(let observer, _, _) = action else { return Show.action(action) }
        return "\(Show.action(action)) \(observer.selector.shown) \(text(observer.role))"
    }

    private static func text(_ role: ObserverRole) -> String {
        switch role {
        case .plain: return "plain"
        case .action(let target): return "to \(target.shown)"
        case .filtered(let terms, let target):
            let filter = HistoryFilter(terms).map(Show.filter) ?? ""
            return "\(filter) to \(Show.text(target))"
        case .value: return "value"
        case .responder(let terms):
            let selectors = terms.implements.map(\.shown).joined()
            return "\(terms.ifHeld) [\(selectors)] next \(Show.text(terms.next))"
        }
    }

    static func text(
        _ effects: Effects, _ center: borrowing NotificationCenter
    ) -> String {
        switch effects.outcome {
        case .registered: return "registered"
        case .resumed: return "resumed, \(effects.deliveries.map(Show.delivery(in: effects)))"
        default: return Show.effects(effects, center)
        }
    }

    private static func text(_ row: ReportRow) -> String {
        let path = row.route?.path.map(\.shown).joined(separator: ",") ?? "-"
        return "o\(row.observer) \(row.outcome) \(path) \(Show.text(row.route?.responder))"
    }

    private static func text(_ frame: ActionModel.Frame) -> String {
        """
        #\(frame.id.low) \(frame.sequence) o\(frame.row)>\(frame.target.shown).\
        \(frame.selector.shown) o\(frame.responder)@\(frame.connection)\
        \(frame.isRequest ? "?" : "")\(frame.isRedelivered ? "*" : "")
        """
    }

    /// Law 3, and the model's account of each post; a waiter is told once, after the last answer.
    func judgeAccounts() throws(Violation) {
        for id in posts.suffix(12) {
            guard let wanted = model.accounts[id], let receipt = center.receipt(of: id, at: time)
            else { continue }
            let sum = receipt.delivered + receipt.held + receipt.coalesced + receipt.dropped
            guard receipt.matched == sum else {
                throw Violation("law 3: the account of #\(id.low) does not add up: \(receipt)")
            }
            let found = ActionModel.Account(
                matched: receipt.matched, delivered: receipt.delivered, held: receipt.held,
                dropped: receipt.dropped, acknowledged: receipt.acknowledged,
                refused: receipt.refused, pending: receipt.pending)
            guard found == wanted else {
                throw Violation(
                    "account of #\(id.low)\n      found    \(found)\n      expected \(wanted)")
            }
        }
        let found = effects.completions.map(\.command.counter)
        guard found.count == model.completed.count, Set(found) == model.completed else {
            throw Violation(
                "rule K9: answered are \(found), expected \(model.completed.sorted())")
        }
    }
}
