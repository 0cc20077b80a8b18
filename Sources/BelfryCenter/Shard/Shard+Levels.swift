// The rules of a log: all brokers that are up know the present ones.

extension Shard {
    /// The level of tickets in a log, and of reports on the start and the end of its brokers.
    public static let levelTwo: UInt64 = 2
    /// The level of commands bound to a connection, and of time to return before a farewell.
    ///
    /// Such a command counts only while the connection is its client's. A client whose broker has
    /// left has time to come back before its farewell fires.
    public static let levelThree: UInt64 = 3
    /// The level of a log's own key for tags of values, and of covers in commands.
    public static let levelFour: UInt64 = 4
    /// The level from which brokers know filter terms.
    public static let levelFive: UInt64 = 5
    /// The level from which brokers know who has answered an ask, and its options.
    public static let levelSix: UInt64 = 6

    /// Sets the level of the rules, which all brokers know.
    ///
    /// The first command for level 4 or above gives the log its key.
    mutating func raise(to level: UInt64, _ key: TagKey) {
        if log.level < Self.levelFour, level >= Self.levelFour { tagKey = key }
        log.level = max(log.level, level)
    }
}
