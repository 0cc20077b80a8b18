import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWebSocket
import BelfryWire

/// The connections of one loop and their protocols: bytes in, a ``CallerStep`` or an answer out.
///
/// It knows no center. `begin` and `next` read the input of a connection, one request or message at
/// a time; work for a center is handed out, and `apply` lets a connection continue once the center
/// has answered. Notes of connections for centers are in `departing`.
struct Callers: ~Copyable {
    let shared: SharedState
    /// The connections by slot of the loop.
    var connections: ConnectionTable
    var entrance = Entrance()
    /// The checks of requests.
    var gate: Gate
    let requestReader: RequestReader
    /// The request that is being read; one serves all connections in turn.
    var exchange: Exchange
    /// The reader of messages; one serves all connections in turn.
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

    /// Adopts a changed configuration.
    mutating func adopt(_ configuration: ServerConfiguration, shares: SharePolicy) {
        gate.adopt(configuration)
        connections.timeouts = Timeouts(configuration)
        exchange = Exchange(limits: configuration.httpLimits)
        messages = SharedReader(configuration)
        connections.unsentWatch = ShareWatch(share: shares.limits.leastUnsent)
        unfinishedWatch = ShareWatch(share: shares.limits.leastUnfinished)
    }
}

/// A request that callers cannot answer alone.
///
/// It is small, as several functions return it: the large parts stay in the exchange.
enum CallerStep {
    /// A post that every caller may make, and whose answer has the usual form.
    case post(Notification.Content, PostOptions?)
    /// The request of a center in the exchange.
    case request
    /// The calls of the message that was read.
    case calls
    /// The metrics, which are made once a turn for all requests.
    case metrics
    /// The state of the broker, with the points of its history that have higher numbers.
    case overview(since: UInt64)
    /// The state of the broker in its cluster.
    case cluster
    /// The recovery of the cluster's log with the state of this broker.
    case recovery
    /// A ticket that the log may have, and the digest by which its request waits for the verdict.
    case ticket(SecretHash, TokenDigest)
}
