// The rules of a log: all brokers that are up know those that hold.

extension Shard {
    /// From this level on tickets are in the log, and centers tell that the first broker has come
    /// or the last one leaves.
    public static let levelTwo: UInt64 = 2
    /// From this level on brokers write commands that count only while a connection is its
    /// client's, and a client whose broker has left has time to come back before it says farewell.
    public static let levelThree: UInt64 = 3
    /// From this level on the tags of values are made under a key of the log, and commands say what
    /// of others they may take away.
    public static let levelFour: UInt64 = 4

    /// The rules of a level hold, which all know; the first broker that says so for level 4 gives
    /// the log its key.
    mutating func raise(to level: UInt64, _ key: TagKey) {
        if log.level < Self.levelFour, level >= Self.levelFour { tagKey = key }
        log.level = max(log.level, level)
    }
}
