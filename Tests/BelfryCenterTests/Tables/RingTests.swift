import Testing

@testable import BelfryCenter

@Suite("Ring")
struct RingTests {
    private final class Element: Sendable {}

    @Test("an element keeps its position when those before it go")
    func positions() {
        var ring = Ring<Int>()
        for number in 0..<200 { #expect(ring.append(number) == UInt64(number)) }
        for _ in 0..<150 { ring.removeFirst() }
        #expect(ring.startPosition == 150)
        #expect(ring.endPosition == 200)
        #expect(ring.first == 150)
        #expect(ring[199] == 199)
    }

    @Test("an element that is removed is let go at once")
    func release() {
        var ring = Ring<Element>()
        weak var first: Element?
        do {
            let element = Element()
            first = element
            ring.append(element)
            ring.append(Element())
        }
        #expect(first != nil)
        ring.removeFirst()
        #expect(first == nil)
        #expect(ring.count == 1)
    }

    @Test("random additions and removals agree with an array", arguments: 1...6)
    func randomComparison(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var ring = Ring<UInt64>()
        var model: [UInt64] = []
        var removedCount: UInt64 = 0
        for step in 0..<5_000 {
            if generator.below(10) < (step < 2_500 ? 7 : 3) {
                let element = generator.next()
                check(ring.append(element) == removedCount + UInt64(model.count))
                model.append(element)
            } else if !model.isEmpty {
                ring.removeFirst()
                model.removeFirst()
                removedCount += 1
            }
            check(ring.count == model.count)
            check(ring.isEmpty == model.isEmpty)
            check(ring.first == model.first)
            check(ring.startPosition == removedCount)
            check(ring.endPosition == removedCount + UInt64(model.count))
            if !model.isEmpty {
                let place = generator.below(model.count)
                check(ring[removedCount + UInt64(place)] == model[place])
            }
        }
    }
}
