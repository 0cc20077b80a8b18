/// The state of the log that a shard applies; without a log it never changes.
struct ShardLog: Sendable {
    /// The index of the last entry.
    var index: UInt64 = 0
    /// The time of the log, in nanoseconds: it never goes back, and no wall clock moves it.
    var time: Int64 = 0
    /// The level of the present rules.
    var level: UInt64 = 1
    /// The revision of the present limits; 0 where no broker has set any.
    var limitsRevision: UInt64 = 0
    var numbers = ShardNumbers()
    var nodes = NodeTable()
    /// The unused tickets of all brokers, with the credentials of their callers.
    var tickets = TicketTable<[UInt8]>()
    var past = LogPast()
    /// The digest of all entries and their results.
    var chain: UInt64 = 0
    var marks = WrittenMarks()

    // MARK: What a snapshot does not have

    /// The entry that is being applied.
    var work: EntryWork?
    /// The centers that had a command in it, and need the end of a turn.
    var touched: Set<Int> = []
    /// A lower bound of the time at which a center is due.
    var dueAt = Int64.max
}

/// The entry that a shard applies, and the progress of applying it.
struct EntryWork: Sendable {
    let entry: Entry
    /// The life that has written it, by its seat.
    let seat: UInt32
    let time: CommandTime
    /// The next command.
    var command = 0
    /// The centers for which time has passed, the next one last.
    var due: [Int] = []
    /// The connections that end with a life, the next one last.
    var departures: [Departure] = []
    /// The centers whose turn ends, the next one last; nil as long as there are commands.
    var ends: [Int]?
    /// How many commands the shard has made by itself.
    var ownCount: UInt64 = 0

    /// A connection that ends with the life of its broker.
    struct Departure: Sendable {
        /// The position of its center.
        let center: Int
        let action: Command.Action
        /// The highest index that the life was known to have applied.
        let appliedIndex: UInt64
    }
}

extension ShardLog: Coded {
    init(_ known: ShardLog?, by coder: inout some Coder) throws(CodeError) {
        index = try coder(known?.index)
        time = try coder(known?.time)
        level = try coder(known?.level)
        numbers = try coder(known?.numbers)
        nodes = try coder(known?.nodes)
        tickets = try coder(known?.tickets)
        // Programs of level 1 read a number here, which says nothing.
        _ = try coder(1_024) as Int
        limitsRevision = try coder(known?.limitsRevision)
        past = try coder(known?.past)
        chain = try coder(known?.chain)
        marks = try coder(known?.marks)
    }
}
