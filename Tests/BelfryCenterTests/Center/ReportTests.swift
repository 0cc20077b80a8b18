import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what it posts of itself (decision 18)")
struct ReportTests {
    /// A center with a client that observes some of the reserved channels.
    private func scenario(_ names: [String], limits: CenterLimits = CenterLimits()) -> Scenario {
        var scenario = Scenario(limits: limits)
        let watcher = scenario.connect()
        for name in names { scenario.observe("belfry.\(name)", by: watcher, .hold) }
        return scenario
    }

    /// The reports of the last command: channel, object and userInfo.
    private func told(_ scenario: Scenario) -> [String] {
        scenario.effects.notifications.map {
            [$0.content.nameBytes, $0.content.objectBytes, $0.content.userInfoBytes].map {
                String(decoding: $0 ?? [], as: UTF8.self)
            }.joined(separator: " ")
        }
    }

    @Test("clients that connect, are suspended, go on and leave are reported")
    func clients() {
        var scenario = scenario([
            "client.connected", "client.suspended", "client.resumed", "client.left",
        ])
        let client = scenario.connect()
        #expect(
            told(scenario)
                == [#"belfry.client.connected c2 {"client":"c2","transport":"websocket"}"#])
        #expect(scenario.effects.deliveries.count == 1 && scenario.effects.receipts.isEmpty)
        scenario.suspend(client)
        #expect(
            told(scenario) == [#"belfry.client.suspended c2 {"client":"c2","reason":"asked"}"#])
        scenario.endSuspension(client)
        #expect(told(scenario) == [#"belfry.client.resumed c2 {"client":"c2"}"#])
        scenario.cut(client)
        #expect(
            told(scenario) == [#"belfry.client.left c2 {"client":"c2","reason":"disconnected"}"#])
    }

    @Test("an observer whose lease ends is reported, with its client")
    func expired() {
        var scenario = scenario(["observer.expired", "client.left"])
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold) { $0.lease = 1_000_000_000 }
        scenario.cut(client)
        scenario.pass(milliseconds: 1_000)
        #expect(
            told(scenario) == [
                #"belfry.observer.expired o3 {"observer":"o3","client":"c2"}"#,
                #"belfry.client.left c2 {"client":"c2","reason":"expired"}"#,
            ])
    }

    @Test("leases that end in one step are told in the order of their ends")
    func expiredInOrder() {
        // Each minute a center with a store looks at leases, also at those that did not end.
        var limits = CenterLimits()
        limits.isDurable = true
        var scenario = scenario(["observer.expired"], limits: limits)
        for milliseconds in [60_003, 60_002] as [Int64] {
            let client = scenario.connect()
            scenario.observe("a", by: client, .hold) { $0.lease = milliseconds * 1_000_000 }
            scenario.cut(client)
        }
        scenario.pass(milliseconds: 60_005)
        #expect(
            told(scenario) == [
                #"belfry.observer.expired o3 {"observer":"o3","client":"c3"}"#,
                #"belfry.observer.expired o2 {"observer":"o2","client":"c2"}"#,
            ])
    }

    @Test("a full queue is reported once, until it was half empty, whatever is refused meanwhile")
    func overflowed() {
        var limits = CenterLimits()
        limits.queueEntryLimit = 2
        var scenario = scenario(["queue.overflowed"], limits: limits)
        for text in ["a", "b", "c", "d"] { scenario.say(text, style: .idle) }
        #expect(scenario.effects.outcome == .refused(.queueFull(limit: 2)))
        scenario.apply(.leaveMode(serial: 9))
        #expect(scenario.center.needsTurnEnd)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(told(scenario) == [#"belfry.queue.overflowed  {"entries":2}"#])
        scenario.say("e", style: .idle)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(told(scenario).isEmpty)
        scenario.apply(.idle)
        scenario.say("f", style: .idle)
        scenario.say("g", style: .idle)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(told(scenario).count == 1)
    }

    @Test("the end of the center is reported, after the queue has posted")
    func willTerminate() {
        var scenario = scenario(["center.willTerminate"])
        scenario.say("a", style: .asap)
        scenario.apply(.terminate)
        #expect(told(scenario) == ["a  ", "belfry.center.willTerminate  "])
    }

    @Test(
        "wildcards and object filters never match a report, and without an observer there is none")
    func neverMatched() {
        var scenario = Scenario()
        let watcher = scenario.connect()
        scenario.observe(nil, by: watcher, .hold)
        scenario.observe(nil, "c2", by: watcher, .hold)
        _ = scenario.connect()
        #expect(scenario.effects.deliveries.isEmpty && scenario.center.sequence == 0)
        scenario.observe("belfry.client.connected", "c3", by: watcher, .hold)
        _ = scenario.connect()
        #expect(scenario.effects.deliveries.map(\.observer) == [3])
        scenario.observe(nil, by: watcher, .hold, since: 0)
        #expect(scenario.frames.isEmpty)
        scenario.observe("belfry.client.connected", by: watcher, .hold, since: 0)
        #expect(scenario.frames.count == 1)
    }

    @Test("a report that makes its observer's client slow brings about no further report")
    func noChain() {
        var limits = CenterLimits()
        limits.unacknowledgedLimit = 1
        var scenario = Scenario(limits: limits)
        let watcher = scenario.connect()
        scenario.observeAcknowledging("belfry.client.suspended", by: watcher)
        let client = scenario.connect()
        scenario.suspend(client)
        scenario.endSuspension(client)
        scenario.suspend(client)
        #expect(scenario.effects.notifications.count == 1)
        #expect(scenario.state(watcher) == .slow)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.effects.notifications.isEmpty)
    }

    @Test("who observes that clients go on, and goes on itself, is told once and comes to rest")
    func comesToRest() {
        var limits = CenterLimits()
        limits.unacknowledgedLimit = 1
        var scenario = Scenario(limits: limits)
        let watcher = scenario.connect()
        let serial = scenario.observeAcknowledging("belfry.client.resumed", by: watcher)
        scenario.observeAcknowledging("belfry.client.suspended", by: watcher)
        let client = scenario.connect()
        for _ in 1...3 {
            scenario.suspend(client)
            scenario.endSuspension(client)
        }
        #expect(scenario.state(watcher) == .slow)
        var answerCount = 0
        while scenario.center.heldCount > 0, answerCount < 20 {
            for observer in [serial, serial + 1] {
                for sequence in 1...scenario.center.sequence {
                    scenario.acknowledge(observer, sequence)
                }
            }
            answerCount += 1
        }
        #expect(scenario.state(watcher) == .live && scenario.center.heldCount == 0)
    }

    @Test("law 2: a report has its own number, and identifiers never repeat")
    func identifiers() {
        var scenario = scenario(["client.suspended", "client.resumed"])
        let client = scenario.connect()
        var ids: Set<NotificationID> = []
        for _ in 1...50 {
            scenario.suspend(client)
            ids.formUnion(scenario.effects.notifications.map(\.id))
            scenario.endSuspension(client)
            ids.formUnion(scenario.effects.notifications.map(\.id))
        }
        #expect(ids.count == 100 && scenario.center.sequence == 100)
    }
}
