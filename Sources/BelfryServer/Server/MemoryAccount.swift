import BelfryCenter
import Synchronization

/// How many bytes of memory the centers of all loops keep, by kind.
///
/// A loop adds what has grown at the end of each turn, and at once with each registration. What connections
/// take is counted by their loops (``Counters``).
final class MemoryAccount: Sendable {
    /// One for each kind.
    private let counts = InlineArray<8, Atomic<Int>> { _ in Atomic(0) }

    /// The bytes of one kind.
    subscript(kind: KeptKind) -> Int {
        max(0, counts[kind.rawValue].load(ordering: .relaxed))
    }

    /// Adds what has grown of one kind.
    func add(_ growth: Int, to kind: KeptKind) {
        counts[kind.rawValue].add(growth, ordering: .relaxed)
    }
}
