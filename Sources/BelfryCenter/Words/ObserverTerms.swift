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
