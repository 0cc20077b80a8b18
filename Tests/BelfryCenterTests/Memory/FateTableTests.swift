import Testing

@testable import BelfryCenter

@Suite("FateTable")
struct FateTableTests {
    private func receipt(_ number: UInt64, sequence: UInt64? = nil) -> Receipt {
        Receipt(id: NotificationID(high: 0, low: number), sequence: sequence ?? number)
    }

    private func id(_ number: UInt64) -> NotificationID { NotificationID(high: 0, low: number) }

    @Test("the count limit is kept at and one past it")
    func countLimit() {
        var limits = CenterLimits()
        limits.fateLimit = 2
        var table = FateTable(limits: limits)
        table.append(receipt(1), depth: 1, at: 0)
        table.append(receipt(2), depth: 2, at: 0)
        #expect(table.receipt(of: id(1), at: 0) == receipt(1))
        #expect(table.depth(of: id(2)) == 2)
        table.append(receipt(3), depth: 1, at: 0)
        #expect(table.receipt(of: id(1), at: 0) == nil)
        #expect(table.depth(of: id(1)) == nil)
        #expect(table.count == 2)
    }

    @Test("a fate is told until its lifetime is over, to the nanosecond")
    func age() {
        var limits = CenterLimits()
        limits.fateLifetime = .milliseconds(1_500)
        var table = FateTable(limits: limits)
        table.append(receipt(1), depth: 1, at: 100)
        #expect(table.receipt(of: id(1), at: 100 + 1_499_999_999) == receipt(1))
        #expect(table.receipt(of: id(1), at: 100 + 1_500_000_000) == nil)
        table.append(receipt(2), depth: 1, at: 100 + 1_500_000_000)
        #expect(table.count == 1)
    }

    @Test("an endless lifetime is no overflow")
    func endless() {
        var limits = CenterLimits()
        limits.fateLifetime = .seconds(Int64.max)
        var table = FateTable(limits: limits)
        table.append(receipt(1), depth: 1, at: Int64.max - 1)
        #expect(table.receipt(of: id(1), at: Int64.max - 1) == receipt(1))
    }

    @Test("an identifier that is posted twice tells of the later one, also when the first goes")
    func sameIdentifier() {
        var limits = CenterLimits()
        limits.fateLimit = 2
        var table = FateTable(limits: limits)
        table.append(receipt(1, sequence: 1), depth: 1, at: 0)
        table.append(receipt(1, sequence: 2), depth: 1, at: 0)
        table.append(receipt(2, sequence: 3), depth: 1, at: 0)
        #expect(table.receipt(of: id(1), at: 0)?.sequence == 2)
    }

    @Test("a limit of nothing keeps nothing", arguments: [0, -1])
    func nothing(limit: Int) {
        var limits = CenterLimits()
        limits.fateLimit = limit
        var table = FateTable(limits: limits)
        table.append(receipt(1), depth: 1, at: 0)
        #expect(table.count == 0)
    }

    @Test("random posts agree with an array", arguments: 1...3)
    func randomComparison(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var limits = CenterLimits()
        limits.fateLimit = 40
        limits.fateLifetime = .nanoseconds(100)
        var table = FateTable(limits: limits)
        var model: [(number: UInt64, expiresAt: Int64)] = []
        var now: Int64 = 0
        for number in 1...3_000 as ClosedRange<UInt64> {
            now += Int64(generator.below(10) == 0 ? generator.below(60) : 1)
            table.append(receipt(number), depth: 1, at: now)
            model.append((number, now + 100))
            model.removeFirst(max(0, model.count - 40))
            model.removeAll { $0.expiresAt <= now }
            check(table.count == model.count)
            let probe = number - UInt64(generator.below(min(50, Int(number))))
            check(
                (table.receipt(of: id(probe), at: now) != nil)
                    == model.contains { $0.number == probe })
        }
    }

    @Test("a lower limit that is configured takes effect at once")
    func configure() {
        var scenario = Scenario()
        for _ in 0..<5 { scenario.post("a") }
        var limits = CenterLimits()
        limits.fateLimit = 2
        scenario.apply(.configure(limits))
        #expect(scenario.center.fates.count == 2)
    }
}
