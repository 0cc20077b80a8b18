/// The treatment of an observer while its client is suspended, and its lifetime.
public struct ObserverTerms: Sendable, Equatable {
    /// The treatment of its notifications while its client is suspended.
    public var suspensionBehavior = SuspensionBehavior.coalesce
    /// Whether its deliveries are requests that its client answers (rule C13).
    public var acknowledges = false
    /// Whether it ends with its client's connection; otherwise its token survives that (rule O7).
    public var endsWithConnection = false
    /// The most notifications held for it; past the limit the oldest is dropped (rule D7).
    ///
    /// The default is 1,000.
    public var holdLimit = 1_000
    /// Nanoseconds between two deliveries of one name and object; the last of them is delivered.
    public var minInterval: Int64 = 0
    /// Nanoseconds that it outlives its connection; nil is forever.
    public var lease: Int64? = 3_600_000_000_000

    /// Makes terms with the defaults.
    public init() {}
}
