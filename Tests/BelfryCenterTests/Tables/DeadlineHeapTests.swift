import Testing

@testable import BelfryCenter

@Suite("DeadlineHeap")
struct DeadlineHeapTests {
    @Test("a key comes out when its time has come, to the nanosecond")
    func due() {
        var heap = DeadlineHeap<String>()
        heap.add(at: 20, key: "b")
        heap.add(at: 10, key: "a")
        #expect(heap.next == 10)
        #expect(heap.popDue(at: 9) == nil)
        #expect(heap.popDue(at: 10) == "a")
        #expect(heap.popDue(at: 10) == nil)
        #expect(heap.popDue(at: .max) == "b")
        #expect(heap.popDue(at: .max) == nil)
        #expect(heap.next == nil)
    }

    @Test("equal times come out in the order in which they were added")
    func firstInFirstOut() {
        var heap = DeadlineHeap<Int>()
        for key in 0..<100 { heap.add(at: Int64(key % 3), key: key) }
        var keys: [Int] = []
        while let key = heap.popDue(at: 2) { keys.append(key) }
        #expect(keys == (0..<100).sorted { ($0 % 3, $0) < ($1 % 3, $1) })
    }

    @Test("the end of the clock is never")
    func never() {
        var heap = DeadlineHeap<Int>()
        heap.add(at: .max, key: 1)
        #expect(heap.count == 0)
        heap.add(at: .max - 1, key: 2)
        heap.add(at: .min, key: 3)
        #expect(heap.popDue(at: .min) == 3)
        #expect(heap.next == Int64.max - 1)
    }

    @Test("unwanted keys go from the front, and all of them when it is compacted")
    func unwanted() {
        var heap = DeadlineHeap<Int>()
        for key in 0..<36 { heap.add(at: Int64(key), key: key) }
        #expect(!heap.isSparse(livingCount: 10))
        #expect(heap.isSparse(livingCount: 9))
        heap.dropUnwanted { $0 >= 3 && $0 % 4 == 0 }
        #expect(heap.next == 4)
        #expect(heap.count == 32)
        heap.compact { $0 % 4 == 0 }
        #expect(heap.count == 8)
        var keys: [Int] = []
        while let key = heap.popDue(at: 100) { keys.append(key) }
        #expect(keys == Array(stride(from: 4, to: 36, by: 4)))
    }

    @Test("random adding, taking and compacting agrees with a sorted array", arguments: 1...3)
    func randomComparison(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var heap = DeadlineHeap<Int>()
        var model: [(time: Int64, key: Int)] = []
        for key in 0..<3_000 {
            switch generator.below(10) {
            case 0..<6:
                let time = Int64(generator.below(200))
                heap.add(at: time, key: key)
                let place = model.firstIndex { $0.time > time } ?? model.count
                model.insert((time, key), at: place)
            case 6..<9:
                let now = Int64(generator.below(200))
                let isDue = model.first.map { $0.time <= now } ?? false
                check(heap.popDue(at: now) == (isDue ? model.removeFirst().key : nil))
            default:
                let rest = generator.below(5)
                model.removeAll { $0.key % 5 == rest }
                heap.compact { $0 % 5 != rest }
            }
            check(heap.count == model.count)
            check(heap.next == model.first?.time)
        }
    }
}
