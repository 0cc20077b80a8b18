import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: farewells (Rules.md, L10)")
struct FarewellTests {
    private var scenario = Scenario()

    @Test(
        "L10 (T300): a farewell is posted when its client was disconnected; closing in order withdraws it"
    )
    mutating func saysFarewell() {
        let (x, y) = (scenario.connect(), scenario.connect())
        let bye = scenario.farewell("bye/x", by: x)
        let never = scenario.farewell("bye/y", by: y)
        #expect(scenario.effects.receipts[0].state == .timed(dueAt: nil))
        #expect(scenario.turn(after: 86_400_000) == [])
        scenario.disconnect(x)
        #expect(scenario.turn() == ["bye/x"] && scenario.fate(bye) == .posted)
        scenario.apply(
            .disconnect(
                client: y, connection: ConnectionName(node: 1, number: y + 100), end: .closed))
        #expect(scenario.fate(never) == .dequeued && scenario.turn(after: 86_400_000) == [])
        #expect(scenario.timerTexts == [])
        #expect(scenario.center.client(x) == nil && scenario.center.client(y) == nil)
    }

    @Test(
        "L10: whoever comes back within the delay keeps it armed, also with nothing else that lasts"
    )
    mutating func staysArmed() {
        let client = scenario.connect()
        scenario.farewell("bye", after: 1_000, by: client)
        scenario.cut(client)
        #expect(scenario.timerTexts.count == 1 && scenario.turn(after: 999) == [])
        scenario.back(client)
        #expect(scenario.turn(after: 5_000) == [] && scenario.timerTexts == ["bye"])
        scenario.cut(client)
        #expect(scenario.turn(after: 999) == [] && scenario.turn(after: 1) == ["bye"])
        #expect(scenario.back(client) == .refused(.unknownClient))
        #expect(scenario.turn(after: 5_000) == [])
    }

    @Test("L10: the farewell of a client that is removed goes, too")
    mutating func goesWithItsClient() {
        let client = scenario.connect()
        scenario.observe("x", by: client, .hold)
        scenario.farewell("bye", after: 1_000, by: client)
        scenario.apply(.removeClient(client: client, by: .broker))
        #expect(scenario.center.client(client) == nil)
        #expect(scenario.turn(after: 999) == [] && scenario.turn(after: 1) == ["bye"])
    }

    @Test("L10: a client has at most 16 farewells, and one that has timers continues no other")
    mutating func farewellLimit() {
        let client = scenario.connect()
        for number in 0..<16 { scenario.farewell("bye\(number)", by: client) }
        scenario.farewell("bye16", by: client)
        #expect(scenario.effects.outcome == .refused(.tooManyFarewells(limit: 16)))
        #expect(scenario.timerTexts.count == 16)
        let other = scenario.connect()
        scenario.observe("x", by: other, .hold)
        scenario.cut(other)
        let outcome = scenario.apply(
            .resume(Resumption(newcomer: client, client: other, after: nil)))
        #expect(outcome == .refused(.resumeTooLate))
    }

    @Test("L10: a client whose broker leaves has 30 s to come back, or a longer delay")
    mutating func brokerLeaves() {
        for (delay, waits) in [(0, 30_000), (30_001, 30_001)] {
            let client = scenario.connect()
            scenario.farewell("bye", after: Int64(delay), by: client)
            scenario.apply(
                .disconnect(
                    client: client,
                    connection: ConnectionName(node: 1, number: client + 100), end: .brokerLeft))
            #expect(scenario.turn(after: Int64(waits) - 1) == [])
            #expect(scenario.turn(after: 1) == ["bye"])
        }
    }

    @Test("L10: the farewells of a client that go soon are told before it is gone")
    mutating func tellsWhatWillGo() {
        let client = scenario.connect()
        let soon = scenario.farewell("soon", after: 1_999, by: client)
        scenario.farewell("later", after: 2_000, by: client)
        scenario.later("a", after: 0)
        let farewells = scenario.center.farewells(of: client, within: 2_000_000_000)
        #expect(farewells.map(\.id) == [soon])
        #expect(scenario.center.farewells(of: client + 1, within: .max).isEmpty)
    }

    @Test("L10: rights are looked at when it goes: what is due is told before")
    mutating func tellsWhatGoes() {
        let client = scenario.connect()
        let bye = scenario.farewell("bye", after: 10, by: client)
        scenario.later("a", after: 0)
        #expect(scenario.center.dueFarewells(at: scenario.time).isEmpty)
        scenario.cut(client)
        #expect(scenario.center.dueFarewells(at: scenario.time).isEmpty)
        scenario.milliseconds += 10
        #expect(scenario.center.dueFarewells(at: scenario.time).map(\.id) == [bye])
    }
}
