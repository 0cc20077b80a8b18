import Testing

@testable import BelfryCenter

/// Work is counted, not timed: what a step leaves behind is what a later one has to clear away.
@Suite("NotificationQueue with many entries")
struct NotificationQueueScaleTests {
    private static let count = 20_000

    private func scenario() -> QueueScenario {
        var scenario = QueueScenario()
        scenario.entryLimit = Self.count
        return scenario
    }

    /// The items of all lists are no more than twice the living ones and a few for each list.
    private func isCompact(_ queue: NotificationQueue) -> Bool {
        queue.modeLists.itemCount <= 2 * queue.modeLists.mentionCount + 100
            && queue.timers.count <= 2 * queue.timerCount + 16
    }

    @Test("twenty thousand entries are added, merged and taken")
    func many() throws {
        var scenario = scenario()
        for number in 0..<Self.count {
            try scenario.post("n\(number)", number % 2 == 0 ? .asap : .idle, maxDelay: 50, ttl: 90)
        }
        for number in 0..<Self.count {
            try scenario.post("n\(number)", .idle, keepsLatest: true, ttl: 91)
            if number.isMultiple(of: 1_000) { #expect(isCompact(scenario.queue)) }
        }
        #expect(scenario.queue.count == Self.count)
        for number in stride(from: 0, to: Self.count, by: 4) {
            #expect(scenario.dequeue("n\(number)", mask: [.onName, .onSender]).count == 1)
        }
        #expect(isCompact(scenario.queue))
        #expect(scenario.queue.takeAllAsap().count == Self.count / 4)
        #expect(isCompact(scenario.queue))
        for number in 0..<Self.count / 2 {
            #expect(scenario.queue.takeIdle()?.text == "n\(number * 2 + 1)")
        }
        #expect(scenario.queue.count == 0)
        #expect(scenario.queue.kinds.count == 0)
        #expect(isCompact(scenario.queue))
    }

    @Test("one entry that is merged into for ever leaves nothing behind")
    func oneEntry() throws {
        var scenario = scenario()
        for number in 0..<Self.count {
            try scenario.post(
                "s/\(number)", .idle, coalesce: .onName, keepsLatest: true,
                maxDelay: Int64(Self.count - number), ttl: Int64(number))
            if number.isMultiple(of: 1_000) { #expect(isCompact(scenario.queue)) }
        }
        #expect(scenario.listing == ["s/\(Self.count - 1)"])
        #expect(scenario.entries[0].mergedCount == Self.count - 1)
        #expect(scenario.queue.slots.count == 1)
        #expect(scenario.queue.kinds.count == 1)
    }

    @Test("turns look at no entry of another mode, and another mode is entered in one step")
    func parked() throws {
        var scenario = scenario()
        for number in 0..<Self.count {
            try scenario.post("n\(number)", number % 2 == 0 ? .asap : .idle, modes: ["held"])
        }
        let items = scenario.queue.modeLists.itemCount
        for number in 0..<Self.count {
            scenario.enter(number % 2 == 0 ? "modal" : "default")
            if scenario.queue.hasAsap || scenario.queue.hasIdle { Issue.record("none is ready") }
            if !scenario.queue.takeAllAsap().isEmpty { Issue.record("none is ready") }
        }
        #expect(scenario.queue.modeLists.itemCount == items)
    }

    @Test("a mode that nobody is in and no entry names is forgotten")
    func forgottenModes() throws {
        var scenario = scenario()
        for number in 0..<1_000 {
            scenario.enter("mode \(number)")
            try scenario.post("a", modes: ["other \(number)"])
            #expect(scenario.dequeue("a", mask: .onName) == ["a"])
        }
        #expect(scenario.queue.modeLists.modes.count == 2)
        scenario.enter("default")
        #expect(scenario.queue.modeLists.modes.count == 2)
        #expect(scenario.queue.modeLists.modeCount == 0)
    }

    @Test("a search touches the kinds that it must ask for, and the entries that it finds")
    func searches() {
        var table = KindTable(seed: HashSeed(1, 2))
        for slot in 0..<1_000 as Range<UInt32> {
            table.insert(QueueScenario.content("n\(slot % 10)/o\(slot % 100)"), at: slot)
        }
        #expect(table.count == 100)
        var asked = 0
        let name = bytes("n3")
        let object = bytes("o13")
        let byName = table.slots(similarTo: name.span, object.span, mask: .onName) { slot in
            asked += 1
            return slot % 100 != 13
        }
        #expect(asked == 10)
        #expect(byName.count == 90)
        let bySender = table.slots(similarTo: name.span, object.span, mask: .onSender) { _ in
            asked += 1
            return true
        }
        #expect(asked == 11)
        #expect(bySender.count == 10)
        let both: Coalescing = [.onName, .onSender]
        let none = table.slots(similarTo: name.span, nil, mask: both) { _ in
            asked += 1
            return true
        }
        #expect(asked == 11)
        #expect(none.isEmpty)
    }
}
