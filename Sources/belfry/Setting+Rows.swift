import BelfryAccess
import BelfryCenter
import BelfryServer
import BelfryWire

// All options of `belfry serve`, in the order in which people need them. One more is one row here.
extension Setting {
    /// The options by their purposes.
    static let groups = [
        SettingGroup(title: "Where the broker listens", settings: listening),
        SettingGroup(title: "What callers may do", settings: callers),
        SettingGroup(title: "What lasts", settings: lasting),
        SettingGroup(title: "Cluster", settings: clustering),
        SettingGroup(title: "Log", settings: logging),
        SettingGroup(title: "Posting and observing", settings: observing),
        SettingGroup(title: "Start and stop", settings: running),
        SettingGroup(title: "Rates and shares", settings: rates),
        SettingGroup(title: "Limits of requests and connections", settings: requests),
        SettingGroup(title: "Limits of centers, clients and observers", settings: things),
        SettingGroup(title: "Limits of memory", settings: memory),
    ]

    /// Every option.
    static let all: [Setting] = groups.flatMap(\.settings)

    private static let listening = [
        listen, tlsListen,
        file(
            "tls-cert", \.server.tlsCertificatePath,
            "The certificate and the chain behind it, as PEM. SIGHUP reads it again."),
        file(
            "tls-key", \.server.tlsKeyPath,
            "The private key of the certificate, as PEM and not encrypted."),
    ]

    private static let callers = [
        file(
            "keys", \.server.access.keysPath,
            "The keys of callers, as `belfry gen-token` makes them, and keys of tokens."),
        grants,
        flag(
            "allow-anonymous", \.server.allowsAnonymous,
            "Listen on an address that is not loopback without keys."),
        origins,
        list(
            "allow-host", \.server.allowedHosts, form: "HOST", unset: "loopback names",
            "Answer requests for this host name too; * is any name."),
        file(
            "jwks", \.server.access.keySetPath,
            "A JSON Web Key Set: the keys that tokens are signed with."),
        list(
            "jwt-audience", \.server.access.rules.audiences, form: "NAME", unset: "no `aud`",
            "A name of this broker that a token must have in `aud`."),
        list(
            "jwt-issuer", \.server.access.rules.issuers, form: "NAME", unset: "any `iss`",
            "An issuer of tokens, which they must have in `iss`."),
        duration(
            "jwt-leeway", \.server.access.rules.leeway, upTo: .seconds(600),
            "How far an issuer's clock may be ahead."),
        proxies,
    ]

    private static let lasting = [
        data, flag("in-memory", \.isInMemory, "Keep nothing on disk: a restart loses everything."),
        durability,
        size(
            "store-limit", \.server.storeByteLimit, in: (1 << 20)...(1 << 40),
            "Disk space that the store may use. Past it the broker promises nothing new."),
        flag(
            "accept-damage", \.server.acceptsDamage,
            "Start with a damaged store, without its lost rows; the log says what is lost."),
        duration(
            "wait-for-data", \.server.dataPatience, from: .zero, upTo: .seconds(3_600),
            "How long the start waits for a data directory that is in use."),
        flag(
            "ready-without-store", \.server.isReadyWithoutStore,
            "Answer /readyz with 200 also while the store cannot write."),
    ]

    private static let clustering = [
        servers(
            "engine", \.cluster.servers, for: .clients, such: "nats://10.0.0.1:4222",
            """
            Take part in a cluster whose log this server of NATS JetStream keeps; name all of \
            them. Nothing is kept on this machine then.
            """),
        servers(
            "engine-monitor", \.cluster.monitors, for: .monitoring, such: "http://10.0.0.1:8222",
            """
            The monitoring port of a server of the engine; name those of all. A start is refused \
            where one answers before it has written to its disk, unless --durability is process.
            """),
        name(
            "cluster", \.cluster.name,
            "The name of the cluster, the same for all its brokers: letters, digits and hyphens."),
        name(
            "node", \.cluster.node,
            "The name of this broker, unique in the cluster."
        ),
        count(
            "cluster-revision", \.cluster.revision, in: 1...1_000_000_000,
            """
            The revision of the limits of centers: all brokers have those of the highest one. \
            Raise it to change them.
            """
        ),
        count(
            "engine-replicas", \.cluster.replicaCount, in: 1...5,
            "How many servers of the engine keep a copy of the log. It never changes."),
        size(
            "log-limit", \.cluster.logByteLimit, in: (16 << 20)...(1 << 40),
            "The largest size of the cluster's log in the engine."),
        size(
            "snapshot-limit", \.cluster.snapshotByteLimit, in: (16 << 20)...(1 << 40),
            "The largest size of all snapshots in the engine; one may use a third of it."),
        name(
            "engine-user", \.cluster.user,
            "User name for the NATS server; needs --engine-password-file."),
        file(
            "engine-password-file", \.cluster.passwordPath,
            "The file whose first line is the password of --engine-user."),
        file(
            "engine-token-file", \.cluster.tokenPath,
            "The file whose first line is a token that the broker shows the engine."),
        file(
            "engine-ca", \.cluster.authoritiesPath,
            """
            The PEM file of the authorities that the engine's certificates are checked by, and \
            nothing is said without TLS.
            """
        ),
        file(
            "engine-cert", \.cluster.certificatePath,
            "The PEM file of a certificate that the broker shows the engine; it needs --engine-key."
        ),
        file(
            "engine-key", \.cluster.keyPath, "The PEM file of the key of --engine-cert."),
        duration(
            "down-after", \.cluster.downAfter, from: .milliseconds(200), upTo: .seconds(60),
            "How long a broker may be silent before the others declare it gone."),
        duration(
            "fence-after", \.cluster.fenceAfter, from: .milliseconds(100), upTo: .seconds(59),
            """
            How long a broker without contact waits before it closes its clients; less than \
            --down-after.
            """
        ),
        duration(
            "quorum-wait", \.cluster.quorumWait, from: .seconds(1), upTo: .seconds(3_600),
            "How long the log may stall before a broker closes its clients."),
        size(
            "snapshot-every", \.cluster.snapshotByteCount, in: (1 << 20)...(1 << 40),
            "How much the log grows between two snapshots."),
    ]

    private static let logging = [
        level, format,
        size(
            "log-buffer", \.logByteLimit, in: 4_096...(1 << 30),
            "Log lines buffered for a slow reader, in bytes; more are dropped and counted."),
    ]

    private static let observing = [
        duration(
            "lease", \.server.wireLimits.defaultLease, upTo: .seconds(2_592_000),
            "How long an observer is kept without a connection by default; a mailbox 24h."
        ),
        duration(
            "orphan-after", \.server.centerLimits.orphanAfter,
            "How long a client may be away before its observers are listed as leaks."),
        duration(
            "max-wait", \.server.maxWait, upTo: .seconds(60),
            "The longest that a post waits for its observers, or a poll for a notification."),
        amount(
            "replay", \.server.centerLimits.replayCountLimit,
            \.server.centerLimits.replayByteLimit, such: "1000,4MiB",
            "Notifications that a center keeps for clients that come back, and their bytes."),
        amount(
            "archive-limit", \.server.centerLimits.archiveLimit,
            \.server.centerLimits.archiveByteLimit, such: "1000,256MiB",
            "Archives of a center, and the bytes that all of them may keep."),
        archives,
        amount(
            "hold-limit", \.server.centerLimits.clientHeldCountLimit, \.server.heldByteLimit,
            such: "10000,256MiB", "Notifications held for one client, and bytes held for all."),
        amount(
            "queue-limit", \.server.centerLimits.queueEntryLimit, \.server.queueByteLimit,
            such: "10000,64MiB", "Entries of a center's queue, and bytes of all queues."),
        amount(
            "ask-limit", \.server.centerLimits.askLimit, \.server.askByteLimit,
            such: "10000,64MiB",
            "Open asks of a center, and bytes of all, with the results for posts that wait."),
        amount(
            "timer-limit", \.server.centerLimits.timerLimit, \.server.timerByteLimit,
            such: "100000,256MiB",
            "Posts of a center that enter the queue later, and bytes of all of them."),
        amount(
            "value-limit", \.server.centerLimits.valueLimit, \.server.valueByteLimit,
            such: "100000,64MiB", "Values of a center, and bytes of all."),
        commonModes,
        duration(
            "center-idle-timeout", \.server.centerIdleTimeout, from: .seconds(1),
            "How long an empty center stays after its last command."),
        flag(
            "compression", \.server.compressesMessages,
            "Compress WebSocket messages for clients that offer it."),
        size(
            "compression-threshold", \.server.compressionThreshold, in: 1...(1 << 20),
            "The smallest message or content that is compressed."),
    ]

    private static let running = [
        count("loops", \.server.loopCount, in: 1...64, "Event loops, each on its own thread."),
        duration(
            "drain", \.server.drainPeriod,
            "How long closing all connections may take after SIGTERM."),
        duration(
            "drain-delay", \.server.drainDelay, from: .zero, upTo: .seconds(3_600),
            "How long the broker keeps working after SIGTERM, while /readyz already answers 503."),
        flag(
            "debug-endpoints", \.server.hasDebugEndpoints,
            "Serve /debug/echo and /debug/ws, for tests."),
    ]

    private static let rates = [
        rate(
            "address-rate", \.server.addressRate,
            "Requests and calls a second of one address, and in a burst; `none` means no limit."),
        rate(
            "principal-rate", \.server.principalRate,
            "Requests and calls a second of one principal, and in a burst; `none` means no limit."),
        connections, addressConnections,
        count(
            "principal-share", \.server.principalShare, in: 1...100, form: "PERCENT",
            "The percentage of each limit of the whole broker that one principal may use."),
        count(
            "address-share", \.server.addressShare, in: 1...100, form: "PERCENT",
            "The percentage of each such limit that one address may use, unless it is loopback."),
    ]

    private static let requests = [
        duration(
            "head-timeout", \.server.headTimeout, "How long the head of a request may take."),
        duration(
            "body-timeout", \.server.bodyTimeout, "How long the content of a request may take."),
        duration(
            "idle-timeout", \.server.idleTimeout,
            "How long a connection may be silent between requests."),
        duration(
            "slow-timeout", \.server.slowTimeout,
            "How long a client that does not read is kept."),
        duration(
            "store-answer-timeout", \.server.storeAnswerTimeout,
            "How long an answer may wait for the store before it is 504 `outcome-unknown`."),
        duration(
            "ping-interval", \.server.pingInterval,
            "The silence after which a WebSocket is pinged."),
        duration(
            "pong-timeout", \.server.pongTimeout, "How long the answer to a ping may take."),
        size("max-body", \.server.bodyByteLimit, in: 1...(1 << 30), "Content of a request."),
        size(
            "max-message", \.server.messageByteLimit, in: 1...(16 << 20),
            "A WebSocket message, after inflation."),
        size(
            "max-user-info", \.server.wireLimits.userInfoByteLimit, in: 2...(16 << 20),
            "A userInfo."),
        count(
            "max-depth", \.server.wireLimits.userInfoDepthLimit, in: 1...128,
            "Levels of a userInfo."),
        count(
            "max-batch", \.server.wireLimits.batchItemLimit, in: 1...10_000,
            "Notifications or calls of a batch."),
        count(
            "max-batch-deliveries", \.server.batchDeliveryLimit, in: 1...100_000_000,
            "Deliveries and conditions of a batch of more than one notification."),
        size(
            "max-request-line", \.server.requestLineByteLimit, in: 256...65_536,
            "The line of a request."),
        size("max-field", \.server.fieldLineByteLimit, in: 256...65_536, "A field of a request."),
        count("max-fields", \.server.fieldCountLimit, in: 16...1_000, "Fields of a request."),
        size(
            "high-water", \.server.highWaterByteCount, in: 4_096...(1 << 30),
            "Unsent bytes that make a client slow."),
        size(
            "low-water", \.server.lowWaterByteCount, in: 1...(1 << 30),
            "Unsent bytes at which a client is no longer slow."),
    ]

    private static let things = [
        count(
            "max-observers", \.server.observerLimit, in: 1...100_000_000,
            "Observers of the broker."),
        count(
            "max-client-observers", \.server.centerLimits.clientObserverLimit, in: 1...1_000_000,
            "Observers of a client."),
        count("max-centers", \.server.centerLimit, in: 1...1_000_000, "Centers."),
        count(
            "max-mode-stack", \.server.centerLimits.modeStackLimit, in: 1...1_000,
            "Modes that a center may be in at once."),
        count(
            "observer-hold-limit", \.server.wireLimits.defaultHoldLimit, in: 1...10_000,
            "Notifications held for an observer that does not ask for a holdLimit."),
        size(
            "client-hold-limit", \.server.centerLimits.clientHeldByteLimit, in: 1...(1 << 40),
            "Bytes held for a client."),
        count(
            "tombstone-limit", \.server.centerLimits.tombstoneLimit, in: 1...10_000_000,
            "Removed observers that a center remembers."),
        amount(
            "fate-limit", \.server.centerLimits.fateLimit,
            \.server.centerLimits.answerMemoryLimit, such: "100000,32MiB",
            "Posts and asks whose fates a center remembers, and bytes of the answers among them."),
        duration(
            "ask-fate-age", \.server.centerLimits.askFateLifetime, from: .seconds(300),
            upTo: .seconds(30 * 86_400),
            "For how long the end of a stored ask is kept; in a cluster 5m, as of all others."),
        amount(
            "key-limit", \.server.centerLimits.keyLimit, \.server.centerLimits.keyByteLimit,
            such: "100000,32MiB", "Idempotency keys that a center remembers, and their bytes."),
        count(
            "unmatched-limit", \.server.centerLimits.unobservedNameLimit, in: 1...10_000_000,
            "Names without an observer that a center remembers."),
        count(
            "max-prefixes", \.server.centerLimits.prefixLimit, in: 1...10_000_000,
            "Distinct prefixes of names and objects that the observers of a center have."),
        count(
            "max-conditions", \.server.centerLimits.conditionLimit, in: 1...10_000_000,
            "Distinct conditions (where) that the observers of a center have."),
    ]

    private static let memory = [
        memoryLimit,
        size(
            "unsent-limit", \.server.unsentByteLimit, in: (1 << 20)...(1 << 40),
            "Unsent bytes of all connections."),
        size(
            "unfinished-limit", \.server.unfinishedByteLimit, in: (1 << 20)...(1 << 40),
            "Bytes of all requests and messages that have not fully arrived."),
        memory(.connections, \.server.memory.connections, "Memory of open connections."),
        memory(.observers, \.server.memory.observers, "Memory of observers and their clients."),
        memory(.channels, \.server.memory.channels, "Memory of names with their counts."),
        memory(.centers, \.server.memory.centers, "Memory of the centers themselves."),
        memory(.replay, \.server.memory.replay, "Memory of all replay rings."),
        memory(.keys, \.server.memory.keys, "Memory of all idempotency keys."),
        memory(.fates, \.server.memory.fates, "Memory of the fates of posts."),
        memory(
            .tombstones, \.server.memory.tombstones,
            "Memory of the tombstones of removed observers."
        ),
        memory(.held, \.server.memory.held, "Memory of notifications that are held for clients."),
        memory(
            .queue, \.server.memory.queue, "Memory of all queues, open asks, timers and values."),
        memory(.archives, \.server.memory.archives, "Memory of all archives with their indexes."),
    ]
}
