/// A command of a log: for one center of a shard, or for the shard.
public struct ShardCommand: Sendable {
    /// The name by which its answer is found.
    public let id: CommandID
    /// When it was accepted.
    public let time: CommandTime
    /// What it asks for.
    public var action: Action

    /// Joins the three parts.
    public init(id: CommandID, time: CommandTime, action: Action) {
        self.id = id
        self.time = time
        self.action = action
    }

    /// What a command of a log can ask for.
    public enum Action: Sendable {
        /// A center, if it is there, gets a command.
        case tell(center: [UInt8], Command.Action)
        /// A center is made, unless it is there: of several that make one, the first in the log gives it its epoch.
        case makeCenter([UInt8], epoch: [UInt8])
        /// A center ends, if it has nothing that somebody may come back for.
        case endCenter([UInt8])
    }
}

extension ShardCommand.Action {
    /// The center that it names.
    public var center: [UInt8] {
        switch self {
        case .tell(let center, _), .makeCenter(let center, _), .endCenter(let center): center
        }
    }
}
