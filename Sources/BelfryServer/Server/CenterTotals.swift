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
    /// The bytes of memory of each kind.
    private let counts = InlineArray<8, Atomic<Int>> { _ in Atomic(0) }
    /// How many clients of all centers there are, by what they are told over and by their state.
    private let clients = InlineArray<7, Atomic<Int>> { _ in Atomic(0) }
    /// What the tallies of all centers are together.
    private let tallies = InlineArray<16, Atomic<Int>> { _ in Atomic(0) }

    /// The bytes of memory of one kind.
    subscript(kind: KeptKind) -> Int {
        max(0, counts[kind.rawValue].load(ordering: .relaxed))
    }

    /// Adds what has grown of one kind.
    func add(_ growth: Int, to kind: KeptKind) {
        counts[kind.rawValue].add(growth, ordering: .relaxed)
    }

    /// How much of asks, timers and values all centers have together.
    subscript(kind: CenterTally.Kind) -> Int {
        max(0, tallies[kind.rawValue].load(ordering: .relaxed))
    }

    /// Adds what has grown of one of these.
    func add(_ growth: Int, to kind: CenterTally.Kind) {
        tallies[kind.rawValue].add(growth, ordering: .relaxed)
    }

    /// How many clients are told over something.
    subscript(transport: Transport) -> Int {
        max(0, clients[ClientCounts.place(of: transport)].load(ordering: .relaxed))
    }

    /// How many clients are in a state.
    subscript(state: ClientState) -> Int {
        max(0, clients[ClientCounts.place(of: state)].load(ordering: .relaxed))
    }

    /// Adds how many clients more a center has.
    func add(_ counts: ClientCounts, since known: ClientCounts) {
        for place in 0..<ClientCounts.placeCount where counts[place] != known[place] {
            clients[place].add(counts[place] - known[place], ordering: .relaxed)
        }
    }
}
