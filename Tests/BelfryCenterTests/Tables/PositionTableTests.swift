import Testing

@testable import BelfryCenter

@Suite("PositionTable")
struct PositionTableTests {
    private static func id(_ number: UInt64) -> NotificationID {
        NotificationID(high: number &* 0x9E37_79B9_7F4A_7C15, low: number)
    }

    @Test(
        "it finds what was added and not removed, below 2^32 and across it",
        arguments: [0, (1 << 32) - 500, (1 << 40) - 1] as [UInt64])
    func window(start: UInt64) {
        var table = PositionTable(seed: HashSeed(3, 5))
        let windowCount: UInt64 = 1_000
        for step in 0..<UInt64(5_000) {
            let position = start + step
            let base = start + (step < windowCount ? 0 : step - windowCount)
            table.insert(Self.id(position), at: position, above: base) { Self.id($0) }
            if step >= windowCount {
                table.remove(Self.id(position - windowCount), at: position - windowCount)
            }
        }
        #expect(table.count == Int(windowCount))
        let base = start + 5_000 - windowCount
        for position in start..<start + 5_000 {
            let found = table.position(of: Self.id(position), above: base) { Self.id($0) }
            #expect(found == (position < base ? nil : position))
        }
        for position in base..<start + 5_000 { table.remove(Self.id(position), at: position) }
        #expect(table.count == 0)
    }

    @Test("an identifier that is added again has its new position alone")
    func again() {
        var table = PositionTable(seed: HashSeed(3, 5))
        let id = Self.id(7)
        for position in [3, 9] as [UInt64] { table.insert(id, at: position) { _ in id } }
        table.remove(id, at: 3)
        #expect(table.count == 1)
        #expect(table.position(of: id) { _ in id } == 9)
        table.remove(id, at: 9)
        #expect(table.position(of: id) { _ in id } == nil)
    }

    @Test("identifiers with the same hash are told apart")
    func sameHash() {
        // With the other half at its seed the product is 0, whatever this half is; the place is 0.
        let seed = HashSeed(3, 5)
        var table = PositionTable(seed: seed)
        let ids = (0..<20).map { NotificationID(high: UInt64($0) << 16, low: seed.first) }
        for (position, id) in ids.enumerated() {
            table.insert(id, at: UInt64(position)) { ids[Int($0)] }
        }
        #expect(table.count == 20)
        table.remove(ids[0], at: 0)
        for (position, id) in ids.enumerated().dropFirst() {
            #expect(table.position(of: id) { ids[Int($0)] } == UInt64(position))
        }
        #expect(table.position(of: ids[0]) { ids[Int($0)] } == nil)
    }
}
