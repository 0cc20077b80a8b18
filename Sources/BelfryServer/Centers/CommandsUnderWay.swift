import BelfryCenter

/// The commands of this loop that a sequencer has taken and not given back.
struct CommandsUnderWay {
    /// What a loop knows of a command that is under way.
    struct Command {
        /// The center that it names, if it names one.
        let center: [UInt8]?
        /// What of the loop's own work it is.
        let work: OwnWork
        /// Whether it makes the center.
        let makesCenter: Bool
        /// Whether nobody need know what has become of it: it changes nothing, or makes a ticket that nobody has.
        let isEmpty: Bool
    }

    private var commands: [CommandID: Command] = [:]
    private var counts: [[UInt8]: Int] = [:]

    /// A sequencer has taken a command.
    mutating func add(_ id: CommandID, _ action: ShardCommand.Action) {
        var work: OwnWork = []
        if case .tell(_, let told) = action { work = OwnWork(told) }
        var makesCenter = false
        if case .makeCenter = action { makesCenter = true }
        let isEmpty =
            switch action {
            case .nothing, .makeTicket: true
            default: false
            }
        commands[id] = Command(
            center: action.center, work: work, makesCenter: makesCenter, isEmpty: isEmpty)
        if let center = action.center { counts[center, default: 0] += 1 }
    }

    /// A command has come back; nil for one that this loop has not submitted.
    mutating func remove(_ id: CommandID) -> Command? {
        guard let command = commands.removeValue(forKey: id) else { return nil }
        if let center = command.center {
            let count = counts[center] ?? 0
            counts[center] = count > 1 ? count - 1 : nil
        }
        return command
    }

    /// Whether commands for a center are under way.
    func contains(center: [UInt8]) -> Bool { counts[center] != nil }
}
