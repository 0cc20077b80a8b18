import Testing

@testable import BelfryCenter

@Suite("PaceTable: the intervals of observers with a minInterval (D20)")
struct PaceTableTests {
    private static func kind(_ number: Int) -> ObservedKind {
        ObservedKind(
            observer: UInt64(number),
            Notification.Content(name: bytes("name"), object: bytes("object"), userInfo: nil))
    }

    @Test("an interval runs up to its end; a kind that begins anew has the later one")
    func ends() {
        var paces = PaceTable()
        paces.begin(Self.kind(1), until: 100, at: 0)
        #expect(paces.end(of: Self.kind(1), at: 99) == 100)
        #expect(paces.end(of: Self.kind(1), at: 100) == nil)
        paces.begin(Self.kind(1), until: 250, at: 150)
        #expect(paces.count == 1)
        #expect(paces.end(of: Self.kind(1), at: 249) == 250)
        #expect(paces.end(of: Self.kind(2), at: 0) == nil)
    }

    @Test("those that are over are forgotten in shares, and what began anew is not")
    func over() {
        var paces = PaceTable()
        for number in 0..<100 { paces.begin(Self.kind(number), until: 100, at: 0) }
        paces.begin(Self.kind(7), until: 300, at: 50)
        let full = paces.footprint
        paces.forgetOver(at: 100, limit: 30)
        #expect((70...71).contains(paces.count))
        paces.forgetOver(at: 100, limit: .max)
        #expect(paces.count == 1 && paces.end(of: Self.kind(7), at: 100) == 300)
        #expect(paces.footprint < full)
        paces.forgetOver(at: 300, limit: 1)
        #expect(paces.isEmpty)
    }

    @Test("more are forgotten than begin: a table of what is over does not grow")
    func steady() {
        var paces = PaceTable()
        for number in 0..<10_000 {
            paces.begin(Self.kind(number), until: Int64(number) + 10, at: Int64(number))
            #expect(paces.count <= 12)
        }
    }

    @Test("D20: up to the limit all run; past it the one goes that ends first, whatever is over")
    func limit() {
        var (paces, other) = (PaceTable(), PaceTable())
        // An interval that is over decides nothing: one of both tables has none of it.
        paces.begin(Self.kind(PaceTable.limit + 1), until: 1, at: 0)
        for number in 0..<PaceTable.limit {
            paces.begin(Self.kind(number), until: 1_000_000 - Int64(number), at: 1)
            other.begin(Self.kind(number), until: 1_000_000 - Int64(number), at: 1)
        }
        #expect(paces.count == PaceTable.limit && other.count == PaceTable.limit)
        paces.begin(Self.kind(PaceTable.limit), until: 2_000_000, at: 2)
        other.begin(Self.kind(PaceTable.limit), until: 2_000_000, at: 2)
        #expect(paces.count == PaceTable.limit && other.count == PaceTable.limit)
        #expect(paces.end(of: Self.kind(PaceTable.limit - 2), at: 2) != nil)
        #expect(paces.end(of: Self.kind(PaceTable.limit - 1), at: 2) == nil)
        let isSame = (0...PaceTable.limit + 1).allSatisfy {
            paces.end(of: Self.kind($0), at: 2) == other.end(of: Self.kind($0), at: 2)
        }
        #expect(isSame)
    }

    @Test("D20: of a full table the one goes that ends first, also where the earliest began anew")
    func renewed() {
        var paces = PaceTable()
        for number in 0..<PaceTable.limit {
            paces.begin(Self.kind(number), until: 1_000 + Int64(number), at: 0)
        }
        for number in 0..<10 {
            paces.begin(Self.kind(number), until: 1_000_000 + Int64(number), at: 1)
        }
        #expect(paces.count == PaceTable.limit)
        paces.begin(Self.kind(PaceTable.limit), until: 2_000_000, at: 2)
        #expect(paces.count == PaceTable.limit)
        #expect(paces.end(of: Self.kind(9), at: 2) == 1_000_009)
        #expect(paces.end(of: Self.kind(10), at: 2) == nil)
    }

    @Test("a trim forgets what is over first, and then what ends first")
    func trim() {
        var paces = PaceTable()
        for number in 0..<100 { paces.begin(Self.kind(number), until: Int64(number) + 1, at: 0) }
        paces.trim(to: 100, at: 50)
        #expect(paces.count == 100)
        paces.trim(to: 99, at: 50)
        #expect(paces.count == 50)
        paces.trim(to: 10, at: 50)
        #expect(paces.count == 10 && paces.end(of: Self.kind(99), at: 50) == 100)
        paces.trim(to: 0, at: 50)
        #expect(paces.isEmpty && paces.footprint < 1_000)
    }

    @Test("D20: intervals that are over go with whatever command comes, and count until then")
    func inACenter() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe(nil, by: client, .hold) { $0.minInterval = 3_600_000_000_000 }
        let before = scenario.keptMemory()[.fates]
        for number in 0..<300 { scenario.post("n\(number)") }
        #expect(scenario.center.backlog.paces.count == 300)
        let after = scenario.keptMemory()[.fates]
        #expect(after > before + 300 * 150)
        scenario.milliseconds += 3_600_000
        for _ in 0..<300 / PaceTable.shareOfCommand + 1 { scenario.apply(.idle) }
        #expect(scenario.center.backlog.paces.isEmpty)
        // They may be forgotten with the fates before their time.
        for number in 0..<300 { scenario.post("n\(number)") }
        scenario.apply(.trim(.fates, count: 100))
        #expect(scenario.center.backlog.paces.count <= 100)
    }
}
