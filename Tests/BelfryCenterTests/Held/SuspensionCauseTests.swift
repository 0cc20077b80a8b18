import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: each behaviour for each cause of suspension (rules D3 to D10)")
struct SuspensionCauseTests {
    /// Why a client is suspended.
    enum Cause: CaseIterable {
        case asked, slow, disconnected

        func begin(_ scenario: inout Scenario, _ client: UInt64) {
            switch self {
            case .asked: scenario.suspend(client)
            case .slow: scenario.apply(.becomeSlow(client: client))
            case .disconnected: scenario.cut(client)
            }
        }

        func end(_ scenario: inout Scenario, _ client: UInt64) {
            switch self {
            case .asked: scenario.endSuspension(client)
            case .slow: scenario.apply(.drain(client: client))
            case .disconnected: scenario.back(client)
            }
        }
    }

    private static let causes: [[Cause]] = [
        [.asked], [.slow], [.disconnected], [.asked, .slow], [.slow, .asked],
        [.asked, .disconnected], [.disconnected, .asked],
    ]

    @Test(
        "law 5: the four behaviours govern all reasons of suspension and all their mixtures",
        arguments: SuspensionBehavior.allCases, causes)
    func allBehaviors(behavior: SuspensionBehavior, causes: [Cause]) {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe(nil, by: client, behavior)
        for cause in causes { cause.begin(&scenario, client) }
        let isOnlyAsked = causes == [.asked]
        var frames: [String] = []
        for text in ["a1", "a2", "b1"] {
            scenario.say(text)
            frames += scenario.frames
            #expect(scenario.effects.receipts.allSatisfy { $0.addsUp })
        }
        if isOnlyAsked, behavior == .deliverImmediately {
            #expect(frames == ["a1", "a2", "b1"])
        } else {
            #expect(frames.isEmpty)
        }
        let heldCount: [SuspensionBehavior: Int] = [.drop: 0, .coalesce: 2, .hold: 3]
        #expect(
            scenario.center.observer(serial)?.held == heldCount[behavior] ?? (isOnlyAsked ? 0 : 3))
        var losses: [String] = []
        for cause in causes {
            cause.end(&scenario, client)
            frames += scenario.frames
            losses += scenario.losses
        }
        #expect(scenario.state(client) == .live)
        switch behavior {
        case .drop: #expect(frames == [] && losses == ["dropped 3"])
        case .coalesce: #expect(frames == ["a2", "b1"] && losses == ["coalesced 1"])
        case .hold, .deliverImmediately:
            #expect(frames == ["a1", "a2", "b1"] && losses.isEmpty)
        }
        #expect(scenario.center.heldCount == 0)
        scenario.say("c1")
        #expect(scenario.frames == ["c1"])
    }

    @Test(
        "D9, D10: an immediate post is held for all behaviours when it cannot be written",
        arguments: SuspensionBehavior.allCases, [Cause.slow, .disconnected])
    func immediateIsHeld(behavior: SuspensionBehavior, cause: Cause) {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, behavior)
        cause.begin(&scenario, client)
        scenario.say("a1", isImmediate: true)
        #expect(scenario.effects.receipts[0].held == 1)
        scenario.say("a2", isImmediate: true)
        #expect(scenario.effects.receipts[0].held == 1)
        cause.end(&scenario, client)
        #expect(scenario.frames == ["a1", "a2"] && scenario.gaps.isEmpty)
    }
}
