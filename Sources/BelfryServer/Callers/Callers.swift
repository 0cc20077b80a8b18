import BelfryCenter
import BelfryLoop
import BelfryWebSocket
import BelfryWire

/// The connections of one loop and what is spoken on them: bytes in, a ``CallerStep`` or an answer out.
///
/// It knows no center. `begin` and `next` read what has arrived on a connection, one request or message at a
/// time; what a center must do is handed out, and `apply` lets a connection go on once the center has
/// answered. What connections have for centers besides lies in `departing`.
struct Callers: ~Copyable {
    let shared: SharedState
    /// The connections by slot of the loop.
    var connections = ConnectionTable()
    /// The TLS sessions; nil where no listener speaks TLS.
    var tls: TLSTable?
    /// Listeners from this number on speak TLS.
    var firstSecureListener = Int.max
    /// Who may ask.
    var gate: Gate
    var timeouts: Timeouts
    let requestReader: RequestReader
    /// The request that is read; one serves all connections in turn.
    var exchange: Exchange
    /// What reads messages; one serves all connections in turn.
    var reader: MessageReader
    /// What had been inflated when the turn began.
    var inflatedBeforeTurn = 0
    /// The unfinished input of all connections.
    let unfinishedTotal: ByteTotal
    var unsentWatch: ShareWatch
    var unfinishedWatch: ShareWatch
    var throttled = ThrottledLine()
    /// Connections whose answers are kept back, by the ticket that these wait for.
    var corked = Line<(ticket: UInt64, connection: ConnectionID)>()
    /// The ticket of this turn: what was corked in it is still read.
    var ticket: UInt64 = 1
    /// Connections whose input has waited and can be read now.
    var ready = Line<ConnectionID>()
    /// What connections have told their centers, to which there is no answer.
    var departing: [Submission] = []
    /// The loop that gets the next connection of the listeners that all loops share.
    var nextSeat = 0

    init(
        _ configuration: ServerConfiguration, shared: SharedState, shares: SharePolicy,
        unfinishedTotal: ByteTotal
    ) {
        self.shared = shared
        self.unfinishedTotal = unfinishedTotal
        gate = Gate(configuration, shared)
        timeouts = Timeouts(configuration)
        unsentWatch = ShareWatch(share: shares.limits.leastUnsent)
        unfinishedWatch = ShareWatch(share: shares.limits.leastUnfinished)
        requestReader = RequestReader(limits: configuration.wireLimits)
        exchange = Exchange(limits: configuration.httpLimits)
        reader = MessageReader(
            role: .server,
            limits: MessageLimits(messageByteLimit: configuration.messageByteLimit))
    }

    /// Takes a configuration that has changed.
    mutating func adopt(_ configuration: ServerConfiguration, shares: SharePolicy) {
        gate.adopt(configuration)
        timeouts = Timeouts(configuration)
        exchange = Exchange(limits: configuration.httpLimits)
        reader = MessageReader(
            role: .server,
            limits: MessageLimits(messageByteLimit: configuration.messageByteLimit))
        unsentWatch = ShareWatch(share: shares.limits.leastUnsent)
        unfinishedWatch = ShareWatch(share: shares.limits.leastUnfinished)
    }
}

/// What somebody asks that callers cannot answer alone.
///
/// It is small, as it is handed out of several functions: what is long stays in the exchange.
enum CallerStep {
    /// A plain post to the default center, which anybody may make.
    case plainPost(Notification.Content)
    /// The post of the exchange: anybody may make it, and it has nothing unusual.
    case usualPost
    /// What the exchange asks of a center.
    case request
    /// The calls of the message that was read.
    case calls
    /// The metrics, which are made once a turn for all who ask.
    case metrics
}

/// Connections whose input waits for the next turn.
struct ThrottledLine {
    var connections: [ConnectionID] = []
    /// The turn in which the last of them was told to wait.
    var turn: UInt64 = .max
    /// Whether the timer that lets them go on is set.
    var isTimerSet = false
}
