import BelfryCenter
import BelfryHistory

/// A program that observes and posts, whichever broker it reaches.
struct ClusterProgram {
    let number: Int
    let center: [UInt8]
    /// Its client, once it has one.
    var client: UInt64?
    /// Where it is connected, or about to be.
    var place: (node: Int, connection: UInt64)?
    /// Whether its client has gone on.
    var isReady = false
    /// Whether it says what it has seen when it comes back.
    let saysSeen: Bool
    /// The highest number that it was written.
    var lastSeen: UInt64 = 0
    /// Whether a connection of it has ended and its written frames were not known.
    var isInDoubt = false
    /// The count of its requests for suspension, and of those whose end it has heard of.
    var suspensionCount = 0
    var endedSuspensionCount = 0
    /// Its ends of connections that are not in the log yet.
    var openEnds: Set<CommandID> = []
    var line = ClusterLine()
    /// The deliveries that it has not acknowledged, each with the index at which it was asked.
    var owed: [(delivery: DeliveryName, askedAt: UInt64)] = []
    /// The index at which its client last went on with another connection.
    var resumedAt: UInt64 = 0
}

/// The deliveries of an observer that its program has read.
struct ClusterAccount {
    let program: Int
    let client: UInt64
    let name: [UInt8]?
    let object: [UInt8]?
    let filter: HistoryFilter?
    /// The number above which it gets notifications.
    let since: UInt64
    /// Whether its notifications are held while its program is away.
    let isHeld: Bool
    let acknowledges: Bool
    var seen: [UInt64] = []
    var gaps: [Gap] = []
    /// The deliveries on their way to its program when a connection broke (rule D14).
    var lost: [ClosedRange<UInt64>] = []
    var isRemoved = false

    // MARK: What is acknowledged

    /// The deliveries that its program has read on its present connection.
    var here: Set<UInt64> = []
    /// The deliveries that its program has answered, whether or not the log has that.
    var answered: Set<UInt64> = []
    /// The index at which the log has an answer that counts.
    var acknowledgedAt: [UInt64: UInt64] = [:]
}
