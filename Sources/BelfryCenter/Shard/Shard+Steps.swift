// The account of an entry of a log: why it counts or not, its steps, and their results.

extension Shard {
    /// The reason why an entry of a log changes nothing.
    public enum Skip: Sendable, Equatable {
        /// The life of its broker is over: it was declared down, or a later life has begun.
        case lifeIsOver
        /// The log has its full number of brokers already.
        case isOneTooMany(limit: Int)
        /// The entry is not the next of its life: a log has it twice, or before an earlier one.
        case outOfOrder
        /// The last entry that its broker had applied is forgotten: it was away for too long.
        case isTooLate
        /// The program of its broker does not know the present rules.
        case isTooOld(level: UInt64)
    }

    /// The reason why a shard cannot apply any more: the log was written with another state.
    public enum Fault: Error, Equatable {
        /// The writer of this entry has another past: entries were lost, or results differ.
        case otherPast(index: UInt64)
    }

    /// One step of an entry; the effects have its results.
    public struct Step: Sendable {
        /// The name of the command; nil for a step of the shard itself.
        public let id: CommandID?
        /// The center that got a command, was made, or existed until now.
        public let center: Int?
        /// The number of the client, or of the mode lease, that the step made.
        public let number: UInt64
        /// The result.
        public let result: Result

        /// Joins the four parts.
        public init(id: CommandID?, center: Int?, number: UInt64, result: Result) {
            (self.id, self.center, self.number, self.result) = (id, center, number, result)
        }
    }

    /// The result of a command of a log.
    public enum Result: Sendable, Equatable {
        /// The center has got the command: the effects have its outcome.
        case told
        /// The center exists, made by this command or an earlier one.
        case made
        /// The center has ended.
        case ended
        /// The shard does not have the center.
        case noCenter
        /// The center has state that a client may come back for.
        case inUse
        /// The life of a broker has begun, with this seat in the names of connections and commands.
        case began(seat: UInt32)
        /// The life of the broker of this name is over, and was not before.
        case lifeEnded([UInt8])
        /// The command was done, or had nothing to do.
        case done
        /// The ticket was valid; the credentials of its caller.
        case used(shown: [UInt8])
        /// A condition does not hold: ticket, room, level, revision, or place in the entry.
        case refused
    }
}
