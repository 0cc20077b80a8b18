/// A command of a log: for one center of a shard, or for the shard.
public struct ShardCommand: Sendable {
    /// The name that its answer refers to.
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
        /// Gives a command to a center, if it exists.
        case tell(center: [UInt8], Command.Action)
        /// Makes a center, unless it exists: the first such command in the log sets its epoch.
        case makeCenter([UInt8], epoch: [UInt8])
        /// Ends a center, if it has no state that a client may come back for.
        case endCenter([UInt8])
        /// The broker that writes the entry begins a life; it knows the rules up to this level.
        case nodeUp(level: UInt64)
        /// Ends a life of a broker, whichever broker writes it.
        case nodeDown([UInt8], life: UInt64)
        /// Sets the level of the rules, if every broker that is up knows them.
        ///
        /// With level 4 the log gets this key.
        case level(UInt64, TagKey = .known)
        /// Sets the limits of all centers, also later ones, unless a later revision is set.
        case configure(CenterLimits, revision: UInt64)
        /// Makes a ticket for the credentials of a caller; a principal may have a share of tickets.
        case makeTicket(SecretHash, principal: [UInt8], shown: [UInt8], share: Int)
        /// Uses up a ticket, unless the log has reached this time, in nanoseconds.
        case useTicket(SecretHash, until: Int64)
        /// Changes nothing: time passes, and readers see that the writer can write.
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
