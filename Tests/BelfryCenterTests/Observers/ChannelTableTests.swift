import Testing

@testable import BelfryCenter

@Suite("ChannelTable")
struct ChannelTableTests {
    private func table(limit: Int) -> ChannelTable {
        ChannelTable(seed: HashSeed(1, 2), unobservedNameLimit: limit)
    }

    private func unobserved(_ table: ChannelTable) -> [String] {
        var names: [String] = []
        table.forEachUnobserved { channel in
            names.append(String(decoding: table.name(at: channel), as: UTF8.self))
        }
        return names
    }

    @Test("the limit of names without an observer is kept at and one past it")
    func limit() {
        var table = table(limit: 2)
        _ = table.countPost(name: bytes("a").span, at: 1)
        _ = table.countPost(name: bytes("b").span, at: 2)
        #expect(unobserved(table) == ["a", "b"])
        _ = table.countPost(name: bytes("c").span, at: 3)
        #expect(unobserved(table) == ["b", "c"])
        #expect(table.index(of: bytes("a").span) == nil)
    }

    @Test("a name with an observer is never forgotten")
    func observed() throws {
        var table = table(limit: 1)
        _ = table.countPost(name: bytes("a").span, at: 1)
        let channel = table.addObserver(name: bytes("a").span)
        for name in ["b", "c", "d"] { _ = table.countPost(name: bytes(name).span, at: 2) }
        #expect(table.index(of: bytes("a").span) == channel)
        #expect(unobserved(table) == ["d"])
        table.removeObserver(at: channel)
        #expect(unobserved(table) == ["a"])
    }

    @Test("a name that was never posted goes with its last observer")
    func neverPosted() {
        var table = table(limit: 10)
        let channel = table.addObserver(name: bytes("a").span)
        table.removeObserver(at: channel)
        #expect(table.index(of: bytes("a").span) == nil)
        #expect(table.row(at: channel) == nil)
    }

    @Test("observers that come and go do not change which name is the oldest")
    func orderSurvivesChurn() {
        var table = table(limit: 4)
        for name in ["a", "b", "c"] { _ = table.countPost(name: bytes(name).span, at: 1) }
        // Each round leaves a stale entry behind, so the list is tidied several times.
        for _ in 0..<500 {
            let channel = table.addObserver(name: bytes("x").span)
            _ = table.countPost(name: bytes("x").span, at: 2)
            table.removeObserver(at: channel)
            check(unobserved(table) == ["a", "b", "c", "x"])
        }
        _ = table.countPost(name: bytes("y").span, at: 3)
        check(unobserved(table) == ["b", "c", "x", "y"])
    }

    @Test("a limit of nothing keeps no name without an observer", arguments: [0, -1])
    func nothing(limit: Int) {
        var scenario = Scenario()
        var limits = CenterLimits()
        limits.unobservedNameLimit = limit
        scenario.apply(.configure(limits))
        scenario.post("a", "o")
        #expect(scenario.effects.receipts.first?.matched == 0)
        #expect(scenario.center.index.channels.index(of: bytes("a").span) == nil)
        let client = scenario.connect()
        let serial = scenario.observe("a", "o", by: client)
        #expect(scenario.post("a", "o") == [serial])
    }

    @Test("a lower limit that is configured takes effect at once")
    func configure() {
        var scenario = Scenario()
        for name in ["a", "b", "c"] { scenario.post(name) }
        var limits = CenterLimits()
        limits.unobservedNameLimit = 1
        scenario.apply(.configure(limits))
        #expect(unobserved(scenario.center.index.channels) == ["c"])
    }

    @Test("random posts and observers agree with an array of names", arguments: 1...6)
    func randomComparison(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var table = table(limit: 12)
        var posts: [String: UInt64] = [:]
        var observers: [String: Int] = [:]
        var waiting: [String] = []
        for _ in 0..<6_000 {
            let name = "n\(generator.below(40))"
            switch generator.below(3) {
            case 0:
                _ = table.countPost(name: bytes(name).span, at: 1)
                if posts[name] == nil, observers[name] == nil { waiting.append(name) }
                posts[name, default: 0] += 1
            case 1:
                _ = table.addObserver(name: bytes(name).span)
                waiting.removeAll { $0 == name }
                observers[name, default: 0] += 1
            default:
                guard let count = observers[name], let channel = table.index(of: bytes(name).span)
                else { continue }
                table.removeObserver(at: channel)
                observers[name] = count == 1 ? nil : count - 1
                if count == 1, posts[name] != nil { waiting.append(name) }
            }
            while waiting.count > 12 { posts[waiting.removeFirst()] = nil }
            check(unobserved(table) == waiting)
            let row = table.index(of: bytes(name).span).flatMap { table.row(at: $0) }
            check(row?.postCount ?? 0 == posts[name] ?? 0)
            check(row?.observerCount ?? 0 == observers[name] ?? 0)
            check((row != nil) == (posts[name] != nil || observers[name] != nil))
        }
    }
}
