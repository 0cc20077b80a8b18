import BelfryCenter
import BelfryWire
import Glibc
import Testing

@testable import BelfryServer

/// Gives commands back in their order, each from 1 to 50 turns after it was submitted.
///
/// It represents a log that several brokers share. `Scripts/late` runs the suite of the server with
/// it.
final class LateSequencer: Sequencer {
    private var line: [(turn: Int, command: ShardCommand)] = []
    private var turn = 0
    private var random: SplitMix
    private let numbers: Numbers
    private var lastID: CommandID

    /// One for a loop.
    init(seed: UInt64, loop: Int, _ shared: SharedState) {
        random = SplitMix(seed: seed &* 64 &+ UInt64(loop))
        numbers = shared.numbers
        lastID = CommandID(
            node: 0, incarnation: shared.incarnation, counter: UInt64(loop) << 48)
    }

    /// The seed that the environment names, where the suite runs with late commands.
    static let seed: UInt64? = {
        // SAFETY: nothing of this process writes the environment; the text ends with a zero.
        guard let text = unsafe getenv("BELFRY_LATE_SEED") else { return nil }
        // SAFETY: as above.
        return UInt64(unsafe String(cString: text))
    }()

    let needsTurns = true

    var isWaiting: Bool { !line.isEmpty }

    func submit(_ action: ShardCommand.Action, at time: CommandTime) -> CommandID {
        lastID = CommandID(
            node: 0, incarnation: lastID.incarnation, counter: lastID.counter + 1)
        let due = turn + Int.random(in: 1...50, using: &random)
        let command = ShardCommand(id: lastID, time: time, action: action)
        line.append((max(due, line.last?.turn ?? 0), command))
        return lastID
    }

    func next(_ shard: inout Shard, into effects: inout Effects) -> SequencerEvent? {
        guard let first = line.first, first.turn <= turn else {
            turn += 1
            return nil
        }
        let command = line.removeFirst().command
        do throws(Problem) {
            return .step(try apply(command, &shard, &effects))
        } catch {
            return .refused(command.id, error)
        }
    }

    private func apply(
        _ command: ShardCommand, _ shard: inout Shard, _ effects: inout Effects
    ) throws(Problem) -> Shard.Step {
        effects.reset()
        var number: UInt64 = 0
        var position = command.action.center.flatMap { shard.position(of: $0) }
        let result: Shard.Result
        switch (command.action, position) {
        case (.makeCenter(let name, let epoch), _):
            position = shard.makeCenter(name, epoch: epoch)
            result = .made
        case (.tell(_, var action), let position?):
            var source = numbers
            number = try action.takeNumbers(from: &source)
            shard.apply(
                Command(id: command.id, time: command.time, action: action), to: position,
                into: &effects)
            result = .told
        case (.endCenter, let position?):
            result = shard.centers[position].use.isNone ? .ended : .inUse
            if result == .ended { shard.endCenter(at: position) }
        case (.tell, nil), (.endCenter, nil): result = .noCenter
        // A host submits none of these.
        case (.nodeUp, _), (.nodeDown, _), (.level, _), (.configure, _), (.makeTicket, _),
            (.useTicket, _), (.nothing, _):
            result = .done
        }
        return Shard.Step(id: command.id, center: position, number: number, result: result)
    }
}

extension Trait where Self == ConditionTrait {
    /// The test says what happens within one turn, and late commands need several.
    static var withinOneTurn: Self {
        .disabled(if: LateSequencer.seed != nil, "late commands need more than one turn")
    }
}
