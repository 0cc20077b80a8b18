import BelfryHTTP

public import BelfryAccess
public import BelfryCenter
public import BelfrySystem
public import BelfryWire

/// All options of a broker at its start (Options.md).
public struct ServerConfiguration: Sendable {
    /// The addresses to listen on; port 0 picks one.
    public var listenAddresses: [SocketAddress] = []
    /// The addresses to listen on with TLS; port 0 picks one.
    public var tlsListenAddresses: [SocketAddress] = []
    /// The file of the certificate and the chain behind it, as PEM text.
    public var tlsCertificatePath: String?
    /// The file of the certificate's private key, as PEM text.
    public var tlsKeyPath: String?
    /// The number of event loops, each on a thread of its own; the default is 1.
    public var loopCount = 1
    /// Origins of web pages that may use the broker besides its own (`*` is any).
    public var allowedOrigins: [String] = []
    /// Host names that the broker answers to besides loopback names (`*` is any).
    public var allowedHosts: [String] = []
    /// Whether callers without credentials are taken on an address that is not loopback.
    public var allowsAnonymous = false
    /// The grants of all callers without credentials; nil takes the default.
    ///
    /// By default local callers have `Grants.loopbackDefault` where only this machine reaches the
    /// broker, and others have none.
    public var anonymousGrants: Grants?
    /// The files with the callers' keys, and the rules for their tokens.
    public var access = AccessConfiguration()
    /// The keys themselves, once they were read; nil where they stay as they are.
    var keyring: Keyring?
    /// The cluster that the broker takes part in; nil for a broker of its own.
    public var cluster: ClusterConfiguration?
    /// Whether `/debug/echo` and `/debug/ws` exist.
    public var hasDebugEndpoints = false
    /// The time for a request head from its first byte; the default is 10 s.
    public var headTimeout: Duration = .seconds(10)
    /// The time for a request body from the end of the head; the default is 30 s.
    public var bodyTimeout: Duration = .seconds(30)
    /// The time that a connection may be silent between requests; the default is 75 s.
    public var idleTimeout: Duration = .seconds(75)
    /// The time that an answer may wait for the store before it is 504; the default is 10 s.
    public var storeAnswerTimeout: Duration = .seconds(10)
    /// The silence of a WebSocket after which it gets a ping; the default is 25 s.
    public var pingInterval: Duration = .seconds(25)
    /// The time for the answer to a ping; the default is 30 s.
    public var pongTimeout: Duration = .seconds(30)
    /// The interval of comments on a silent event stream; the default is 15 s.
    public var commentInterval: Duration = .seconds(15)
    /// The largest request body in bytes; the default is 1 MiB.
    public var bodyByteLimit = 1 << 20
    /// The largest WebSocket message in bytes; the default is 1 MiB.
    public var messageByteLimit = 1 << 20
    /// The longest request line in bytes; the default is 8 KiB.
    public var requestLineByteLimit = 8 << 10
    /// The longest field line in bytes; the default is 8 KiB.
    public var fieldLineByteLimit = 8 << 10
    /// The most fields of a request; the default is 100.
    public var fieldCountLimit = 100
    /// Whether WebSocket messages are compressed where a client offers it; the default is true.
    public var compressesMessages = true
    /// The smallest message or content, in bytes, that is compressed; the default is 256.
    ///
    /// Below it most text loses less than a quarter, and it costs as much as encoding it.
    public var compressionThreshold = 256
    /// The most connections; nil takes 90 % of the limit of descriptors, less 16.
    public var connectionLimit: Int?
    /// Unsent bytes of a connection past which its client is slow; the default is 1 MiB.
    public var highWaterByteCount = 1 << 20
    /// Unsent bytes of a connection at which its client is not slow any more; 256 KiB.
    public var lowWaterByteCount = 256 << 10
    /// Bytes that may wait for full sockets in all; past it the slowest are closed; 128 MiB.
    public var unsentByteLimit = 128 << 20
    /// Bytes of requests and messages that have not fully arrived, in all; past it the largest go.
    ///
    /// The default is 24 MiB.
    public var unfinishedByteLimit = 24 << 20
    /// Networks of trusted proxies, whose word on the client's address counts.
    public var trustedProxies: [Network] = []
    /// The rate of requests and calls of an address; nil is any.
    public var addressRate: RateLimit?
    /// The rate of requests and calls of a principal; nil is any.
    public var principalRate: RateLimit?
    /// The most connections of an address; nil is any.
    public var addressConnectionLimit: Int?
    /// The percentage of each kind of memory that one principal may fill; the default is 25.
    public var principalShare = 25
    /// The percentage of each kind that one address, not loopback, may fill; the default is 25.
    public var addressShare = 25
    /// The time that a client may stay slow before it is closed with 4008; the default is 60 s.
    public var slowTimeout: Duration = .seconds(60)
    /// The longest time that a post may wait for its observers; the default is 60 s.
    public var maxWait: Duration = .seconds(60)
    /// Bytes that all queues may hold; past it posts that would be queued are refused; 64 MiB.
    public var queueByteLimit = 64 << 20
    /// Bytes that all open asks may have; past it asks are refused; 64 MiB.
    public var askByteLimit = 64 << 20
    /// Bytes that all timers may have; past it posts that would be timers are refused; 256 MiB.
    public var timerByteLimit = 256 << 20
    /// Canonical bytes that all values may have; past it those that grow are refused; 64 MiB.
    public var valueByteLimit = 64 << 20
    /// Bytes that may be held for suspended clients in all; past it the oldest go; 256 MiB.
    public var heldByteLimit = 256 << 20
    /// The memory that the limits below are fitted to; nil takes the limit of the control group.
    public var memoryByteLimit: Int?
    /// The limits of memory by kind.
    public var memory = MemoryLimits()
    /// The directory of the store; nil keeps everything in memory.
    public var dataDirectory: String?
    /// The failure that a commit of the store must survive; the default is the loss of power.
    public var durability = Durability.power
    /// Whether a start accepts a damaged store, and goes without its unreadable rows.
    public var acceptsDamage = false
    /// Bytes that the store may use; past it nothing new is promised; the default is 1 GiB.
    public var storeByteLimit = 1 << 30
    /// The most observers in all centers; the default is 1,000,000.
    public var observerLimit = 1_000_000
    /// The most deliveries of the notifications of one batch; the default is 100,000.
    public var batchDeliveryLimit = 100_000
    /// The most centers; the default is 1,000.
    public var centerLimit = 1_000
    /// The time that an empty center stays after its last command; the default is 10 minutes.
    public var centerIdleTimeout: Duration = .seconds(600)
    /// The limits of each center.
    public var centerLimits = CenterLimits()
    /// The limits that each center has: in a cluster all fates are kept for as long.
    var heldCenterLimits: CenterLimits { cluster == nil ? centerLimits : centerLimits.ofLog }
    /// The limits of input in the wire formats.
    public var wireLimits = WireLimits()
    /// The length of a turn past which its other work waits for the next; the default is 5 ms.
    public var turnWorkLimit: Duration = .milliseconds(5)
    /// The time that the broker works on, not ready, after a stop signal; the default is 0 s.
    public var drainDelay: Duration = .zero
    /// The time that a start waits for a data directory in use; the default is 0 s.
    public var dataPatience: Duration = .zero
    /// Whether `/readyz` is 200 also while the store cannot write; the default is false.
    public var isReadyWithoutStore = false
    /// The time for closing all connections at a clean stop; the default is 30 s.
    public var drainPeriod: Duration = .seconds(30)

    /// The failure that a commit of the store must survive.
    public enum Durability: Sendable, CaseIterable {
        /// The loss of power: each commit waits for the disk.
        case power
        /// The end of the process, also by kill -9.
        case process
    }

    /// Takes the defaults.
    public init() {}

    /// The reason why a configuration cannot be served.
    ///
    /// - Returns: a sentence for the person who wrote it; nil when all is well.
    public func fault() -> String? {
        if allAddresses.isEmpty { return "There is no address to listen on." }
        if !(1...64).contains(loopCount) { return "The number of loops must be from 1 to 64." }
        if lowWaterByteCount > highWaterByteCount {
            return """
                A client cannot stop being slow above the bytes that make it slow: low-water is \
                over high-water.
                """
        }
        if let fault = tlsFault() { return fault }
        if let fault = clusterFault() { return fault }
        let foreign = allAddresses.first { !$0.isLoopback }
        if let foreign, !allowsAnonymous, !access.hasFiles {
            return """
                \(foreign) can be reached from other machines, and callers need no key. Listen on \
                127.0.0.1, give callers keys with --keys or --jwks, or say --allow-anonymous and \
                what callers may do, for example --anonymous-grants post,observe.
                """
        }
        return nil
    }

    /// Whether requests are counted at all.
    var hasRates: Bool { addressRate != nil || principalRate != nil }

    /// The reason why the options of a cluster and the others contradict each other.
    private func clusterFault() -> String? {
        guard let cluster else { return nil }
        if cluster.servers.isEmpty { return "A cluster needs its engine: say --engine." }
        if dataDirectory != nil {
            return "The log of a cluster keeps everything: say --engine or --data, not both."
        }
        if loopCount != 1 { return "A broker of a cluster has one loop: say --loops 1." }
        if !centerLimits.archives.isEmpty {
            return """
                Brokers of a cluster keep no archives yet: remove archives from the configuration \
                file, or --engine.
                """
        }
        if cluster.replicaCount < 3, durability == .power {
            return """
                A log with fewer than three copies does not survive the loss of power everywhere: \
                say --engine-replicas 3, or --durability process.
                """
        }
        return cluster.fault()
    }

    /// The reason why certificate, key and addresses for TLS do not belong together.
    private func tlsFault() -> String? {
        switch (tlsListenAddresses.isEmpty, tlsCertificatePath, tlsKeyPath) {
        case (true, nil, nil), (false, _?, _?): nil
        case (_, _?, nil): "A certificate needs its key: say --tls-key."
        case (_, nil, _?): "A key needs its certificate: say --tls-cert."
        case (false, nil, nil): "TLS needs a certificate and its key: say --tls-cert and --tls-key."
        case (true, _?, _?): "Nothing uses the certificate: say --tls-listen."
        }
    }

    /// All addresses to listen on, with TLS or without.
    private var allAddresses: [SocketAddress] { listenAddresses + tlsListenAddresses }

    /// The addresses as text for the log.
    var addressTexts: [String] {
        listenAddresses.map(\.description) + tlsListenAddresses.map { "https://\($0)" }
    }

    /// The URL of the console for a browser on this machine; empty where it is not reached from
    /// here.
    var consoleText: String {
        func text(_ scheme: String, _ address: SocketAddress) -> String? {
            let host: String
            switch address.host {
            case "127.0.0.1", "::1", "0.0.0.0", "::": host = "localhost"
            case let other: host = other.utf8.contains(UInt8(ascii: ":")) ? "[\(other)]" : other
            }
            return "\(scheme)://\(host):\(address.port)/"
        }
        return listenAddresses.first.flatMap { text("http", $0) }
            ?? tlsListenAddresses.first.flatMap { text("https", $0) } ?? ""
    }

    /// Whether only this machine can reach the broker.
    public var isLoopbackOnly: Bool { allAddresses.allSatisfy(\.isLoopback) }

    /// Whether no request can come from another machine, as far as the configuration shows.
    var hasOnlyLoopbackClients: Bool { isLoopbackOnly && trustedProxies.isEmpty }

    /// Whether local callers may do more without credentials than others (decision 112).
    public var favorsLocalCallers: Bool { anonymousGrants == nil && isLoopbackOnly }
}

extension ServerConfiguration {
    /// The limits of requests.
    var httpLimits: HTTPLimits {
        var limits = HTTPLimits()
        limits.bodyByteLimit = bodyByteLimit
        limits.requestLineByteLimit = requestLineByteLimit
        limits.fieldLineByteLimit = fieldLineByteLimit
        limits.fieldCountLimit = fieldCountLimit
        // A line and a field of the greatest length fit into a head.
        limits.headByteLimit = max(
            limits.headByteLimit, requestLineByteLimit + 2 * fieldLineByteLimit)
        return limits
    }
}
