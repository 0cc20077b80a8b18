import BelfrySystem
import Testing

@Suite("Monitor and SharedFlag")
struct MonitorTests {
    @Test("a thread that waits is woken by the change it waits for")
    func wakes() throws {
        let monitor = Monitor<[Int]>([])
        let thread = try SystemThread {
            for number in 1...1_000 { monitor.change { $0.append(number) } }
        }
        let numbers = monitor.take { $0.count == 1_000 ? $0 : nil }
        #expect(numbers == Array(1...1_000))
        thread.join()
    }

    @Test("a wait ends at its deadline with nothing, and takes what is there already")
    func deadline() {
        let monitor = Monitor(7)
        let past = MonotonicTime(nanoseconds: 0)
        #expect(monitor.take(until: past) { $0 == 8 ? $0 : nil } == nil)
        let first = MonotonicTime(nanoseconds: .min)
        #expect(monitor.take(until: first) { $0 == 8 ? $0 : nil } == nil)
        #expect(monitor.take(until: past) { $0 == 7 ? $0 : nil } == 7)
        #expect(monitor.take(until: .now() + .milliseconds(2)) { $0 == 8 ? $0 : nil } == nil)
    }

    @Test("a flag tells what was told last, also to another thread")
    func flag() throws {
        let flag = SharedFlag(false)
        #expect(!flag.value)
        let thread = try SystemThread { flag.value = true }
        while !flag.value {}
        thread.join()
        flag.value = false
        #expect(!flag.value)
    }
}
