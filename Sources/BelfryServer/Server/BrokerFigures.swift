import BelfryCenter
import BelfrySystem
import BelfryWire
import Synchronization

/// Figures of the broker as a whole, besides the counters of loops and the totals of centers.
struct BrokerFigures: ~Copyable, Sendable {
    let startedAt = WallTime.now()
    /// Notifications that observers have lost.
    let losses = Mutex(Losses())
    /// The number of refused requests and calls, by the kind of problem.
    let refusals = Mutex<[Problem.Kind: UInt64]>([:])
    /// The ends of asks.
    let askEnds = Mutex(AskEnds())
    /// Earlier values of the counters.
    let history = Mutex(CounterHistory())
    /// Samples of the process's use of the machine.
    let process = ProcessSampler()
    /// The expiry of the certificate, in seconds since 1970; 0 without one.
    let certificateEnd = Atomic<Int64>(0)

    /// Adds the losses of a loop's observers in a turn.
    func noteLosses(_ more: Losses) {
        losses.withLock { $0.add(more, since: Losses()) }
    }

    /// Counts asks that have ended.
    func noteAskEnds(_ outcomes: [AskOutcome], at time: CommandTime) {
        askEnds.withLock { ends in
            for outcome in outcomes { ends.note(outcome, at: time) }
        }
    }

    /// Counts a request or a call that was refused.
    func noteRefusal(_ kind: Problem.Kind) {
        refusals.withLock { $0[kind, default: 0] += 1 }
    }
}
