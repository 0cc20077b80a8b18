import BelfryCenter
import BelfrySystem
import BelfryWire
import Synchronization

/// What is told of the broker as a whole, besides what loops count and what centers have.
struct BrokerFigures: ~Copyable, Sendable {
    let startedAt = WallTime.now()
    /// What observers have lost.
    let losses = Mutex(Losses())
    /// How many requests and calls were refused, by what they were told.
    let refusals = Mutex<[Problem.Kind: UInt64]>([:])
    /// How asks have ended.
    let askEnds = Mutex(AskEnds())
    /// What was counted, as it was before.
    let history = Mutex(CounterHistory())
    /// What the process takes of the machine.
    let process = ProcessSampler()
    /// When the certificate ends, in seconds since 1970; 0 without one.
    let certificateEnd = Atomic<Int64>(0)

    /// Counts what the observers of a loop lost in a turn.
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
