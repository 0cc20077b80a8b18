import TestSupport
import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: connections end and come back (rules O6, O7, D13, D14)")
struct ResumingTests {
    // MARK: Leases

    @Test("O7 (T37): a lease runs from the disconnect, and its end leaves a tombstone")
    func lease() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, .hold) { $0.lease = 1_000_000_000 }
        scenario.pass(milliseconds: 5_000)
        #expect(scenario.center.observer(serial) != nil)
        #expect(scenario.cut(client) == .removed(0))
        #expect(scenario.center.nextDeadline == 7_000_000_000)
        scenario.pass(milliseconds: 999)
        #expect(scenario.center.observer(serial)?.state == .disconnected)
        scenario.pass(milliseconds: 1)
        #expect(scenario.center.observer(serial) == nil)
        #expect(scenario.center.tombstone(serial)?.reason == .expired)
        #expect(scenario.center.tombstone(serial)?.removedBy == .broker)
        #expect(scenario.center.client(client) == nil)
        #expect(scenario.back(client) == .refused(.unknownClient))
    }

    @Test("O7: each observer has its own lease, and the client goes with its last")
    func leases() {
        var scenario = Scenario()
        let client = scenario.connect()
        let short = scenario.observe("a", by: client, .hold) { $0.lease = 1_000_000_000 }
        let long = scenario.observe("a", by: client, .hold) { $0.lease = 3_000_000_000 }
        scenario.cut(client)
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.rows.map(\.serial) == [long])
        #expect(scenario.center.tombstone(short) != nil)
        scenario.pass(milliseconds: 2_000)
        #expect(scenario.center.clientCount == 0)
    }

    @Test("O7: a null lease never ends")
    func endless() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold) { $0.lease = nil }
        scenario.cut(client)
        #expect(scenario.center.nextDeadline == nil)
        scenario.pass(milliseconds: 1_000_000_000)
        #expect(scenario.rows.count == 1)
    }

    @Test("O7: who comes back in time keeps its observers, and the lease starts anew")
    func inTime() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold) { $0.lease = 1_000_000_000 }
        scenario.cut(client)
        scenario.pass(milliseconds: 900)
        scenario.back(client)
        scenario.pass(milliseconds: 10_000)
        #expect(scenario.rows.count == 1)
        scenario.cut(client)
        scenario.pass(milliseconds: 999)
        #expect(scenario.rows.count == 1)
        scenario.pass(milliseconds: 1)
        #expect(scenario.rows.isEmpty)
    }

    @Test("O7: observers of the connection's lifetime die with it, the others stay")
    func connectionLifetime() {
        var scenario = Scenario()
        let client = scenario.connect()
        let gone = scenario.observe("a", by: client)
        let kept = scenario.observe("a", by: client, .hold)
        #expect(scenario.cut(client) == .removed(1))
        #expect(scenario.rows.map(\.serial) == [kept])
        #expect(scenario.center.tombstone(gone)?.reason == .connectionClosed)
        scenario.say("a1")
        #expect(scenario.effects.receipts[0].matched == 1)
    }

    @Test("O7: a client without an observer that lasts goes with its connection")
    func nothingLasts() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.cut(client)
        #expect(scenario.center.client(client) == nil)
        #expect(scenario.back(client) == .refused(.unknownClient))
    }

    @Test("O7: the end of a connection that was taken over from changes nothing")
    func staleDisconnect() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.back(client)
        scenario.disconnect(client)
        #expect(scenario.state(client) == .live)
        scenario.say("a1")
        #expect(scenario.effects.deliveries.map(\.connection.number) == [102])
    }

    // MARK: Leaks

    @Test("O6, O7 (T36): a disconnected observer is a leak after orphanAfter, and not before")
    func orphans() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold) { $0.lease = nil }
        scenario.cut(client)
        func leaks() -> [Leak.Reason] {
            scenario.center.leaks(limit: 9, at: scenario.time) { _, _ in true }.map(\.reason)
        }
        scenario.milliseconds += 3_599_999
        #expect(leaks().isEmpty)
        scenario.milliseconds += 1
        #expect(leaks() == [.disconnected])
        scenario.back(client)
        #expect(leaks().isEmpty)
    }

    @Test("O7: a mailbox that nobody looks into is a leak")
    func neverLooked() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a")
        func leaks() -> [Leak.Reason] {
            scenario.center.leaks(limit: 9, at: scenario.time) { _, _ in true }.map(\.reason)
        }
        scenario.milliseconds += 3_600_000
        #expect(leaks() == [.neverLooked])
        scenario.apply(.readMailbox(observer: serial, through: nil))
        #expect(leaks().isEmpty)
    }

    @Test("C19: an observer's row counts what was delivered, held, coalesced and dropped")
    func counters() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, .coalesce) { $0.holdLimit = 1 }
        scenario.say("a1")
        scenario.suspend(client)
        for text in ["a2", "a3", "a4/o"] { scenario.say(text) }
        let row = scenario.center.observer(serial)
        #expect(row?.held == 1 && row?.tally.delivered == 1)
        #expect(row?.tally.coalesced == 1 && row?.tally.dropped == 1)
        scenario.endSuspension(client)
        #expect(scenario.center.observer(serial)?.tally.delivered == 2)
        #expect(scenario.center.observer(serial)?.held == 0)
    }

    // MARK: Resume

    @Test("D13: resume answers the client with its observers, and the newcomer disappears")
    func resume() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.observe("b", by: client, .hold)
        scenario.cut(client)
        scenario.say("a1")
        scenario.say("a2")
        guard case .resumed(let resumed) = scenario.back(client) else {
            Issue.record("refused")
            return
        }
        #expect(resumed.row.id == client && resumed.heldCount == 2)
        #expect(resumed.row.connection == ConnectionName(node: 1, number: 102))
        #expect(resumed.observers.map(\.serial) == [1, 2])
        #expect(scenario.effects.deliveries.map(\.connection.number) == [102, 102])
        #expect(scenario.center.client(2) == nil && scenario.center.clientCount == 1)
    }

    @Test(
        "D13 (T118): a second connection takes over, the first is told, nothing is lost or doubled")
    func takeOver() {
        var scenario = Scenario()
        let client = scenario.connect()
        let owed = scenario.observeAcknowledging("a", by: client)
        scenario.observe("b", by: client, .hold)
        scenario.say("a1")
        scenario.apply(.becomeSlow(client: client))
        scenario.say("b1")
        scenario.back(client)
        #expect(
            scenario.effects.notices == [
                .takenOver(connection: connection(101), transport: .webSocket)
            ])
        #expect(scenario.frames == ["a1*", "b1"])
        #expect(scenario.effects.deliveries.allSatisfy { $0.connection.number == 102 })
        scenario.acknowledge(owed, 1)
        #expect(scenario.center.heldCount == 0 && scenario.state(client) == .live)
    }

    @Test("resume comes before any registration, and needs a client of a WebSocket")
    func refusals() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        let late = scenario.connect()
        scenario.observe("a", by: late, .hold)
        let mailbox = scenario.mailbox("a")
        let fresh = scenario.connect()
        let before = scenario.center
        func resume(_ newcomer: UInt64, _ client: UInt64) -> Outcome {
            var twin = scenario
            return twin.apply(
                .resume(Resumption(newcomer: newcomer, client: client, after: nil)))
        }
        #expect(resume(late, client) == .refused(.resumeTooLate))
        #expect(resume(fresh, fresh) == .refused(.resumeTooLate))
        #expect(resume(99, client) == .refused(.unknownClient))
        #expect(resume(fresh, 99) == .refused(.unknownClient))
        let mailboxClient = scenario.center.observer(mailbox)?.client ?? 0
        #expect(resume(fresh, mailboxClient) == .refused(.noMailbox))
        #expect(firstDifference(scenario.center, before) == nil)
    }
}
