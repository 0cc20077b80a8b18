import Testing

@testable import BelfryCenter

@Suite("NotificationQueue: order, modes, removal and time (rules Q1, Q10 to Q21)")
struct NotificationQueueTests {
    // MARK: - Order

    @Test("T56, Q1: idle entries leave in the order of arrival, one an idle moment (Q13)")
    func idleOrder() throws {
        var scenario = QueueScenario()
        for name in ["i1", "i2", "i3"] { try scenario.post(name, .idle) }
        #expect(scenario.turn() == ["i1"])
        #expect(scenario.turn() == ["i2"])
        #expect(scenario.turn() == ["i3"])
        #expect(scenario.turn() == [])
    }

    @Test("T58: asap goes before idle, whichever came first; idle waits while there is asap")
    func asapFirst() throws {
        var scenario = QueueScenario()
        try scenario.post("i", .idle)
        try scenario.post("a", .asap)
        #expect(scenario.listing == ["a", "i"])
        #expect(scenario.queue.takeIdle() == nil)
        #expect(scenario.queue.hasAsap)
        #expect(scenario.queue.hasIdle)
        #expect(scenario.turn() == ["a", "i"])
        #expect(!scenario.queue.hasAsap)
        #expect(!scenario.queue.hasIdle)
    }

    @Test("Q11: a turn takes what was there when it began; what comes meanwhile waits")
    func snapshot() throws {
        var scenario = QueueScenario()
        try scenario.post("r")
        var turns: [[String]] = []
        for _ in 0..<3 {
            let taken = scenario.queue.takeAllAsap()
            for entry in taken {
                #expect(scenario.queue.entry(entry.id) == nil)
                try scenario.post(entry.text)
                try scenario.post("r2")
            }
            turns.append(taken.map(\.text))
        }
        #expect(turns == [["r"], ["r", "r2"], ["r", "r2"]])
    }

    @Test("T78, Q13: asap entries that an idle one brings about go before the next idle one")
    func idleThenAsap() throws {
        var scenario = QueueScenario()
        try scenario.post("i1", .idle)
        try scenario.post("i2", .idle)
        var posted: [String] = []
        while scenario.queue.hasAsap || scenario.queue.hasIdle {
            for text in scenario.turn() {
                posted.append(text)
                if text == "i1" { try scenario.post("b") }
            }
        }
        #expect(posted == ["i1", "b", "i2"])
    }

    // MARK: - Modes

    @Test("Q15: an entry waits until one of its modes is current")
    func modes() throws {
        var scenario = QueueScenario()
        try scenario.post("a", modes: ["modal", "tracking"])
        try scenario.post("i", .idle, modes: ["modal"])
        #expect(!scenario.queue.hasAsap)
        #expect(!scenario.queue.hasIdle)
        #expect(scenario.run() == [])
        scenario.enter("tracking")
        #expect(scenario.queue.hasAsap)
        #expect(!scenario.queue.hasIdle)
        #expect(scenario.run() == ["a"])
        scenario.enter("default")
        #expect(scenario.run() == [])
        scenario.enter("modal")
        #expect(scenario.run() == ["i"])
    }

    @Test("no modes at all are the default")
    func noModes() throws {
        var scenario = QueueScenario()
        try scenario.post("a", modes: [])
        #expect(scenario.entries[0].modeTexts == ["default"])
        #expect(scenario.run() == ["a"])
    }

    @Test("T84, Q17: common stands for each mode of the common set, and follows it")
    func common() throws {
        var scenario = QueueScenario(common: ["default", "modal"])
        scenario.enter("modal")
        try scenario.post("c", modes: ["common"])
        #expect(scenario.run() == ["c"])
        scenario.enter("tracking")
        try scenario.post("c", modes: ["common"])
        #expect(scenario.run() == [])
        scenario.queue.setCommonModes([bytes("tracking")])
        #expect(scenario.queue.hasAsap)
        scenario.queue.setCommonModes([bytes("default")])
        #expect(!scenario.queue.hasAsap)
        scenario.enter("default")
        #expect(scenario.run() == ["c"])
    }

    @Test("an entry of the current mode and of common leaves once, in order")
    func bothModes() throws {
        var scenario = QueueScenario()
        for (name, modes) in [
            ("a", ["common"]), ("b", ["default", "common"]), ("c", ["default"]),
            ("d", ["common", "default"]),
        ] {
            try scenario.post(name, modes: modes)
            try scenario.post("i" + name, .idle, modes: modes)
        }
        #expect(scenario.turn() == ["a", "b", "c", "d", "ia"])
        #expect(scenario.run() == ["ib", "ic", "id"])
        #expect(scenario.queue.count == 0)
    }

    @Test("Q23: asap entries of another mode stay")
    func otherModesStay() throws {
        var scenario = QueueScenario()
        try scenario.post("a", modes: ["modal"])
        try scenario.post("b")
        #expect(scenario.queue.takeAllAsap().map(\.text) == ["b"])
        #expect(scenario.listing == ["a"])
    }

    // MARK: - Removal

    @Test("T88, T140: what was dequeued is not posted")
    func dequeue() throws {
        var scenario = QueueScenario()
        scenario.enter("held")
        try scenario.post("d/o")
        #expect(scenario.dequeue("d/o", mask: [.onName, .onSender]) == ["d/o"])
        scenario.enter("default")
        #expect(scenario.run() == [])
        #expect(scenario.queue.byteCount == 0)
    }

    private func threeEntries() throws -> QueueScenario {
        var scenario = QueueScenario()
        scenario.enter("held")
        try scenario.post("d/o", .asap)
        try scenario.post("e/o", .idle)
        try scenario.post("e/p", .idle)
        return scenario
    }

    @Test("T89, Q20: a dequeue by sender takes both styles, in queue order")
    func dequeueBySender() throws {
        var scenario = try threeEntries()
        #expect(scenario.dequeue("x/o", mask: .onSender) == ["d/o", "e/o"])
        #expect(scenario.listing == ["e/p"])
    }

    @Test("T90, Q20: an empty mask takes nothing, nor does a mask of a name that is not given")
    func emptyMask() throws {
        var scenario = try threeEntries()
        #expect(scenario.dequeue("e/o", mask: .none) == [])
        let match = QueueMatch(
            name: nil, object: bytes("o"), mask: [.onName, .onSender], scope: .everything)
        #expect(scenario.queue.take(match) == [])
        #expect(scenario.listing == ["d/o", "e/o", "e/p"])
    }

    @Test("T91: one entry is removed by its identifier")
    func dequeueOne() throws {
        var scenario = try threeEntries()
        #expect(
            scenario.queue.take(QueueScenario.id(2), scope: .everything)?.text == "e/o")
        #expect(scenario.queue.take(QueueScenario.id(2), scope: .everything) == nil)
        #expect(scenario.listing == ["d/o", "e/p"])
    }

    @Test("T92: the listing has order, style, modes and merged count, and stops when told")
    func listing() throws {
        var scenario = try threeEntries()
        try scenario.post("e/p", .asap, modes: ["modal"])
        let rows = scenario.entries.map(\.row)
        #expect(rows.map(\.id) == [1, 3, 2].map { QueueScenario.id($0) })
        #expect(rows.map(\.style) == [.asap, .asap, .idle])
        #expect(rows.map(\.mergedCount) == [0, 1, 0])
        #expect(rows[1].modes == [bytes("default"), bytes("modal")])
        #expect(rows[1].coalescing == [.onName, .onSender])
        var visited = 0
        scenario.queue.forEachInPostingOrder { _ in
            visited += 1
            return visited < 2
        }
        #expect(visited == 2)
    }

    // MARK: - Time

    @Test("T79, Q14: an idle entry counts as asap from its deadline on, to the nanosecond")
    func promotion() throws {
        var scenario = QueueScenario()
        scenario.now = 100
        try scenario.post("i1", .idle)
        try scenario.post("i2", .idle, maxDelay: 50)
        #expect(scenario.queue.nextDeadline == 150)
        #expect(scenario.queue.passTime(149).promoted.isEmpty)
        #expect(!scenario.queue.hasAsap)
        let promoted = scenario.queue.passTime(150).promoted
        #expect(promoted.map(\.text) == ["i2"])
        #expect(promoted[0].style == .asap)
        #expect(scenario.queue.nextDeadline == nil)
        #expect(scenario.turn() == ["i2", "i1"])
    }

    @Test("a time to live ends to the nanosecond; what expires is not promoted before")
    func expiry() throws {
        var scenario = QueueScenario()
        scenario.now = 100
        try scenario.post("b", .idle, maxDelay: 20, ttl: 30)
        try scenario.post("a", .asap, ttl: 30)
        #expect(scenario.queue.passTime(119).promoted.isEmpty)
        let passed = scenario.queue.passTime(130)
        #expect(passed.expired.map(\.text) == ["b", "a"])
        #expect(passed.promoted.isEmpty)
        #expect(scenario.queue.count == 0)
        #expect(scenario.queue.nextDeadline == nil)
    }

    @Test(
        "a waiting time that no clock reaches is none", arguments: [Int64.max, Int64.max - 1_000])
    func endless(nanoseconds: Int64) throws {
        var scenario = QueueScenario()
        scenario.now = 5_000
        try scenario.post("i", .idle, maxDelay: nanoseconds, ttl: nanoseconds)
        #expect(scenario.queue.nextDeadline == nil)
        #expect(scenario.queue.passTime(.max).expired.isEmpty)
        #expect(scenario.entries[0].record(at: scenario.time).timeToLive == nil)
    }

    @Test("the deadline of an entry that is gone is none")
    func deadlineOfGone() throws {
        var scenario = QueueScenario()
        scenario.now = 0
        try scenario.post("a", ttl: 10)
        try scenario.post("b", ttl: 20)
        _ = scenario.queue.take(QueueScenario.id(1), scope: .everything)
        #expect(scenario.queue.nextDeadline == 20)
        #expect(scenario.queue.takeAllAsap().count == 1)
        #expect(scenario.queue.nextDeadline == nil)
    }

    // MARK: - Restoring

    @Test("Q23: a restored queue goes on at the same places, and its clocks start again")
    func restoring() throws {
        var scenario = QueueScenario()
        scenario.now = 1_000
        try scenario.post("i", .idle, modes: ["default", "modal"], maxDelay: 100, ttl: 300)
        try scenario.post("a", isImmediate: true, ttl: 50)
        try scenario.post("a")
        scenario.now = 1_040
        let records = scenario.entries.map { $0.record(at: scenario.time) }
        #expect(records.map(\.delayLeft) == [nil, 60])
        #expect(records.map(\.timeToLive) == [nil, 260])

        var restored = QueueScenario()
        restored.now = 7
        for record in records.sorted(by: { $0.place < $1.place }) {
            restored.queue.restore(record, at: restored.time)
        }
        #expect(restored.entries.map { $0.record(at: restored.time) } == records)
        #expect(restored.entries.map(\.isRestored) == [true, true])
        #expect(restored.queue.nextDeadline == 67)
        #expect(restored.queue.byteCount == scenario.queue.byteCount)
        let post = restored.newPost("i2", .idle)
        #expect(try restored.add(post) == .queued(post.id))
        let entry = try #require(restored.queue.entry(post.id))
        #expect(entry.place == 3)
        #expect(!entry.isRestored)
        #expect(restored.turn() == ["a", "i"])
        #expect(restored.turn() == ["i2"])
    }

    @Test("what is left of a time that is over is nothing, not less")
    func overdue() throws {
        var scenario = QueueScenario()
        try scenario.post("i", .idle, maxDelay: 10, ttl: 20)
        scenario.now += 1_000
        let record = scenario.entries[0].record(at: scenario.time)
        #expect(record.delayLeft == 0)
        #expect(record.timeToLive == 0)
    }
}
