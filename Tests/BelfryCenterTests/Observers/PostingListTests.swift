import Testing

@testable import BelfryCenter

@Suite("PostingList")
struct PostingListTests {
    @Test("an entry is found by its serial number until it is removed")
    func findAndRemove() {
        var list = PostingList()
        list.append(serial: 3, slot: 30)
        list.append(serial: 7, slot: 70)
        #expect(list.slot(of: 3) == 30)
        #expect(list.slot(of: 5) == nil)
        list.remove(serial: 3)
        #expect(list.slot(of: 3) == nil)
        #expect(list.count == 1)
        list.remove(serial: 7)
        #expect(list.isEmpty)
        #expect(list.entries.isEmpty)
    }

    @Test("random additions and removals agree with a sorted array", arguments: 1...6)
    func randomComparison(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var list = PostingList()
        var model: [(serial: UInt64, slot: UInt32)] = []
        var serial: UInt64 = 0
        for step in 0..<3_000 {
            // It grows in the first half, and shrinks to nothing in the second.
            if generator.below(10) < (step < 1_500 ? 7 : 3) {
                serial += UInt64(1 + generator.below(3))
                let slot = UInt32(generator.below(1_000))
                list.append(serial: serial, slot: slot)
                model.append((serial, slot))
            } else if !model.isEmpty {
                let removed = model.remove(at: generator.below(model.count))
                list.remove(serial: removed.serial)
                check(list.slot(of: removed.serial) == nil)
            }
            check(list.count == model.count)
            check(list.isEmpty == model.isEmpty)
            guard step.isMultiple(of: 10) else { continue }
            let probe = UInt64(generator.below(Int(serial) + 2))
            check(list.slot(of: probe) == model.first { $0.serial == probe }?.slot)
            let alive = list.entries[list.position(after: probe)...].first { !$0.isDead }
            check(alive?.serial == model.first { $0.serial > probe }?.serial)
        }
        let alive = list.entries.filter { !$0.isDead }
        check(alive.map(\.serial) == model.map(\.serial))
        check(alive.map(\.slot) == model.map(\.slot))
    }

    @Test("a list that was long once keeps no storage for what is gone")
    func storageShrinks() {
        var list = PostingList()
        for serial in 1...10_000 as ClosedRange<UInt64> {
            list.append(serial: serial, slot: 0)
        }
        for serial in 2...10_000 as ClosedRange<UInt64> { list.remove(serial: serial) }
        #expect(list.count == 1)
        #expect(list.entries.capacity <= 64)
    }

    @Test("no more than half of a long list is dead, whatever is removed in which order")
    func deadShare() {
        var list = PostingList()
        for serial in 1...1_000 as ClosedRange<UInt64> { list.append(serial: serial, slot: 1) }
        for serial in (1...1_000 as ClosedRange<UInt64>).reversed() {
            list.remove(serial: serial)
            check(list.entries.count <= list.count * 2 + 16)
        }
    }
}
