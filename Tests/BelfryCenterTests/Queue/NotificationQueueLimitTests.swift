import Testing

@testable import BelfryCenter

@Suite("NotificationQueue: limits and batches (rule Q24)")
struct NotificationQueueLimitTests {
    @Test("the last place of the queue is given away, and no more; merging needs none")
    func entryLimit() throws {
        var scenario = QueueScenario()
        scenario.entryLimit = 2
        try scenario.post("a")
        try scenario.post("b")
        #expect(throws: Refusal.queueFull(limit: 2)) { try scenario.post("c") }
        #expect(throws: Refusal.queueFull(limit: 2)) { try scenario.post("b", coalesce: .none) }
        try scenario.post("b")
        #expect(scenario.listing == ["a", "b"])
        _ = scenario.queue.takeAllAsap()
        try scenario.post("c")
    }

    @Test("a limit that is lower than what waits refuses new entries, and keeps the old ones")
    func lowerLimit() throws {
        var scenario = QueueScenario()
        for name in ["a", "b", "c"] { try scenario.post(name, modes: [name]) }
        scenario.entryLimit = 1
        scenario.modeLimit = 1
        scenario.byteRoom = -2
        #expect(throws: Refusal.queueFull(limit: 1)) { try scenario.post("d") }
        try scenario.post("a", modes: ["b"])
        #expect(scenario.queue.count == 3)
    }

    @Test("the last byte of room is given away, and no more")
    func byteRoom() throws {
        var scenario = QueueScenario()
        scenario.byteRoom = 5
        try scenario.post("ab/cd", userInfo: "1")
        #expect(scenario.queue.byteCount == 5)
        scenario.byteRoom = 0
        #expect(throws: Refusal.queueBytesFull) { try scenario.post("x") }
        scenario.byteRoom = Int.max
        try scenario.post("x")
    }

    @Test("a merge needs no bytes unless the entry becomes longer")
    func byteRoomOfMerge() throws {
        var scenario = QueueScenario()
        try scenario.post("ab", userInfo: "12", coalesce: .none)
        try scenario.post("ab", userInfo: "345", coalesce: .none)
        scenario.byteRoom = 0
        try scenario.post("ab", userInfo: String(repeating: "x", count: 99))
        #expect(scenario.listing == ["ab(12)"])
        scenario.byteRoom = 1
        #expect(throws: Refusal.queueBytesFull) {
            try scenario.post("ab", userInfo: "1234", keepsLatest: true)
        }
        #expect(scenario.listing == ["ab(12)"])
        try scenario.post("ab", userInfo: "678", keepsLatest: true)
        #expect(scenario.queue.byteCount == 5)
        scenario.byteRoom = 2
        try scenario.post("ab", coalesce: .none)
        // Two become one: together they had room for this.
        scenario.byteRoom = 0
        try scenario.post("ab", userInfo: "12345", keepsLatest: true)
        #expect(scenario.queue.byteCount == 7)
    }

    @Test("the entries name as many different modes as they may, and no more")
    func modeLimit() throws {
        var scenario = QueueScenario()
        scenario.modeLimit = 2
        try scenario.post("a", modes: ["default", "m", "m"])
        try scenario.post("b", modes: ["m"])
        #expect(throws: Refusal.queueFull(limit: 2)) { try scenario.post("c", modes: ["n"]) }
        #expect(throws: Refusal.queueFull(limit: 2)) { try scenario.post("a", modes: ["n"]) }
        #expect(scenario.entries[0].modeTexts == ["default", "m"])
        _ = scenario.dequeue("a", mask: .onName)
        try scenario.post("c", modes: ["n"])
    }

    @Test("the mode that is current needs no room until an entry names it")
    func currentMode() throws {
        var scenario = QueueScenario()
        scenario.modeLimit = 1
        scenario.enter("held")
        try scenario.post("a", modes: ["m"])
        #expect(throws: Refusal.queueFull(limit: 1)) { try scenario.post("b", modes: ["held"]) }
        scenario.enter("m")
        #expect(scenario.run() == ["a"])
        try scenario.post("b", modes: ["held"])
    }

    @Test("entries name eight modes more than one each for each that may be, and no more")
    func mentionLimit() throws {
        let modes = (1...17).map { "m\($0)" }
        var scenario = QueueScenario()
        scenario.entryLimit = 2
        try scenario.post("a", modes: Array(modes.prefix(16)))
        try scenario.post("b", modes: ["m1", "m2"])
        #expect(throws: Refusal.queueFull(limit: 2)) { try scenario.post("b", modes: ["m3"]) }
        #expect(throws: Refusal.queueFull(limit: 2)) { try scenario.post("a", modes: ["m17"]) }
        _ = scenario.dequeue("b", mask: .onName)
        try scenario.post("a", modes: modes)
        #expect(throws: Refusal.queueFull(limit: 2)) {
            try scenario.post("b", modes: ["m1", "m2"])
        }
        try scenario.post("b", modes: ["m1"])
    }

    @Test("an entry of the default mode alone needs room for no mode")
    func defaultMode() throws {
        var scenario = QueueScenario()
        scenario.entryLimit = 2
        scenario.modeLimit = 17
        try scenario.post("a", modes: (1...17).map { "m\($0)" })
        try scenario.post("b")
        #expect(scenario.queue.modeLists.modeCount == 18)
        #expect(throws: Refusal.queueFull(limit: 17)) { try scenario.post("b", modes: ["n"]) }
    }

    // MARK: - Batches

    @Test("T56 to T66: later posts of a batch merge into earlier ones")
    func batch() throws {
        var scenario = QueueScenario()
        scenario.entryLimit = 2
        let posts = [
            scenario.newPost("a"), scenario.newPost("b"), scenario.newPost("a"),
            scenario.newPost("b"),
        ]
        let added = try scenario.add(posts)
        #expect(added.map { $0.ids[0] } == [posts[0].id, posts[1].id, posts[0].id, posts[1].id])
        #expect(scenario.entries.map(\.mergedCount) == [1, 1])
    }

    @Test("a batch that does not fit changes nothing, whatever came before in it")
    func refusedBatch() throws {
        var scenario = QueueScenario()
        scenario.entryLimit = 4
        try scenario.add([
            scenario.newPost("a/o", .idle, coalesce: .none, modes: ["m"], maxDelay: 9, ttl: 99),
            scenario.newPost("a/p", coalesce: .none, ttl: 50),
            scenario.newPost("b", coalesce: .none),
        ])
        let before = (scenario.entries, scenario.digest, scenario.queue.nextDeadline)
        let posts = [
            scenario.newPost(
                "a/q", userInfo: "x", coalesce: .onName, keepsLatest: true, modes: ["n"],
                ttl: 500),
            scenario.newPost("c"), scenario.newPost("d"), scenario.newPost("e"),
        ]
        #expect(throws: Refusal.queueFull(limit: 4)) { try scenario.add(posts) }
        #expect(scenario.entries == before.0)
        #expect(scenario.digest == before.1)
        #expect(scenario.queue.nextDeadline == before.2)
        #expect(try scenario.add(Array(posts.dropLast())).count == 3)
        #expect(scenario.listing == ["a/q(x)", "b", "c", "d"])
    }

    @Test("the room of a batch is what all of its posts have together")
    func batchBytes() throws {
        var scenario = QueueScenario()
        scenario.byteRoom = 4
        #expect(throws: Refusal.queueBytesFull) {
            try scenario.add([scenario.newPost("ab"), scenario.newPost("cde")])
        }
        #expect(scenario.queue.byteCount == 0)
        try scenario.add([scenario.newPost("ab"), scenario.newPost("cd"), scenario.newPost("ab")])
        #expect(scenario.queue.byteCount == 4)
        #expect(try scenario.add([]) == [])
    }

    @Test("T71: a batch in which entries are taken as well is undone in whole")
    func mixedBatch() throws {
        var scenario = QueueScenario()
        scenario.entryLimit = 2
        try scenario.post("s/o", ttl: 10)
        try scenario.post("t", .idle)
        let digest = scenario.digest
        scenario.queue.beginBatch()
        let taken = scenario.queue.takeSimilar(
            to: QueueScenario.content("s/o"), mask: .onName, scope: .everything)
        #expect(taken.count == 1)
        try scenario.post("u")
        #expect(throws: Refusal.queueFull(limit: 2)) { try scenario.post("v") }
        #expect(scenario.listing == ["u", "t"])
        scenario.queue.undoBatch()
        #expect(scenario.digest == digest)
        #expect(scenario.queue.nextDeadline == scenario.now + 10)
        #expect(scenario.run() == ["s/o", "t"])
        #expect(scenario.queue.count == 0)
        try scenario.post("v")
        #expect(scenario.run() == ["v"])
    }
}
