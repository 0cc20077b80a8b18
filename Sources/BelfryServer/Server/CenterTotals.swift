import BelfryCenter
import Synchronization

/// What the centers of all loops have and keep.
///
/// A loop adds what has grown at the end of each turn, and at once with each registration. What connections
/// take is counted by their loops (``Counters``).
struct CenterTotals: ~Copyable, Sendable {
    /// Centers now.
    let centerCount = Atomic<Int>(0)
    /// Observers of all centers now.
    let observerCount = Atomic<Int>(0)
    /// Bytes that all centers hold for clients that are suspended.
    let heldByteCount = Atomic<Int>(0)
    /// Bytes of all queues.
    let queueByteCount = Atomic<Int>(0)
    /// Bytes of all open asks.
    let askByteCount = Atomic<Int>(0)
    /// Bytes of all timers.
    let timerByteCount = Atomic<Int>(0)
    /// Canonical bytes of all values, with their objects.
    let valueByteCount = Atomic<Int>(0)
    /// The bytes of memory of each kind.
    private let counts = InlineArray<8, Atomic<Int>> { _ in Atomic(0) }

    /// The bytes of memory of one kind.
    subscript(kind: KeptKind) -> Int {
        max(0, counts[kind.rawValue].load(ordering: .relaxed))
    }

    /// Adds what has grown of one kind.
    func add(_ growth: Int, to kind: KeptKind) {
        counts[kind.rawValue].add(growth, ordering: .relaxed)
    }
}
