import BelfryAccess
import BelfryCenter
import BelfryJSON
import BelfryLoop
import BelfrySystem
import BelfryWire

/// The output of a loop, and the state that its halves share.
///
/// Callers and the host of the centers do not know each other. Both write into the arenas of the
/// event loop through this, and output of one half for a connection is an ``OutboxItem``: the same
/// for a connection of this loop, where it is applied at once, and for one of another loop, where
/// it is applied when it has arrived.
struct Outbox: ~Copyable {
    let number: Int
    let shared: SharedState
    let log: ServerLog
    var configuration: ServerConfiguration
    /// The ping interval as text for welcomes.
    private(set) var pingIntervalText: [UInt8]
    /// Callers without credentials.
    var anonymous: AnonymousCallers
    /// The limits of each kind for one principal or address.
    var shares: SharePolicy
    /// The event loop, with the arenas of output and of frames.
    var loop: EventLoop
    var random = SystemRandom()
    var counters = Counters()
    /// The phase of this loop.
    var life: Life
    /// Offset from the loop's clock to the time of the log, in nanoseconds; nil without a log.
    var logTimeOffset: Int64?
    /// The number of this broker in the names of connections; 0 while it takes no part in a log.
    var seat: UInt32 = 0
    /// The limits that are reached now, and the lines that clients cause.
    var limits = LimitWatch()
    /// The work of this turn.
    var work = WorkMeter()
    /// The items of connections of this loop.
    private var items: [OutboxItem] = []
    /// The number of items that were taken.
    private var takenItemCount = 0
    /// The messages for other loops at the end of the turn, by loop.
    var outbound: [Outbound]
    var frames = FrameCache()
    /// The connections that get one frame, while they are gathered.
    var targets: [ConnectionID] = []
    var compression = Compression()
    /// The content of the answer in the making.
    var content: [UInt8] = []
    var heads = AnswerHeads()

    /// The messages for one other loop at the end of the turn.
    struct Outbound {
        var submissions: [Submission] = []
        var output = RemoteOutput()
        /// Its observers that get one frame, while they are gathered.
        var row = DeliveryRow()
    }

    init(
        number: Int, _ configuration: ServerConfiguration, shared: SharedState, log: ServerLog,
        connectionLimit: Int, kernel: Kernel
    ) throws(SystemCallError) {
        var settings = LoopConfiguration()
        settings.connectionLimit = connectionLimit
        settings.highWaterByteCount = configuration.highWaterByteCount
        settings.lowWaterByteCount = configuration.lowWaterByteCount
        settings.turnWorkLimit = configuration.turnWorkLimit
        var loop = try EventLoop(settings, kernel: kernel)
        // No lease runs while the state is restored.
        if let time = shared.restoredAt { loop.noteMissed(since: time) }
        try loop.attach(shared.mailboxes[number].wake)
        // Idle moments are reported as soon as a center waits for one.
        loop.reportsIdle = false
        self.loop = loop
        self.number = number
        self.shared = shared
        self.log = log
        self.configuration = configuration
        pingIntervalText = JSONWriter.text(seconds: configuration.pingInterval)
        anonymous = AnonymousCallers(configuration)
        shares = SharePolicy(
            configuration, connectionLimit: connectionLimit * configuration.loopCount)
        life = shared.progress == nil ? .running : .starting
        outbound = (0..<configuration.loopCount).map { _ in Outbound() }
    }

    /// Adopts a changed configuration.
    mutating func adopt(_ new: ServerConfiguration) {
        configuration = new
        pingIntervalText = JSONWriter.text(seconds: new.pingInterval)
        anonymous = AnonymousCallers(new)
        shares = SharePolicy(new, connectionLimit: shares.limits.connectionLimit)
    }

    // MARK: Items

    /// Adds an item for a connection of this loop.
    mutating func add(_ content: OutboxItem.Content, to connection: ConnectionNumber) {
        items.append(OutboxItem(connection: connection, content: content))
    }

    /// Whether connections of this loop have items.
    @inline(__always)
    var hasItems: Bool { !items.isEmpty }

    /// Takes the next item of a connection of this loop.
    mutating func takeItem() -> OutboxItem? {
        // Mostly there is one.
        if takenItemCount == 0, items.count == 1 { return items.removeLast() }
        guard takenItemCount < items.count else {
            items.removeAll(keepingCapacity: items.capacity <= 1_024)
            takenItemCount = 0
            return nil
        }
        takenItemCount += 1
        return items[takenItemCount - 1]
    }

    /// Sends bytes on a connection of any loop, with the item for it.
    mutating func send(_ bytes: [UInt8], _ content: OutboxItem.Content, to target: ConnectionNumber)
    {
        guard target.loop == number else {
            outbound[target.loop].output.add(bytes, to: target.rawValue, content)
            return
        }
        let start = loop.output.count
        loop.output.append(contentsOf: bytes)
        loop.send(start..<loop.output.count, to: target.connection, as: content.outputKind)
        if content.changesConnection { add(content, to: target) }
    }

    // MARK: The turn

    /// Whether other work should wait for the next turn: there is much output, or the turn is long.
    @inline(__always)
    var turnIsFull: Bool {
        loop.outputByteCount > Self.shareOutputByteLimit || loop.turnIsLong
    }

    /// Whether an answer that may be large waits for another turn.
    ///
    /// It does if this one is full, or has written something while much is unsent, most of which
    /// belongs to clients that do not read.
    var largeAnswersMustWait: Bool {
        if life.isStopping { return false }
        let isMuchUnsent =
            loop.unsentByteTotal
            > configuration.unsentByteLimit / configuration.loopCount / 8
        return turnIsFull || isMuchUnsent && loop.outputByteCount > Self.littleOutputByteLimit
    }

    /// The output of a turn in bytes after which large answers wait, while much is unsent.
    private static let littleOutputByteLimit = 64 << 10

    /// The output of a turn in bytes after which other work waits.
    static let shareOutputByteLimit = 1 << 20

    /// The time of this turn's commands; with a log the time of the log, about.
    ///
    /// Leases and other times in a center do not run out during a pause (decision 63).
    @inline(__always)
    var commandTime: CommandTime {
        if let logTimeOffset {
            return CommandTime(
                wallMilliseconds: loop.wallNow.milliseconds,
                monotonicNanoseconds: loop.now.nanoseconds + logTimeOffset)
        }
        return CommandTime(
            wallMilliseconds: loop.wallNow.milliseconds,
            monotonicNanoseconds: loop.attendedNanoseconds,
            timerNanoseconds: loop.now.nanoseconds)
    }

    /// The time of a command from which a timer counts.
    ///
    /// Its request may have come after the turn began, and a timer is never early (rule L2).
    var arrivalTime: CommandTime {
        let (fresh, wall) = loop.freshTimes
        let time = commandTime
        return CommandTime(
            wallMilliseconds: wall.milliseconds, monotonicNanoseconds: time.monotonicNanoseconds,
            timerNanoseconds: time.timerNanoseconds + fresh.nanoseconds - loop.now.nanoseconds)
    }

    /// The expiry of a caller's credentials.
    func credentialDeadline(of caller: Caller) -> MonotonicTime {
        guard caller.expiresAt != .max else { return .distantFuture }
        let left = caller.expiresAt.subtractingReportingOverflow(loop.wallNow.milliseconds)
        let (nanoseconds, overflow) = left.partialValue.multipliedReportingOverflow(by: 1_000_000)
        let (time, isLate) = loop.now.nanoseconds.addingReportingOverflow(nanoseconds)
        return left.overflow || overflow || isLate
            ? .distantFuture : MonotonicTime(nanoseconds: time)
    }

    /// The bytes that wait for the socket of a client; nil if it is on another loop or broker.
    func unsentByteCount(of client: ClientRow) -> Int? {
        if client.state == .disconnected || client.transport == .mailbox { return 0 }
        guard client.connection.node == seat else { return nil }
        let target = ConnectionNumber(client.connection)
        return target.loop == number ? loop.unsentByteCount(of: target.connection) : nil
    }
}
