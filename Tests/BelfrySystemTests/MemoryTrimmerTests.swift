import Synchronization
import Testing

@testable import BelfrySystem

@Suite("MemoryTrimmer: memory goes back after a peak")
struct MemoryTrimmerTests {
    @Test("it trims when it is asked, and ends when it is closed")
    func trims() throws {
        let trimmer = MemoryTrimmer()
        let count = Counter()
        let thread = try trimmer.start(trim: { count.add() })
        for round in 1...3 {
            trimmer.ask()
            trimmer.waitUntilDone(round)
            #expect(count.value == round)
        }
        trimmer.close()
        trimmer.ask()
        thread.join()
        #expect(count.value == 3)
    }

    @Test("a look trims a process that has grown by a step since the last trim, and no other")
    func looks() throws {
        let trimmer = MemoryTrimmer()
        let (growth, count) = (Counter(), Counter())
        let thread = try trimmer.start(
            residentByteCount: { (1 << 30) + growth.value }, trim: { count.add() })
        let step = MemoryTrimmer.step
        let sizes = [(step - 1, 0), (step, 1), (2 * step - 1, 1), (2 * step, 2), (0, 2), (step, 2)]
        trimmer.look()
        trimmer.waitUntilDone(1)
        for (round, (size, trimCount)) in sizes.enumerated() {
            growth.set(size)
            trimmer.look()
            trimmer.waitUntilDone(round + 2)
            #expect(count.value == trimCount)
        }
        trimmer.close()
        thread.join()
    }

    @Test("a fall is told at a step below the peak, not before, and begins anew then")
    func falls() {
        var watch = PeakWatch()
        let (step, peak) = (PeakWatch.step, 5 * PeakWatch.step)
        let levels = [
            peak, peak - step + 1, peak, peak - step, peak - step, peak - 2 * step + 1, 0, 0, step,
            1, 0,
        ]
        let falls = levels.map { watch.hasFallen(to: $0) }
        #expect(
            falls == [
                false, false, false, true, false, false, true, false, false, false, true,
            ])
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock { $0 } }

        func set(_ value: Int) { count.withLock { $0 = value } }

        func add() { count.withLock { $0 += 1 } }
    }
}
