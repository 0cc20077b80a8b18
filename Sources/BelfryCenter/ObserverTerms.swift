/// How an observer is treated while its client is suspended, and how long it lives.
public struct ObserverTerms: Sendable, Equatable {
    /// What happens to its notifications while its client is suspended.
    public var suspensionBehavior = SuspensionBehavior.coalesce
    /// Whether its deliveries are requests that its client answers (rule C13).
    public var acknowledges = false
    /// Whether it dies with its client's connection; otherwise its token survives that (rule O7).
    public var endsWithConnection = false
    /// Notifications held for it; past it the oldest is dropped (rule D7).
    ///
    /// The default is 1,000.
    public var holdLimit = 1_000
    /// Nanoseconds between two deliveries of one name and object; the last of them wins.
    public var minInterval: Int64 = 0
    /// Nanoseconds that it outlives its connection; nil is for ever.
    public var lease: Int64? = 3_600_000_000_000

    /// Takes the defaults.
    public init() {}
}

/// What happens to an observer's notifications while its client is suspended (Cocoa's
/// NSNotificationSuspensionBehavior).
public enum SuspensionBehavior: UInt8, Sendable, CaseIterable {
    /// They are lost, and counted (rule D5).
    case drop
    /// Only the last of each name and object is held (rule D6).
    case coalesce
    /// All are held, up to a limit (rule D7).
    case hold
    /// All are held, and written at once if the client only asked for suspension (rule D8).
    case deliverImmediately
}

/// Why a client gets nothing now; the first that holds is told, and live when none does.
public enum ClientState: UInt8, Sendable, Equatable, CaseIterable {
    /// Its connection has ended.
    case disconnected
    /// It does not read what it is sent, or does not acknowledge it.
    case slow
    /// It asked for suspension.
    case asked
    /// It gets its notifications.
    case live
}

/// A client that connected just now and continues an earlier one.
public struct Resumption: Sendable {
    /// The client of the connection, which disappears.
    public let newcomer: UInt64
    /// The client that goes on.
    public let client: UInt64
    /// The sequence number above which the replay ring is asked for; nil asks for nothing.
    public let after: UInt64?

    /// Joins the parts.
    public init(newcomer: UInt64, client: UInt64, after: UInt64?) {
        self.newcomer = newcomer
        self.client = client
        self.after = after
    }
}
