import Testing

@testable import BelfryCenter

// The modes in which a queue waits: their leases, their limit, and common.

extension QueueRuleTests {
    @Test("Q15, Q16: an entry waits for its mode; leases nest, and any may end first")
    func modes() {
        var scenario = scenario()
        enter(&scenario, "a", serial: 1)
        enter(&scenario, "b", serial: 2)
        scenario.say("x1", style: .asap, modes: ["a"])
        scenario.say("y1", style: .asap)
        #expect(scenario.center.modes.current == bytes("b") && !scenario.center.needsTurnEnd)
        scenario.apply(.leaveMode(serial: 2))
        #expect(scenario.center.modes.current == bytes("a"))
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["x1"])
        #expect(scenario.apply(.leaveMode(serial: 2)) == .refused(.unknownMode))
        scenario.apply(.leaveMode(serial: 1))
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["y1"] && scenario.center.modes.stack.isEmpty)
    }

    @Test("Q16: a lease ends with its time, and with its client's connection")
    func modeLeases() {
        var scenario = scenario()
        let client = scenario.connect()
        scenario.observe("z", by: client, .hold)
        enter(&scenario, "timed", serial: 1, lease: 1_000_000_000)
        enter(&scenario, "owned", serial: 2, client: client, lease: nil)
        #expect(scenario.center.modes.stack.map(\.serial) == [1, 2])
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.center.modes.stack.map(\.serial) == [2])
        scenario.cut(client)
        #expect(scenario.center.modes.stack.isEmpty)
        enter(&scenario, "gone", serial: 3, client: 99, lease: nil)
        #expect(scenario.effects.outcome == .refused(.unknownClient))
    }

    @Test(
        "Q16: a take-over and a removal end the leases of the connection too",
        arguments: [true, false])
    func modeOfTakenOver(isRemoved: Bool) {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("z", by: client, .hold)
        enter(&scenario, "owned", client: client, lease: nil)
        if isRemoved {
            scenario.apply(.removeClient(client: client, by: .broker))
        } else {
            scenario.back(client)
        }
        #expect(scenario.center.modes.stack.isEmpty)
    }

    @Test("Q16: the stack has a limit, and one past it is refused")
    func modeLimit() {
        var limits = CenterLimits()
        limits.modeStackLimit = 2
        var scenario = scenario(limits: limits)
        for serial in 1...3 as ClosedRange<UInt64> { enter(&scenario, "m", serial: serial) }
        #expect(scenario.effects.outcome == .refused(.modeStackFull(limit: 2)))
        #expect(scenario.center.modes.stack.count == 2)
    }

    @Test("Q17 (T84): common stands for the modes of the common set")
    func common() {
        var limits = CenterLimits()
        limits.commonModes = [Mode.default, bytes("modal")]
        var scenario = scenario(limits: limits)
        enter(&scenario, "modal")
        scenario.say("c1", style: .asap, modes: ["common"])
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["c1"])
        scenario.say("c2", style: .now, modes: ["common"])
        #expect(scenario.frames == ["c2"])
        enter(&scenario, "held", serial: 2)
        scenario.say("c3", style: .asap, modes: ["common"])
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames.isEmpty)
    }

    @Test("Q18: now in a mode that is not current is refused, and nothing is queued or taken out")
    func nowInOtherMode() {
        var scenario = scenario()
        scenario.say("s1", style: .asap)
        enter(&scenario, "modal")
        let before = scenario.center.queueCount
        scenario.say("s2", style: .now)
        #expect(
            scenario.effects.outcome
                == .refused(.modeNotCurrent(current: bytes("modal"), post: 0)))
        #expect(scenario.center.queueCount == before && scenario.center.sequence == 0)
        let plain = scenario.newPost(text: "p1")
        let late = scenario.newPost(text: "s3", style: .now)
        #expect(
            scenario.apply(.postBatch([plain, late], PostTerms()))
                == .refused(.modeNotCurrent(current: bytes("modal"), post: 1)))
        #expect(scenario.center.sequence == 0 && scenario.effects.deliveries.isEmpty)
    }
}
