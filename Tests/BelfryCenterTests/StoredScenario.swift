@testable import BelfryCenter

/// A center that has a store, and what its store has.
struct StoredScenario {
    var scenario: Scenario
    var stored = StoredCenter()
    var limits: CenterLimits

    init(_ change: (inout CenterLimits) -> Void = { _ in }) {
        limits = CenterLimits()
        limits.isDurable = true
        change(&limits)
        scenario = Scenario(limits: limits)
    }

    /// Does something of one command, and stores what must last of it.
    @discardableResult
    mutating func run<Result>(_ body: (inout Scenario) -> Result) -> Result {
        let result = body(&scenario)
        stored.apply(scenario.effects.changes)
        return result
    }

    /// Lets time pass, and the turn end in which it has passed; tells what was posted, as texts.
    mutating func turn(after milliseconds: Int64 = 0) -> [String] {
        scenario.milliseconds += milliseconds
        var texts: [String] = []
        repeat {
            run { $0.apply(.passTime(workLimit: .max)) }
            run { $0.apply(.endTurn(workLimit: .max)) }
            texts += scenario.effects.notifications.map { $0.content.text }
        } while scenario.center.needs.timerDeadline <= scenario.time.timerNanoseconds
        return texts
    }

    /// Ends the center, in order or not, and begins it again, perhaps with marks of its dispatches.
    mutating func restart(isComplete: Bool = true, marks: DispatchMarks? = nil) {
        if isComplete { run { $0.apply(.terminate) } }
        var noted: [Change] = []
        scenario.center = stored.restored(
            limits: limits, isComplete: isComplete, time: scenario.time, marks: marks
        ) { noted.append($0) }
        stored.apply(noted)
        run { [limits] in $0.apply(.configure(limits)) }
    }

    var changes: [Change] { scenario.effects.changes }
}

extension PostTerms.Details {
    /// The details of a post with an idempotency key.
    static func keyed(_ text: String) -> PostTerms.Details {
        PostTerms.Details(
            scope: .everything,
            key: IdempotencyKey(
                principal: bytes("p"), text: bytes(text),
                requestHash: SecretHash(high: 0, low: 1), form: 2))
    }
}
