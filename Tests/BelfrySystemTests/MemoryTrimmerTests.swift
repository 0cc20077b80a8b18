import Synchronization
import Testing

@testable import BelfrySystem

@Suite("MemoryTrimmer: memory goes back after a peak")
struct MemoryTrimmerTests {
    @Test("it trims when it is asked, and ends when it is closed")
    func trims() throws {
        let trimmer = MemoryTrimmer()
        let count = Counter()
        let thread = try trimmer.start { count.add() }
        for round in 1...3 {
            trimmer.ask()
            trimmer.waitForTrims(round)
            #expect(count.value == round)
        }
        trimmer.close()
        trimmer.ask()
        thread.join()
        #expect(count.value == 3)
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

        func add() { count.withLock { $0 += 1 } }
    }
}
