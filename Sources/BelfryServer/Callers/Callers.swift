import BelfryAccess
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
    var connections: ConnectionTable
    var entrance = Entrance()
    /// Who may ask.
    var gate: Gate
    let requestReader: RequestReader
    /// The request that is read; one serves all connections in turn.
    var exchange: Exchange
    /// What reads messages; one serves all connections in turn.
    var messages: SharedReader
    var unfinishedWatch: ShareWatch

    init(
        _ configuration: ServerConfiguration, shared: SharedState, shares: SharePolicy,
        unfinishedTotal: ByteTotal
    ) {
        self.shared = shared
        connections = ConnectionTable(
            Timeouts(configuration), unfinishedTotal: unfinishedTotal,
            unsentShare: shares.limits.leastUnsent)
        gate = Gate(configuration, shared)
        unfinishedWatch = ShareWatch(share: shares.limits.leastUnfinished)
        requestReader = RequestReader(limits: configuration.wireLimits)
        exchange = Exchange(limits: configuration.httpLimits)
        messages = SharedReader(configuration)
    }

    /// Takes a configuration that has changed.
    mutating func adopt(_ configuration: ServerConfiguration, shares: SharePolicy) {
        gate.adopt(configuration)
        connections.timeouts = Timeouts(configuration)
        exchange = Exchange(limits: configuration.httpLimits)
        messages = SharedReader(configuration)
        connections.unsentWatch = ShareWatch(share: shares.limits.leastUnsent)
        unfinishedWatch = ShareWatch(share: shares.limits.leastUnfinished)
    }
}

/// What somebody asks that callers cannot answer alone.
///
/// It is small, as it is handed out of several functions: what is long stays in the exchange.
enum CallerStep {
    /// A post that anybody may make, and of whose answer nothing is unusual.
    case post(Notification.Content, PostOptions?)
    /// What the exchange asks of a center.
    case request
    /// The calls of the message that was read.
    case calls
    /// The metrics, which are made once a turn for all who ask.
    case metrics
    /// How the broker stands, with the points of its history that have higher numbers.
    case overview(since: UInt64)
    /// How the broker stands with its cluster.
    case cluster
    /// The log of the cluster goes on with the state of this broker.
    case recovery
    /// A ticket that the log of the cluster may have, and the digest under which a request waits for the verdict.
    case ticket(SecretHash, TokenDigest)
}
