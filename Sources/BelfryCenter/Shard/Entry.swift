/// An entry of a log: the commands that one broker appends at a time, with their conditions.
public struct Entry: Sendable {
    /// The name of the broker that has written it.
    public let node: [UInt8]
    /// The life of that broker: a later one has a greater number.
    public let life: UInt64
    /// Its number in that life, from 1 on: a repeated or earlier one is skipped.
    public let number: UInt64
    /// The index of the last entry that its broker had applied.
    public let appliedIndex: UInt64
    /// The digest of the log up to there, as its broker had it (``Shard/chain``).
    public let chain: UInt64
    /// Milliseconds from the application of that entry to the writing, by the clock of its broker.
    public let elapsed: UInt64
    /// The time on the wall clock of its broker, in milliseconds since 1970.
    public let wallMilliseconds: Int64
    /// The commands, in the order in which the broker has accepted them.
    public let commands: [Numbered]

    /// A command, and its number in the life of its broker.
    public struct Numbered: Sendable {
        /// The number.
        public let counter: UInt64
        /// The change that the broker asks for.
        public let action: ShardCommand.Action
        /// The change as bytes, without the name of its center.
        let content: [UInt8]

        /// Joins number and change.
        public init(counter: UInt64, action: ShardCommand.Action) {
            self.init(counter: counter, action: action, content: action.content)
        }

        init(counter: UInt64, action: ShardCommand.Action, content: [UInt8]) {
            self.counter = counter
            self.action = action
            self.content = content
        }

        /// The most bytes that it takes in an entry.
        public var byteCount: Int { content.count + (action.center?.count ?? 0) + 32 }
    }

    /// Joins the parts.
    public init(
        node: [UInt8], life: UInt64, number: UInt64, appliedIndex: UInt64, chain: UInt64,
        elapsed: UInt64, wallMilliseconds: Int64, commands: [Numbered]
    ) {
        self.node = node
        self.life = life
        self.number = number
        self.appliedIndex = appliedIndex
        self.chain = chain
        self.elapsed = elapsed
        self.wallMilliseconds = wallMilliseconds
        self.commands = commands
    }
}
