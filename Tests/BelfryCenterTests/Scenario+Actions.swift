@testable import BelfryCenter

/// The verbs of the cases of targets: WIRE.
extension Scenario {
    /// A registration of an observer with a target.
    mutating func wiring(
        _ event: String, _ control: String?, _ target: String, _ action: String,
        _ change: (inout ObserverTerms) -> Void = { _ in }
    ) -> ObserverRegistration {
        var terms = ObserverTerms()
        change(&terms)
        let plain = registration(event, control, terms, selector: action)
        return ObserverRegistration(
            serial: plain.serial, tokenHash: plain.tokenHash, name: plain.name,
            object: plain.object, selector: plain.selector, terms: terms,
            role: .action(target: bytes(target)))
    }

    /// Registers an observer with a target, and tells its serial number.
    @discardableResult
    mutating func wire(
        _ event: String, _ control: String?, _ target: String, _ action: String,
        by client: UInt64, _ change: (inout ObserverTerms) -> Void = { _ in }
    ) -> UInt64 {
        let registration = wiring(event, control, target, action, change)
        apply(.addObserver(registration, client: client, since: nil))
        return registration.serial
    }

    /// Posts with rows.
    @discardableResult
    mutating func press(
        _ event: String, _ control: String? = nil, wait: Int64 = 0,
        _ change: (inout Post) -> Void = { _ in }
    ) -> NotificationID {
        var post = newPost(event, control, userInfo: "{}")
        change(&post)
        var terms = PostTerms()
        terms.reportsObservers = true
        terms.wait = wait
        apply(.post(post, terms))
        return post.id
    }

    /// The client of a responder responds to an action.
    mutating func respond(
        to row: UInt64, _ sequence: UInt64, of responder: UInt64, _ response: Response
    ) {
        apply(
            .acknowledge(
                client: center.observer(responder)?.client ?? 0,
                DeliveryName(observer: responder, sequence: sequence, row: row), response))
    }

    /// The actions that the last command has written: `o3 lamp.toggle touchUp{}/s1 1`.
    ///
    /// Each has the address whose turn it is and the sequence number; `?` marks requests, `*`
    /// repetitions.
    var actions: [String] {
        effects.deliveries.filter { $0.form.isAddressed }.map { delivery in
            let notification = effects.notifications[Int(delivery.notification)]
            guard let addressed = effects.addressed(of: delivery.notification),
                case .action(let selector, _) = addressed.kind
            else { return "o\(delivery.observer) is no action" }
            let isRequest = delivery.form == .acknowledgedAction
            return "o\(delivery.observer) " + string(addressed.target) + "." + string(selector)
                + " \(notification.content.text) \(notification.sequence)"
                + (isRequest ? "?" : "") + (delivery.isRedelivered ? "*" : "")
        }
    }

    /// The rows of the last answer: `o2 delivered lamp o1`, `o2 unhandled fan,hall no-responder`.
    var reportRows: [String] {
        let rows = effects.reports.first ?? effects.completions.first?.reports.first ?? []
        return rows.map { text(of: $0) }
    }

    private func text(of row: ReportRow) -> String {
        var words = ["o\(row.observer)"]
        switch row.outcome {
        case .unhandled: words.append("unhandled")
        case .answered(let result): words.append("acknowledged " + string(result))
        case .refused(let error): words.append("refused " + string(error))
        default: words.append("\(row.outcome)")
        }
        if let route = row.route { words.append(route.path.map(string).joined(separator: ",")) }
        if let responder = row.route?.responder { words.append("o\(responder)") }
        if case .unhandled(let failure) = row.outcome { words.append(failure.text) }
        return words.joined(separator: " ")
    }

    private func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
