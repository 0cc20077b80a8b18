import Synchronization

/// The counters of one loop, where other loops can read them.
final class PublishedCounters: Sendable {
    private let counters = Mutex(Counters())

    @inline(__always)
    func publish(_ new: Counters) {
        counters.withLock { $0 = new }
    }

    func read() -> Counters {
        counters.withLock { $0 }
    }
}
