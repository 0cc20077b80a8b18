import BelfryCenter
import BelfryCluster
import BelfrySystem
import BelfryWire

/// The log that this broker shares with others, for the loop that applies it.
final class LogSequencer: Sequencer {
    let replicated: ReplicatedSequencer
    /// The time of the loop's clock, as of its last event.
    var now: MonotonicTime
    /// Commands that the log refuses at once.
    private var refused: ArraySlice<(id: CommandID, reason: Unavailability)> = []
    private var refusedCount: UInt64 = 0
    /// The last entry whose effects were handed to the connections when a turn ended.
    private(set) var handedIndex: UInt64 = 0
    /// The last entry that was applied, with its time here and the time of the log.
    private var applied: (index: UInt64, at: MonotonicTime, logTime: Int64)

    /// The cost of this broker's entries.
    private(set) var appendFigures = AppendFigures()

    let needsTurns = false

    init(_ replicated: ReplicatedSequencer, at now: MonotonicTime) {
        self.replicated = replicated
        self.now = now
        applied = (0, now, 0)
        replicated.hearAppended = { [unowned self] in appendFigures.add($0) }
    }

    var isWaiting: Bool { replicated.isWaiting }

    /// The number of this broker in the names of connections.
    var seat: UInt32 { replicated.seat }

    /// The reason why no command is taken now.
    var unavailability: Unavailability? { replicated.unavailability }

    /// The offset from the loop's clock to the time of the log, in nanoseconds.
    var timeOffset: Int64 { applied.logTime - applied.at.nanoseconds }

    func submit(_ action: ShardCommand.Action, at time: CommandTime) -> CommandID {
        do throws(Unavailability) {
            return try replicated.submit(action, at: now.nanoseconds)
        } catch {
            refusedCount += 1
            // The seat of no life.
            let id = CommandID(node: .max, incarnation: 0, counter: refusedCount)
            refused.append((id, error))
            return id
        }
    }

    func next(_ shard: inout Shard, into effects: inout Effects) -> SequencerEvent? {
        if let (id, reason) = refused.popFirst() { return .failed(id, .unavailable(reason)) }
        guard
            let happening = replicated.next(&shard, at: now.nanoseconds, into: &effects)
        else {
            if shard.logIndex != applied.index { applied = (shard.logIndex, now, shard.logTime) }
            return nil
        }
        switch happening {
        case .loaded: return .restored
        case .step(let step):
            effects.keepOnly(node: seat)
            return .step(step)
        case .failed(let id, let failure): return .failed(id, failure)
        case .began: return .began
        case .broker(let name, let change): return .broker(name, change)
        case .fenced(let reason): return .fenced(reason)
        case .left: return .left
        case .stopped(let reason): return .stopped(reason)
        }
    }

    /// Lets time pass, once all events were taken.
    func tick(_ shard: borrowing Shard) { replicated.tick(shard, at: now.nanoseconds) }

    /// Appends the collected commands at the end of a turn.
    func endTurn(_ shard: borrowing Shard) {
        handedIndex = shard.logIndex
        replicated.endTurn(at: now.nanoseconds)
    }
}
