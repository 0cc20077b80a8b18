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
    var policies: AccessPolicies
    var credentials: Credentials
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
        policies = AccessPolicies(configuration)
        shared.rates.adopt(configuration)
        credentials = Credentials(configuration.keyring)
        unfinishedWatch = ShareWatch(share: shares.limits.leastUnfinished)
        requestReader = RequestReader(limits: configuration.wireLimits)
        exchange = Exchange(limits: configuration.httpLimits)
        messages = SharedReader(configuration)
    }

    /// Takes a configuration that has changed.
    mutating func adopt(_ configuration: ServerConfiguration, shares: SharePolicy) {
        policies = AccessPolicies(configuration)
        shared.rates.adopt(configuration)
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

/// Where requests may come from.
struct AccessPolicies {
    let origin: OriginPolicy
    let host: HostPolicy
    let proxy: ProxyPolicy
    /// Whether there is any limit of rates.
    let hasRates: Bool
    /// The host name that was allowed last.
    var allowedHost: [UInt8] = []

    init(_ configuration: ServerConfiguration) {
        origin = OriginPolicy(
            allowed: configuration.allowedOrigins, allowsLoopback: configuration.isLoopbackOnly)
        host = HostPolicy(configuration)
        proxy = ProxyPolicy(trusted: configuration.trustedProxies)
        hasRates = configuration.hasRates
    }

    /// Whether the address of a request matters: otherwise nobody asks for it.
    var needsOrigin: Bool { hasRates || !proxy.isEmpty }
}

/// What credentials are good, and which of them are not known yet.
struct Credentials {
    var keyring: Keyring
    /// The callers of tokens that were verified lately.
    var verdicts = VerdictCache()
    /// The connections that wait for a verdict, by the digest of their token.
    var waiting: [TokenDigest: [ConnectionID]] = [:]

    init(_ keyring: Keyring?) {
        self.keyring = keyring ?? Keyring()
    }
}
