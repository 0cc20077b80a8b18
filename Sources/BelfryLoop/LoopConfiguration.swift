/// The limits and times of an event loop.
public struct LoopConfiguration: Equatable, Sendable {
    /// How many connections are served.
    ///
    /// Connections above it are `.refused`. The default is 900.
    public var connectionLimit = 900
    /// How many refused connections may be open, for their answers.
    ///
    /// More are sent the refusal of their listener, as far as their sockets take it, and are
    /// closed. The default is 64.
    public var refusalLimit = 64
    /// How many bytes one read brings at most, unless the one before brought as many.
    ///
    /// So a connection costs little before it is known as one that sends much. The default is 4
    /// KiB.
    public var firstReadByteLimit = 4 << 10
    /// How many bytes all connections that send much are read in one turn.
    ///
    /// Past it they line up for the next turn, and connections that send little do not wait for
    /// them. The default is 256 KiB.
    public var turnInputByteLimit = 256 << 10
    /// How long a turn may have lasted when a connection that sends much is read.
    ///
    /// The default is 5 milliseconds.
    public var turnWorkLimit: Duration = .milliseconds(5)
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
    /// A larger one is flushed before. The default is 4 MiB.
    public var outputByteLimit = 4 << 20
    /// How long a flush may take before the loop looks whether something is ready meanwhile.
    ///
    /// The default is 1 millisecond.
    public var flushShare: Duration = .milliseconds(1)
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
    /// How many bytes one connection may have that are not written, with those of this turn.
    ///
    /// The high-water mark is looked at once a turn; this is looked at each time, and a connection
    /// that would get more is closed. The default is 24 MiB.
    public var connectionByteLimit = 24 << 20
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
