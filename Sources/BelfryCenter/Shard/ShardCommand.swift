/// A command of a log: for one center of a shard, or for the shard.
public struct ShardCommand: Sendable {
    /// The name by which its answer is found.
    public let id: CommandID
    /// When it was accepted.
    public let time: CommandTime
    /// The change that its broker asks for.
    public var action: Action

    /// Joins the three parts.
    public init(id: CommandID, time: CommandTime, action: Action) {
        self.id = id
        self.time = time
        self.action = action
    }

    /// The changes that a command of a log can ask for.
    public enum Action: Sendable {
        /// A center, if it is there, gets a command.
        case tell(center: [UInt8], Command.Action)
        /// A center is made, unless it is there: of several that make one, the first in the log gives it its epoch.
        case makeCenter([UInt8], epoch: [UInt8])
        /// A center ends, if it has nothing that somebody may come back for.
        case endCenter([UInt8])
        /// The broker that writes the entry begins a life; it knows the rules up to this level.
        case nodeUp(level: UInt64)
        /// A life of a broker is over, whoever says so.
        case nodeDown([UInt8], life: UInt64)
        /// From here on the rules of a level hold, if every broker that is up knows them; with
        /// level 4 the log has this key.
        case level(UInt64, TagKey = .known)
        /// All centers, and those that are made later, have these limits, unless a later revision of them holds.
        case configure(CenterLimits, revision: UInt64)
        /// A ticket, of which a principal may have a share, stands for what its caller has shown.
        case makeTicket(SecretHash, principal: [UInt8], shown: [UInt8], share: Int)
        /// A ticket is used up, unless the time of the log is this one already, in nanoseconds.
        case useTicket(SecretHash, until: Int64)
        /// Nothing: time passes, and whoever reads it knows that its writer can write.
        case nothing
    }
}

extension ShardCommand.Action {
    /// The center that it names, if it names one.
    public var center: [UInt8]? {
        switch self {
        case .tell(let center, _), .makeCenter(let center, _), .endCenter(let center): center
        case .nodeUp, .nodeDown, .level, .configure, .makeTicket, .useTicket, .nothing: nil
        }
    }
}
