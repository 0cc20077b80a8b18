/// The limits and times of an event loop.
public struct LoopConfiguration: Equatable, Sendable {
    /// How many connections are served.
    ///
    /// What comes beyond is `.refused`. The default is 900.
    public var connectionLimit = 900
    /// How many refused connections may be open, for their answers; more are closed at once.
    ///
    /// The default is 64.
    public var refusalLimit = 64
    /// How many connections one listener takes in a turn.
    ///
    /// The default is 64.
    public var acceptLimit = 64
    /// How long listeners rest when descriptors run out, unless a connection closes before.
    ///
    /// The default is 100 milliseconds.
    public var acceptRest: Duration = .milliseconds(100)
    /// How many bytes the output arena may have when an event is handed out.
    ///
    /// A larger one is flushed before. The default is 16 MiB.
    public var outputByteLimit = 16 << 20
    /// The capacity that the empty output arena keeps, in bytes.
    ///
    /// The default is 4 MiB.
    public var keptOutputByteLimit = 4 << 20
    /// The count of unsent bytes past which a connection is over its high-water mark.
    ///
    /// The default is 1 MiB.
    public var highWaterByteCount = 1 << 20
    /// The count of unsent bytes at or under which it is drained again.
    ///
    /// The default is 256 KiB.
    public var lowWaterByteCount = 256 << 10
    /// How long a closing connection may take to flush.
    ///
    /// The default is 10 seconds.
    public var closeFlushTimeout: Duration = .seconds(10)
    /// How long a flushed connection waits for the peer's end.
    ///
    /// The default is 2 seconds.
    public var lingerTimeout: Duration = .seconds(2)
    /// How many bytes a closing connection reads and discards.
    ///
    /// The default is 1 MiB.
    public var lingerByteLimit = 1 << 20
    /// How far apart two sweeps for connection deadlines are.
    ///
    /// The default is 250 milliseconds.
    public var deadlineSweepInterval: Duration = .milliseconds(250)

    /// Creates the default configuration.
    public init() {}
}
