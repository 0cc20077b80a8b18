import BelfryCenter

/// The commands of this loop that a sequencer has taken and not returned.
struct CommandsUnderWay {
    /// A command under way, as the loop records it.
    struct Command {
        /// The center of the command, if it has one.
        let center: [UInt8]?
        /// The kind of the loop's own work that the command does.
        let work: OwnWork
        /// Whether the command makes the center.
        let makesCenter: Bool
        /// Whether its outcome is irrelevant: it changes nothing, or makes an unissued ticket.
        let isEmpty: Bool
    }

    private var commands: [CommandID: Command] = [:]
    private var counts: [[UInt8]: Int] = [:]

    /// Adds a command that a sequencer has taken.
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

    /// Removes a returned command; nil for one that this loop has not submitted.
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
