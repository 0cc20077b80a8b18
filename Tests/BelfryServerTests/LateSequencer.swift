import BelfryCenter
import Glibc
import Testing

@testable import BelfryServer

/// Gives commands back in their order, each from 1 to 50 turns after it was submitted.
///
/// It stands for a log that several brokers share. `Scripts/late` runs the suite of the server with it.
final class LateSequencer: Sequencer {
    private var line: [(turn: Int, command: ShardCommand)] = []
    private var turn = 0
    private var random: SplitMix

    /// One for a loop.
    init(seed: UInt64, loop: Int) {
        random = SplitMix(seed: seed &* 64 &+ UInt64(loop))
    }

    /// The seed that the environment names, where the suite runs with late commands.
    static let seed: UInt64? = {
        // SAFETY: nothing of this process writes the environment; the text ends with a zero.
        guard let text = unsafe getenv("BELFRY_LATE_SEED") else { return nil }
        // SAFETY: as above.
        return UInt64(unsafe String(cString: text))
    }()

    var isWaiting: Bool { !line.isEmpty }

    func submit(_ command: ShardCommand) {
        let due = turn + Int.random(in: 1...50, using: &random)
        line.append((max(due, line.last?.turn ?? 0), command))
    }

    func next() -> ShardCommand? {
        guard let first = line.first, first.turn <= turn else {
            turn += 1
            return nil
        }
        return line.removeFirst().command
    }
}

extension Trait where Self == ConditionTrait {
    /// The test says what happens within one turn, and late commands need several.
    static var withinOneTurn: Self {
        .disabled(if: LateSequencer.seed != nil, "late commands need more than one turn")
    }
}
