import BelfryCenter
import BelfryStore
import BelfryWire
import Synchronization

/// Numbers that are never given twice, in no life of the broker (law 4).
///
/// The store reserves them in blocks: a number is given when its block is stored, and the next
/// block is requested when half of the last one is used. A restart begins above all blocks.
final class NumberBlock: Sendable {
    /// The size of a block.
    static let count: UInt64 = 65_536

    /// The kind of thing that the numbers identify.
    let kind: Kind
    private let last: Atomic<UInt64>
    /// The highest number that may be given.
    private let limit: Atomic<UInt64>
    /// The highest number that the store was asked to reserve.
    private let asked: Atomic<UInt64>

    enum Kind {
        case observers
        case clients
        case modes
    }

    /// Begins numbers that no store reserves: they are unique within the process.
    init(_ kind: Kind) {
        self.kind = kind
        last = Atomic(0)
        limit = Atomic(.max)
        asked = Atomic(.max)
    }

    /// Begins above the numbers that earlier lives may have used; no block is reserved yet.
    init(_ kind: Kind, after used: UInt64) {
        self.kind = kind
        last = Atomic(used)
        limit = Atomic(used)
        asked = Atomic(used)
    }

    /// Takes a number that was never given.
    ///
    /// - Throws: 503 as long as the next block is not stored.
    @inline(__always)
    func take() throws(Problem) -> UInt64 {
        let number = last.wrappingAdd(1, ordering: .relaxed).newValue
        guard number <= limit.load(ordering: .acquiring) else {
            throw Problem(Refusal.cannotStore)
        }
        return number
    }

    /// The block to request from the store now; nil when there is enough.
    ///
    /// Only one block is requested at a time: loops hand their batches over in no common order.
    func takeRequest() -> NumberRequest? {
        let limit = limit.load(ordering: .relaxed)
        let last = last.load(ordering: .relaxed)
        guard limit < .max, last + Self.count / 2 >= limit else { return nil }
        let through = max(last, limit) + Self.count
        let isMine = asked.compareExchange(
            expected: limit, desired: through, ordering: .relaxed
        ).exchanged
        return isMine ? NumberRequest(block: self, through: through) : nil
    }

    /// Records that the store has reserved the requested block.
    func commit(through: UInt64) {
        // Numbers that were tried in vain meanwhile are lost, which costs nothing.
        limit.store(through, ordering: .releasing)
    }
}

/// The numbers of observers, clients and mode leases.
struct Numbers: Sendable {
    let observers: NumberBlock
    let clients: NumberBlock
    let modes: NumberBlock

    /// Begins numbers that no store reserves.
    init() {
        observers = NumberBlock(.observers)
        clients = NumberBlock(.clients)
        modes = NumberBlock(.modes)
    }

    /// Begins above the numbers that earlier lives of a store may have used.
    init(after facts: StoreImage) {
        observers = NumberBlock(.observers, after: facts.observersReserved)
        clients = NumberBlock(.clients, after: facts.clientsReserved)
        modes = NumberBlock(.modes, after: facts.modesReserved)
    }

    var all: [NumberBlock] { [observers, clients, modes] }
}

/// A request that the store reserve a block.
struct NumberRequest {
    let block: NumberBlock
    let through: UInt64

    var change: StoreChange {
        switch block.kind {
        case .observers: .observersReserved(through: through)
        case .clients: .clientsReserved(through: through)
        case .modes: .modesReserved(through: through)
        }
    }
}
