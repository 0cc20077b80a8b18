import Testing

@testable import BelfryCenter

@Suite("NotificationQueue against a naive model")
struct NotificationQueueModelTests {
    @Test(
        "law 1, Q1 to Q21: random posts, takes, modes and times do what the rules say",
        arguments: 1...6)
    func randomSteps(seed: UInt64) {
        var comparison = QueueComparison(seed: seed)
        for step in 1...2_500 {
            comparison.step()
            comparison.checkState(isThorough: step.isMultiple(of: 10))
        }
        #expect(comparison.mergedCount > 100)
        #expect(comparison.refusedCount > 20)
        #expect(comparison.undoneCount > 20)
        #expect(comparison.takenCount > 100)
        #expect(comparison.promotedCount > 10)
        #expect(comparison.expiredCount > 10)
    }

    @Test("the same steps give the same digest, whatever the seed of the hashes", arguments: 1...2)
    func digestHasNoSeed(seed: UInt64) {
        var first = QueueComparison(seed: seed)
        var second = QueueComparison(seed: seed, hashSeed: HashSeed(77, 78))
        for _ in 1...800 {
            first.step()
            second.step()
        }
        #expect(first.scenario.digest == second.scenario.digest)
    }
}

/// The real queue and the naive one, to which the same random steps happen.
struct QueueComparison {
    var scenario: QueueScenario
    private var model: NaiveQueue
    private var generator: SeededGenerator
    private(set) var mergedCount = 0
    private(set) var refusedCount = 0
    private(set) var undoneCount = 0
    private(set) var takenCount = 0
    private(set) var promotedCount = 0
    private(set) var expiredCount = 0

    private static let modes = ["default", "common", "modal", "held", "tracking"]

    init(seed: UInt64, hashSeed: HashSeed = HashSeed(3, 4)) {
        generator = SeededGenerator(seed: seed)
        scenario = QueueScenario(seed: hashSeed)
        model = NaiveQueue(common: [Mode.default])
        scenario.entryLimit = 24
        scenario.modeLimit = 6
    }

    mutating func step() {
        scenario.now += Int64(generator.below(20))
        // All queues together have 400 bytes.
        scenario.byteRoom = 400 - scenario.queue.byteCount
        scenario.scope = someScope()
        switch generator.below(20) {
        case 0..<9: addOne()
        case 9, 10: addBatch()
        case 11: addAndUndo()
        case 12: takeMatching()
        case 13: takeOne()
        case 14: changeModes()
        case 15, 16: takeReady()
        case 17: passTime()
        case 18: takeSimilar()
        default: if generator.below(4) == 0 { restoreOne() }
        }
    }

    func checkState(isThorough: Bool) {
        let queue = scenario.queue
        check(queue.count == model.entries.count)
        check(queue.byteCount == model.byteCount)
        check(queue.hasAsap == model.hasAsap)
        check(queue.hasIdle == model.hasIdle)
        check(queue.nextDeadline == model.nextDeadline)
        check(queue.modeLists.modeCount == model.modeCount)
        guard isThorough else { return }
        check(scenario.entries == model.inPostingOrder)
        for entry in model.entries { check(queue.entry(entry.id) == entry) }
        let bound = 2 * 8 * queue.count + 16 * 12
        check(queue.modeLists.itemCount <= bound)
        check(queue.timers.count <= 4 * queue.count + 16)
        check(queue.kinds.count == Set(model.entries.map { $0.textOfKind }).count)
    }

    // MARK: - Steps

    private mutating func addOne() {
        let post = somePost()
        let depth = 1 + generator.below(5)
        let limits = (scenario.queue.byteCount + scenario.byteRoom, scenario.time)
        let expected = Result { () throws(Refusal) in
            try model.add(
                post, depth: depth, scope: scenario.scope, entryLimit: scenario.entryLimit,
                modeLimit: scenario.modeLimit, byteLimit: limits.0, at: limits.1)
        }
        let result = Result { () throws(Refusal) in try scenario.add(post, depth: depth) }
        check(result == expected)
        count(result)
    }

    private mutating func addBatch() {
        let posts = (0...generator.below(6)).map { _ in somePost() }
        let before = model
        let limit = scenario.queue.byteCount + scenario.byteRoom
        let digest = scenario.digest
        let expected = Result { () throws(Refusal) in
            var added: [NotificationQueue.Added] = []
            for post in posts {
                added.append(
                    try model.add(
                        post, depth: 1, scope: scenario.scope, entryLimit: scenario.entryLimit,
                        modeLimit: scenario.modeLimit, byteLimit: limit, at: scenario.time))
            }
            return added
        }
        let result = Result { () throws(Refusal) in try scenario.add(posts) }
        check(result == expected)
        if case .failure = expected {
            model = before
            undoneCount += 1
            check(scenario.digest == digest)
        }
    }

    /// A row of everything that takes and adds; every other one is undone.
    private mutating func addAndUndo() {
        let digest = scenario.digest
        let model = model
        let isUndone = generator.below(2) == 0
        if isUndone { scenario.queue.beginBatch() }
        for _ in 0...generator.below(8) {
            switch generator.below(6) {
            case 0: takeMatching()
            case 1: takeReady()
            case 2: passTime()
            default: addOne()
            }
        }
        if isUndone {
            scenario.queue.undoBatch()
            self.model = model
            check(scenario.digest == digest)
            undoneCount += 1
        }
    }

    private mutating func takeMatching() {
        let content = someContent()
        let mask = someMask()
        let object = generator.below(3) == 0 ? nil : content.objectBytes
        let expected = model.take(content.nameBytes, object, mask, scenario.scope)
        let match = QueueMatch(
            name: content.nameBytes, object: object, mask: mask, scope: scenario.scope)
        check(scenario.queue.take(match) == expected)
        takenCount += expected.count
    }

    private mutating func takeSimilar() {
        let content = someContent()
        let mask = someMask()
        let expected = model.take(
            content.nameBytes, content.objectBytes, mask, scenario.scope)
        check(
            scenario.queue.takeSimilar(to: content, mask: mask, scope: scenario.scope)
                == expected)
        takenCount += expected.count
    }

    private mutating func takeOne() {
        guard let entry = model.entries.isEmpty ? nil : model.entries[someIndex()] else { return }
        let isAllowed = scenario.scope.allows(entry.content)
        if isAllowed { _ = model.take { $0.id == entry.id } }
        check(scenario.queue.take(entry.id, scope: scenario.scope) == (isAllowed ? entry : nil))
        check(scenario.queue.take(NotificationID(high: 9, low: 9), scope: .everything) == nil)
    }

    private mutating func changeModes() {
        if generator.below(4) == 0 {
            let common = Self.modes.filter { _ in generator.below(2) == 0 }.map { bytes($0) }
            model.common = common
            scenario.queue.setCommonModes(common)
        } else {
            let mode = bytes(["default", "modal", "held", "elsewhere"][generator.below(4)])
            model.mode = mode
            scenario.queue.enter(mode: mode)
        }
    }

    private mutating func takeReady() {
        if generator.below(3) == 0 {
            let expected = model.takeAsap()
            check(scenario.queue.takeAllAsap() == expected)
            takenCount += expected.count
        }
        check(scenario.queue.takeIdle() == model.takeIdle())
    }

    private mutating func passTime() {
        let expected = model.passTime(scenario.now)
        let passed = scenario.queue.passTime(scenario.now)
        check(passed.promoted == expected.promoted)
        check(passed.expired == expected.expired)
        promotedCount += expected.promoted.count
        expiredCount += expected.expired.count
    }

    private mutating func restoreOne() {
        let post = somePost()
        let record = QueueRecord(
            id: post.id, place: model.nextPlace + UInt64(generator.below(3)),
            content: post.content, causedBy: nil, depth: 2,
            style: post.options?.style ?? .asap, coalescing: .onName,
            modes: post.options?.modes ?? [], mergedCount: 3, enqueuedAt: 5,
            delayLeft: post.options?.maxDelay, timeToLive: post.options?.timeToLive,
            isImmediate: true)
        model.restore(record, at: scenario.time)
        scenario.queue.restore(record, at: scenario.time)
    }

    private mutating func count(_ result: Result<NotificationQueue.Added, Refusal>) {
        switch result {
        case .success(.merged): mergedCount += 1
        case .success(.queued): break
        case .failure: refusedCount += 1
        }
    }

    // MARK: - Choices

    private mutating func someIndex() -> Int { generator.below(model.entries.count) }

    private mutating func someContent() -> Notification.Content {
        let name = ["a", "b", "c", "d", "caf\u{e9}", "cafe\u{301}"][generator.below(6)]
        let object = ["", "/o", "/p", "/q", "/r"][generator.below(5)]
        let userInfo = String(repeating: "x", count: generator.below(20))
        return QueueScenario.content(name + object, userInfo: userInfo)
    }

    private mutating func someMask() -> Coalescing {
        [[], .onName, .onSender, [.onName, .onSender]][generator.below(4)]
    }

    private mutating func someScope() -> PostScope {
        guard generator.below(3) == 0 else { return .everything }
        return .some([
            PostScope.Pattern(names: [.exact(bytes("a")), .prefix(bytes("caf"))]),
            PostScope.Pattern(objects: [.exact(bytes("o"))]),
        ])
    }

    private mutating func somePost() -> Post {
        let content = someContent()
        var modes: [String] = []
        for _ in 0...[0, 0, 0, 1, 2, 3][generator.below(6)] {
            modes.append(
                generator.below(12) == 0
                    ? "m\(generator.below(5))" : Self.modes[generator.below(5)])
        }
        let post = scenario.newPost(
            "x", generator.below(2) == 0 ? .asap : .idle,
            coalesce: generator.below(3) == 0 ? .none : someMask(),
            keepsLatest: generator.below(2) == 0, modes: modes,
            maxDelay: generator.below(2) == 0 ? Int64(generator.below(200)) : nil,
            isImmediate: generator.below(5) == 0,
            ttl: generator.below(2) == 0 ? Int64(generator.below(400)) : nil)
        return Post(
            id: post.id, content: content,
            causedBy: generator.below(2) == 0 ? QueueScenario.id(7) : nil, options: post.options)
    }
}

extension NotificationQueue.Entry {
    /// Name and object as bytes that are equal for entries of one kind.
    fileprivate var textOfKind: [[UInt8]] {
        [content.nameBytes] + (content.objectBytes.map { [$0] } ?? [])
    }
}
