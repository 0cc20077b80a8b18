import Synchronization

/// Recently removed observers: deliveries of other loops for them are not written.
///
/// A delivery waits in a mailbox for a turn or two; 10,000 removals are remembered, which is more
/// than can happen in that time.
final class RemovedObservers: Sendable {
    private static let limit = 10_000

    private let state = Mutex((serials: Set<UInt64>(), order: [UInt64]()))

    func insert(_ serial: UInt64) {
        state.withLock { state in
            if state.order.count >= Self.limit {
                state.serials.subtract(state.order.prefix(Self.limit / 2))
                state.order.removeFirst(Self.limit / 2)
            }
            state.serials.insert(serial)
            state.order.append(serial)
        }
    }

    func read() -> Set<UInt64> {
        state.withLock { $0.serials }
    }
}
