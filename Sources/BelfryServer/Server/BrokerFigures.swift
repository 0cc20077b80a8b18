import BelfryCenter
import BelfrySystem
import BelfryWire
import Synchronization

/// What the broker counts of itself, besides what centers have: its metrics are made of it.
struct BrokerFigures: ~Copyable, Sendable {
    let startedAt = WallTime.now()
    /// The counters of each loop, as of the end of its last turn.
    let counters: [Published<Counters>]
    /// What observers have lost.
    let losses = Mutex(Losses())
    /// How many requests and calls were refused, by what they were told.
    let refusals = Mutex<[Problem.Kind: UInt64]>([:])
    /// What the process takes of the machine.
    let process = ProcessSampler()
    /// When the certificate ends, in seconds since 1970; 0 without one.
    let certificateEnd = Atomic<Int64>(0)

    init(loopCount: Int) {
        counters = (0..<loopCount).map { _ in Published(Counters()) }
    }

    /// Counts what the observers of a loop lost in a turn.
    func noteLosses(_ more: Losses) {
        losses.withLock { $0.add(more, since: Losses()) }
    }

    /// Counts a request or a call that was refused.
    func noteRefusal(_ kind: Problem.Kind) {
        refusals.withLock { $0[kind, default: 0] += 1 }
    }
}
