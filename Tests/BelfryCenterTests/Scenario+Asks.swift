@testable import BelfryCenter

/// The verbs of the cases of responders: RSP and ASK.
extension Scenario {
    /// The terms of a responder besides its address and its selectors.
    struct Responding {
        var next: String?
        var ifHeld = ResponderTerms.IfHeld.replace
        var concurrency = 1_000
        var behavior = SuspensionBehavior.coalesce
        var endsWithConnection = false
        var acknowledges = false
    }

    /// A registration of a responder with the next serial number.
    mutating func responder(
        _ address: String, _ selectors: [String], _ change: (inout Responding) -> Void = { _ in }
    ) -> ObserverRegistration {
        var responding = Responding()
        change(&responding)
        var role = ResponderTerms(
            implements: selectors.map { bytes($0) }, next: responding.next.map { bytes($0) })
        role.ifHeld = responding.ifHeld
        role.concurrency = responding.concurrency
        var terms = ObserverTerms()
        terms.suspensionBehavior = responding.behavior
        terms.endsWithConnection = responding.endsWithConnection
        terms.acknowledges = responding.acknowledges
        let plain = registration(nil, address, terms, selector: "")
        return ObserverRegistration(
            serial: plain.serial, tokenHash: plain.tokenHash, name: nil, object: plain.object,
            selector: [], terms: terms, role: .responder(role))
    }

    /// Registers a responder, and tells its serial number.
    @discardableResult
    mutating func respond(
        _ address: String, _ selectors: [String], by client: UInt64,
        _ change: (inout Responding) -> Void = { _ in }
    ) -> UInt64 {
        let registration = responder(address, selectors, change)
        apply(.addObserver(registration, client: client, since: nil))
        return registration.serial
    }

    /// Makes a mailbox that responds, and tells its observer.
    mutating func respondingMailbox(_ address: String, _ selectors: [String]) -> UInt64 {
        let registration = responder(address, selectors) { $0.behavior = .hold }
        _ = connect([registration], transport: .mailbox)
        return registration.serial
    }

    /// The terms of an ask besides its address and its selector.
    struct Asking {
        var userInfo: String?
        var fallback: String?
        var isOnce = false
        /// In milliseconds.
        var lifetime: Int64 = 5_000
        var wait: Int64?
        var causedBy: NotificationID?
        var terms = AskTerms()
        var options = AskOptions()
    }

    /// Asks, and tells the identifier.
    @discardableResult
    mutating func ask(
        _ address: String, _ selector: String, _ change: (inout Asking) -> Void = { _ in }
    ) -> NotificationID {
        var asking = Asking()
        change(&asking)
        let post = newPost(selector, address, userInfo: asking.userInfo)
        apply(
            .ask(
                Ask(
                    id: post.id, content: post.content, causedBy: asking.causedBy,
                    fallback: asking.fallback.map { bytes($0) }, isOnce: asking.isOnce,
                    lifetime: asking.lifetime * 1_000_000,
                    wait: asking.wait.map { $0 * 1_000_000 }, options: asking.options),
                asking.terms))
        return post.id
    }

    /// A client answers the ask that its observer was shown with this number.
    @discardableResult
    mutating func answer(
        _ observer: UInt64, _ sequence: UInt64, _ response: Response
    ) -> Outcome {
        apply(
            .acknowledge(
                client: center.observer(observer)?.client ?? 0,
                DeliveryName(observer: observer, sequence: sequence), response))
    }

    /// The store has all that has changed so far: what it was told of is shown.
    mutating func commit() {
        apply(.showAnnounced(through: effects.announcement))
    }

    /// Whether the last command waits for the end of an ask.
    var isAwaiting: Bool {
        if case .awaiting = effects.outcome { true } else { false }
    }

    /// The fate of an ask: `true by o1`, `false by default: no-answer`, `no-answer`, `open`.
    func fate(_ id: NotificationID) -> String {
        guard let fate = center.ask(id, at: time) else { return "forgotten" }
        return text(of: fate.outcome)
    }

    /// The answer to the last command, or the asks that it has completed.
    var answers: [String] {
        if case .asked(let outcome, let form) = effects.outcome {
            return [text(of: outcome) + (form == nil ? "" : " again")]
        }
        return effects.askCompletions.map {
            text(of: $0.outcome) + ($0.replayedForm == nil ? "" : " again")
        }
    }

    /// The addresses of the last answer.
    var path: [String] {
        var outcome = effects.askCompletions.last?.outcome
        if case .asked(let asked, _) = effects.outcome { outcome = asked }
        return outcome?.path.map { String(decoding: $0, as: UTF8.self) } ?? []
    }

    private func text(of outcome: AskOutcome) -> String {
        switch outcome.state {
        case .open: "open"
        case .answered(let answer):
            String(decoding: answer.content, as: UTF8.self) + " by o\(answer.observer)"
        case .fallback(let answer, let failure):
            String(decoding: answer, as: UTF8.self) + " by default: \(failure.text)"
        case .failed(let failure): failure.text
        case .withdrawn: "withdrawn"
        }
    }

    /// The asks that the last command has shown: `o1 lamp.toggle`, each with its present address.
    var shown: [String] {
        effects.deliveries.filter { $0.form == .ask }.map { delivery in
            let content = effects.notifications[Int(delivery.notification)].content
            let target = effects.addressed(of: delivery.notification)?.target ?? []
            return "o\(delivery.observer) " + String(decoding: target, as: UTF8.self) + "."
                + content.text.prefix { $0 != "/" } + (delivery.isRedelivered ? "*" : "")
        }
    }

    /// The responders that were told that an ask is over, and why.
    var settled: [String] {
        effects.notices.compactMap { notice in
            guard case .settled(_, _, let observer, _, let reason) = notice else { return nil }
            return "o\(observer) \(reason.text)"
        }
    }
}
