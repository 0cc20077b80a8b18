import Testing

@testable import BelfryCenter

@Suite("NotificationQueue: coalescing (rules Q3 to Q8, Q19, Q21, law 1)")
struct NotificationQueueCoalescingTests {
    @Test("T61, Q6: keep latest puts the newest content in the first one's place")
    func keepLatest() throws {
        var scenario = QueueScenario()
        let posts = [
            scenario.newPost("s", userInfo: "1", keepsLatest: true),
            scenario.newPost("z", keepsLatest: true),
            scenario.newPost("s", userInfo: "2", keepsLatest: true, causedBy: 9),
        ]
        try scenario.add(posts)
        #expect(scenario.entries[0].id == posts[0].id)
        #expect(scenario.entries[0].causedBy == QueueScenario.id(9))
        #expect(scenario.run() == ["s(2)", "z"])
    }

    @Test("Q6: keep first leaves content and cause of the first one")
    func keepFirst() throws {
        var scenario = QueueScenario()
        try scenario.add([
            scenario.newPost("s", userInfo: "1"), scenario.newPost("z"),
            scenario.newPost("s", userInfo: "2", causedBy: 9),
        ])
        #expect(scenario.entries[0].causedBy == nil)
        #expect(scenario.run() == ["s(1)", "z"])
    }

    /// One row of the cases T62 to T66: what is posted with which mask, and what comes out.
    struct Row: Sendable {
        let posts: [String]
        let mask: Coalescing
        let posted: [String]
    }

    @Test(
        "T62 to T66, Q3 to Q5, Q21: what the mask names must be equal, all of it",
        arguments: [
            Row(posts: ["a/o", "a/p"], mask: [.onName, .onSender], posted: ["a/o", "a/p"]),
            Row(posts: ["a/o", "a/p"], mask: .onName, posted: ["a/o"]),
            Row(posts: ["a/o", "b/o"], mask: .onSender, posted: ["a/o"]),
            Row(posts: ["n1", "n2"], mask: .onSender, posted: ["n1"]),
            Row(posts: ["n1", "n1/o"], mask: .onSender, posted: ["n1", "n1/o"]),
            Row(posts: ["n1", "n1/o"], mask: [.onName, .onSender], posted: ["n1", "n1/o"]),
            Row(posts: ["s", "s", "s"], mask: .none, posted: ["s", "s", "s"]),
            Row(
                posts: ["caf\u{e9}", "cafe\u{301}"], mask: .onName,
                posted: ["caf\u{e9}", "cafe\u{301}"]),
            Row(
                posts: ["u/\u{e9}", "u/e\u{301}"], mask: .onSender,
                posted: ["u/\u{e9}", "u/e\u{301}"]),
        ])
    func masks(row: Row) throws {
        var scenario = QueueScenario()
        var posts: [Post] = []
        for text in row.posts { posts.append(scenario.newPost(text, coalesce: row.mask)) }
        try scenario.add(posts)
        // Swift's comparison of texts would call canonically equivalent ones equal.
        let posted = scenario.queue.takeAllAsap().map { Array($0.text.utf8) }
        #expect(posted == row.posted.map { Array($0.utf8) })
    }

    @Test("Q5: only the mask of the new post counts")
    func newMask() throws {
        var scenario = QueueScenario()
        try scenario.add([
            scenario.newPost("s"), scenario.newPost("s", coalesce: .none),
            scenario.newPost("s", coalesce: .none),
        ])
        #expect(scenario.listing == ["s", "s", "s"])
        var other = QueueScenario()
        let first = other.newPost("s", coalesce: .none)
        let second = other.newPost("s", coalesce: .none)
        try other.add([first, second])
        let added = try other.post("s")
        #expect(added.ids == [first.id, second.id])
        #expect(other.entries.map(\.mergedCount) == [2])
    }

    @Test("T68: of five posts with changing masks only the first is left")
    func changingMasks() throws {
        var scenario = QueueScenario()
        try scenario.post("n/o", coalesce: .onName)
        try scenario.post("n/p", coalesce: .onSender)
        #expect(scenario.listing == ["n/o", "n/p"])
        try scenario.post("n/o", coalesce: .onName)
        #expect(scenario.listing == ["n/o"])
        try scenario.post("n/p", coalesce: .onName)
        try scenario.post("n/o", coalesce: .onSender)
        #expect(scenario.listing == ["n/o"])
        #expect(scenario.entries[0].mergedCount == 4)
    }

    @Test("T70, Q8: now takes similar entries of both styles out, in queue order")
    func now() throws {
        var scenario = QueueScenario()
        try scenario.add([
            scenario.newPost("s/o", .idle, userInfo: "1", coalesce: .none),
            scenario.newPost("t/o"), scenario.newPost("s/o", userInfo: "2", coalesce: .none),
            scenario.newPost("s/p"),
        ])
        let content = QueueScenario.content("s/o")
        let taken = scenario.queue.takeSimilar(
            to: content, mask: [.onName, .onSender], scope: .everything)
        #expect(taken.map(\.text) == ["s/o(1)", "s/o(2)"])
        let again = scenario.queue.takeSimilar(
            to: content, mask: [.onName, .onSender], scope: .everything)
        #expect(again.isEmpty)
        #expect(scenario.queue.takeSimilar(to: content, mask: .none, scope: .everything).isEmpty)
        #expect(scenario.listing == ["t/o", "s/p"])
    }

    @Test("T71: a now post of another object leaves the entry alone")
    func nowOfAnotherObject() throws {
        var scenario = QueueScenario()
        try scenario.post("s/o")
        let taken = scenario.queue.takeSimilar(
            to: QueueScenario.content("s/p"), mask: [.onName, .onSender], scope: .everything)
        #expect(taken.isEmpty)
        #expect(scenario.run() == ["s/o"])
    }

    @Test("T73, T74, Q7: an asap post makes the idle one that stands for it asap, at its place")
    func urgentStyle() throws {
        var scenario = QueueScenario()
        scenario.enter("held")
        try scenario.post("s", .idle, userInfo: "1")
        try scenario.post("t", .idle)
        try scenario.post("s", .asap, userInfo: "2")
        #expect(scenario.entries.map(\.style) == [.asap, .idle])
        #expect(scenario.listing == ["s(1)", "t"])
        scenario.enter("default")
        #expect(scenario.run() == ["s(1)", "t"])
        try scenario.post("s", .asap)
        try scenario.post("s", .idle)
        #expect(scenario.entries.map(\.style) == [.asap])
    }

    @Test("T75, Q19: modes are not compared, but joined")
    func modes() throws {
        var scenario = QueueScenario()
        scenario.enter("held")
        try scenario.post("s", userInfo: "1", modes: ["modal", "modal"])
        try scenario.post("s", userInfo: "2", modes: ["default", "modal"])
        #expect(scenario.entries[0].modeTexts == ["modal", "default"])
        scenario.enter("default")
        #expect(scenario.run() == ["s(1)"])
    }

    @Test("T76, law 3: the answer names the survivor, and those that it stands for now")
    func answer() throws {
        var scenario = QueueScenario()
        scenario.enter("held")
        let first = scenario.newPost("s")
        #expect(try scenario.add(first) == .queued(first.id))
        #expect(try scenario.post("s") == .merged(survivor: first.id, removed: []))
        #expect(scenario.queue.entry(first.id)?.mergedCount == 1)
    }

    @Test("T94: the mask means both, not either")
    func both() throws {
        var scenario = QueueScenario()
        try scenario.add([
            scenario.newPost("a/o", coalesce: .none), scenario.newPost("b/p", coalesce: .none),
            scenario.newPost("a/p"),
        ])
        #expect(scenario.run() == ["a/o", "b/p", "a/p"])
    }

    @Test("law 1: the survivor takes the earliest promotion, the latest expiry, the deepest chain")
    func union() throws {
        var scenario = QueueScenario()
        scenario.now = 100
        try scenario.add(scenario.newPost("s", .idle, maxDelay: 50, ttl: 10), depth: 3)
        try scenario.add(
            scenario.newPost("s", .idle, maxDelay: 40, isImmediate: true, ttl: 30), depth: 2)
        try scenario.add(scenario.newPost("s", .idle, ttl: 20), depth: 4)
        let entry = scenario.entries[0]
        #expect(entry.promotesAt == 140)
        #expect(entry.expiresAt == 130)
        #expect(entry.depth == 4)
        #expect(entry.isImmediate)
        #expect(entry.mergedCount == 2)
        try scenario.post("s", .asap)
        #expect(scenario.entries[0].promotesAt == .max)
        #expect(scenario.entries[0].expiresAt == .max)
        #expect(scenario.queue.nextDeadline == nil)
    }

    @Test("law 1: entries that go hand over what they had, also to one that keeps its content")
    func unionOfRemoved() throws {
        var scenario = QueueScenario()
        scenario.enter("held")
        try scenario.post("s/o", .idle, coalesce: .none, modes: ["a"])
        try scenario.post("s/p", .idle, coalesce: .none, modes: ["b"], ttl: 5)
        try scenario.post("s/p", .asap, modes: ["c"], isImmediate: true)
        #expect(scenario.entries.map(\.mergedCount) == [1, 0])
        let added = try scenario.post(
            "s/q", .idle, coalesce: .onName, keepsLatest: true, modes: ["d"])
        #expect(added == .merged(survivor: QueueScenario.id(1), removed: [QueueScenario.id(2)]))
        let survivor = try #require(scenario.queue.entry(QueueScenario.id(1)))
        #expect(survivor.text == "s/q")
        #expect(survivor.style == .asap)
        #expect(survivor.isImmediate)
        #expect(survivor.mergedCount == 3)
        #expect(survivor.modeTexts == ["a", "b", "c", "d"])
        #expect(scenario.listing == ["s/q"])
        // The entry is found under its new object, and no more under the old one.
        #expect(scenario.dequeue("s/o", mask: .onSender) == [])
        #expect(scenario.dequeue("s/q", mask: .onSender) == ["s/q"])
    }

    @Test("Q22: what the caller may not post is neither merged with nor removed")
    func scope() throws {
        var scenario = QueueScenario()
        try scenario.add([
            scenario.newPost("s/o", coalesce: .none), scenario.newPost("s/p", coalesce: .none),
            scenario.newPost("s/p", coalesce: .none),
        ])
        scenario.scope = .some([PostScope.Pattern(objects: [.exact(bytes("p"))])])
        let added = try scenario.post("s/p", coalesce: .onName)
        #expect(added.ids == [QueueScenario.id(2), QueueScenario.id(3)])
        #expect(scenario.listing == ["s/o", "s/p"])
        #expect(scenario.dequeue("s/o", mask: .onName) == ["s/p"])
        #expect(scenario.queue.take(QueueScenario.id(1), scope: scenario.scope) == nil)
        #expect(scenario.listing == ["s/o"])
    }

    @Test("Q6: re-posting does not move an entry to the tail, however often")
    func neverLater() throws {
        var scenario = QueueScenario()
        try scenario.post("s", .idle)
        try scenario.post("t", .idle)
        for _ in 0..<100 { try scenario.post("s", .idle, keepsLatest: true) }
        #expect(scenario.turn() == ["s"])
        #expect(scenario.turn() == ["t"])
    }
}

extension NotificationQueue.Added {
    /// The survivor and those that are gone, or the one that waits.
    var ids: [NotificationID] {
        switch self {
        case .queued(let id): [id]
        case .merged(let survivor, let removed): [survivor] + removed
        }
    }
}
