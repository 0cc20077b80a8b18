/// How a client behaves towards its broker.
public struct ClientOptions: Equatable, Sendable {
    /// Whether a lost connection is made again, with all observers and what they missed.
    ///
    /// What an observer of lifetime `connection` missed comes from the broker's replay ring, what one
    /// of lifetime `token` missed was held for it too (`ObserverOptions.lifetime`).
    /// The first connection is tried once in any case. The default is false.
    public var reconnects = false
    /// The longest pause before the first attempt to reconnect; each pause is random.
    ///
    /// It doubles with each attempt that fails. The default is 250 milliseconds.
    public var firstPause: Duration = .milliseconds(250)
    /// What the longest pause grows to; the default is 30 seconds.
    public var longestPause: Duration = .seconds(30)
    /// How long a connection may take until it is welcomed; the default is 10 seconds.
    public var openingTimeout: Duration = .seconds(10)
    /// How long an answer may take; the default is 30 seconds.
    public var requestTimeout: Duration = .seconds(30)
    /// How long removing the observers and closing may take; the default is 2 seconds.
    public var closeTimeout: Duration = .seconds(2)
    /// How long the broker may be silent until it is sent a ping, and then until it counts as lost.
    ///
    /// The default is 45 seconds.
    public var silenceLimit: Duration = .seconds(45)
    /// How many requests may wait for their answers; the default is 1,000.
    public var requestLimit = 1_000
    /// How many notifications an observation keeps for its reader; the default is 1,000.
    ///
    /// When one more comes the oldest is dropped, and the next one tells of the gap.
    public var bufferCountLimit = 1_000
    /// How many bytes these have; the default is 16 MiB.
    public var bufferByteLimit = 16 << 20
    /// The largest frame that is taken from the broker, in bytes; the default is 4 MiB.
    public var messageByteLimit = 4 << 20

    /// Takes the defaults.
    public init() {}
}
