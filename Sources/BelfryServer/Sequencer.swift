import BelfryCenter
import BelfrySystem

/// What puts the commands of one center into one order, and applies them.
///
/// The loop talks to a center through this alone, so that a replicated log can take its place.
protocol Sequencer: ~Copyable {
    /// Gives the command its place in the order; what it brought about is in `effects`.
    mutating func submit(_ action: consuming Command.Action, into effects: inout Effects)
    /// A pass of the event loop is over; what must last is handed on now.
    mutating func endOfTurn()
    /// What can be known of the center without a command.
    var standing: Standing { get }
}

/// What a sequencer knows of itself.
struct Standing: Equatable {
    /// The index of the last command that was applied.
    var appliedIndex: UInt64
    /// Whether it takes commands now.
    var takesCommands: Bool
}

/// Applies commands at once, in the order in which they come.
struct LocalSequencer: Sequencer {
    private(set) var center: NotificationCenter
    private let incarnation: UInt64
    /// The time that the next commands carry; the loop reads the clocks once a turn.
    var time: CommandTime
    private var counter: UInt64 = 0

    init(center: consuming NotificationCenter, incarnation: UInt64, time: CommandTime) {
        self.center = center
        self.incarnation = incarnation
        self.time = time
    }

    mutating func submit(_ action: consuming Command.Action, into effects: inout Effects) {
        counter += 1
        let id = CommandID(node: 0, incarnation: incarnation, counter: counter)
        let command = Command(id: id, time: time, action: action)
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
    }

    mutating func endOfTurn() {}

    var standing: Standing {
        Standing(appliedIndex: center.appliedIndex, takesCommands: true)
    }
}
