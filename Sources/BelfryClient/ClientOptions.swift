/// The behavior of a client towards its broker.
public struct ClientOptions: Equatable, Sendable {
    /// Whether a lost connection is made again, with all observers and what they missed.
    ///
    /// Notifications that an observer of lifetime `connection` missed come from the broker's replay
    /// ring; those of lifetime `token` were held for it too (`ObserverOptions.lifetime`). After a
    /// restart that has lost the numbers of the center, everything that the broker has since then
    /// comes, behind a gap `unknown`. The first connection is tried once in any case. The default
    /// is false.
    ///
    /// Requests meanwhile wait for the new connection, for `requestTimeout` at most.
    public var reconnects = false
    /// Whether a new connection first asks for the session of the one before; the default is true.
    ///
    /// Observers of lifetime `token` keep what was held for them only then. Without it each
    /// connection is a new client, where all observers are registered anew, values with a lease are
    /// set again, and posts with `onDisconnect` are made again.
    public var resumes = true
    /// The longest pause before the first attempt to reconnect, after a connection of some time.
    ///
    /// The pause doubles with each attempt that fails, and a later pause is random in its upper
    /// half. A pause that the broker asks for (`reconnectAfter`, `Retry-After`) is kept, up to 5
    /// minutes. The default is 1 second.
    public var firstPause: Duration = .seconds(1)
    /// The upper limit of the longest pause; the default is 30 seconds.
    public var longestPause: Duration = .seconds(30)
    /// The time limit for a welcomed connection and for a token; the default is 10 seconds.
    public var openingTimeout: Duration = .seconds(10)
    /// How long an answer may take; the default is 30 seconds.
    public var requestTimeout: Duration = .seconds(30)
    /// How long removing the observers and closing may take; the default is 2 seconds.
    public var closeTimeout: Duration = .seconds(2)
    /// The longest silence of the broker before it is probed; the default is 45 seconds.
    ///
    /// A broker that announces a shorter `pingInterval` is probed after that time, by the call
    /// `ping`, and counts as lost after half of it more. Another one is sent a ping of WebSocket,
    /// and has the same time again.
    public var silenceLimit: Duration = .seconds(45)
    /// How many requests may wait for their answers; the default is 1,000.
    public var requestLimit = 1_000
    /// How many notifications an observation keeps for its reader; the default is 1,000.
    ///
    /// When one more comes the oldest is dropped, and the next one has the gap.
    public var bufferCountLimit = 1_000
    /// How many bytes these have; the default is 16 MiB.
    public var bufferByteLimit = 16 << 20
    /// The largest frame that is taken from the broker, in bytes; the default is 32 MiB.
    public var messageByteLimit = 32 << 20

    /// Makes options with the defaults.
    public init() {}
}
