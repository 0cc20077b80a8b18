import BelfryCenter
import Synchronization

/// The totals over the centers of all loops.
///
/// A loop adds the growth at the end of each turn, and at once with each registration. Connections
/// are counted by their loops (``Counters``).
struct CenterTotals: ~Copyable, Sendable {
    /// Centers now.
    let centerCount = Atomic<Int>(0)
    /// Observers of all centers now.
    let observerCount = Atomic<Int>(0)
    /// Bytes that all centers hold for clients that are suspended.
    let heldByteCount = Atomic<Int>(0)
    /// Bytes of all queues.
    let queueByteCount = Atomic<Int>(0)
    /// The bytes of memory of each kind.
    private let counts = InlineArray<9, Atomic<Int>> { _ in Atomic(0) }
    /// The clients of all centers, by transport and by state.
    private let clients = InlineArray<7, Atomic<Int>> { _ in Atomic(0) }
    /// The sums of the centers' tallies.
    private let tallies = InlineArray<16, Atomic<Int>> { _ in Atomic(0) }

    /// The bytes of memory of one kind.
    subscript(kind: KeptKind) -> Int {
        max(0, counts[kind.rawValue].load(ordering: .relaxed))
    }

    /// Adds growth of one kind.
    func add(_ growth: Int, to kind: KeptKind) {
        counts[kind.rawValue].add(growth, ordering: .relaxed)
    }

    /// The total of one kind of asks, timers or values.
    subscript(kind: CenterTally.Kind) -> Int {
        max(0, tallies[kind.rawValue].load(ordering: .relaxed))
    }

    /// Adds growth of one of these kinds.
    func add(_ growth: Int, to kind: CenterTally.Kind) {
        tallies[kind.rawValue].add(growth, ordering: .relaxed)
    }

    /// The number of clients of a transport.
    subscript(transport: Transport) -> Int {
        max(0, clients[ClientCounts.place(of: transport)].load(ordering: .relaxed))
    }

    /// The number of clients in a state.
    subscript(state: ClientState) -> Int {
        max(0, clients[ClientCounts.place(of: state)].load(ordering: .relaxed))
    }

    /// Adds the difference between two counts of a center's clients.
    func add(_ counts: ClientCounts, since known: ClientCounts) {
        for place in 0..<ClientCounts.placeCount where counts[place] != known[place] {
            clients[place].add(counts[place] - known[place], ordering: .relaxed)
        }
    }
}
