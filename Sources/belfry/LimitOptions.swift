import ArgumentParser

/// The flags of `belfry serve` for limits that few need to change.
struct LimitOptions: ParsableArguments {
    @Option(help: .value("The longest request line.", "SIZE"))
    var maxRequestLine: String?

    @Option(help: .value("The longest field of a request.", "SIZE"))
    var maxField: String?

    @Option(help: .value("How many fields a request may have.", "N"))
    var maxFields: String?

    @Option(help: .value("How many notifications or calls a batch may have.", "N"))
    var maxBatch: String?

    @Option(help: .value("How often the notifications of a batch may be delivered.", "N"))
    var maxBatchDeliveries: String?

    @Option(help: .value("The largest userInfo.", "SIZE"))
    var maxUserInfo: String?

    @Option(help: .value("How deep a userInfo may nest.", "N"))
    var maxDepth: String?

    @Option(help: .value("How many observers there may be.", "N"))
    var maxObservers: String?

    @Option(help: .value("How many observers a client may have.", "N"))
    var maxClientObservers: String?

    @Option(help: .value("How many centers there may be.", "N"))
    var maxCenters: String?

    @Option(help: .value("How long a center that has nothing stays.", "TIME"))
    var centerIdleTimeout: String?

    @Option(help: .value("How many modes a center may be in at once.", "N"))
    var maxModeStack: String?

    @Option(help: .value("Held for an observer that asks for no holdLimit.", "N"))
    var observerHoldLimit: String?

    @Option(help: .value("Bytes held for a client.", "SIZE"))
    var clientHoldLimit: String?

    @Option(help: .value("Unsent bytes that make a client slow.", "SIZE"))
    var highWater: String?

    @Option(help: .value("Unsent bytes at which it is not slow any more.", "SIZE"))
    var lowWater: String?

    @Option(help: .value("Unsent bytes of all connections.", "SIZE"))
    var unsentLimit: String?

    @Option(help: .value("Bytes of all requests and messages that have not fully arrived.", "SIZE"))
    var unfinishedLimit: String?

    @Option(help: .value("The memory that limits are fitted to.", "SIZE"))
    var memoryLimit: String?

    @Option(help: .value("Memory of open connections.", "SIZE"))
    var connectionMemory: String?

    @Option(help: .value("Memory of observers and their clients.", "SIZE"))
    var observerMemory: String?

    @Option(help: .value("Memory of names with their counts.", "SIZE"))
    var channelMemory: String?

    @Option(help: .value("Memory of centers, whatever they keep.", "SIZE"))
    var centerMemory: String?

    @Option(help: .value("Memory of all replay rings.", "SIZE"))
    var replayMemory: String?

    @Option(help: .value("Memory of all idempotency keys.", "SIZE"))
    var keyMemory: String?

    @Option(help: .value("Memory of what became of posts.", "SIZE"))
    var fateMemory: String?

    @Option(help: .value("Memory of what remains of removed observers.", "SIZE"))
    var tombstoneMemory: String?

    @Option(help: .value("Memory of what is held for clients.", "SIZE"))
    var holdMemory: String?

    @Option(help: .value("Memory of all queues.", "SIZE"))
    var queueMemory: String?

    @Option(help: .value("Hundredths of each kind that one principal may fill.", "PERCENT"))
    var principalShare: String?

    @Option(help: .value("Hundredths of each kind that one address may fill.", "PERCENT"))
    var addressShare: String?

    @Option(help: .value("Removed observers that a center remembers.", "N"))
    var tombstoneLimit: String?

    @Option(help: .value("Posts whose fate a center remembers.", "N"))
    var fateLimit: String?

    @Option(help: .value("Idempotency keys of a center, such as 100000,32MiB.", "N[,SIZE]"))
    var keyLimit: String?

    @Option(help: .value("Names without an observer that a center remembers.", "N"))
    var unmatchedLimit: String?

    @Option(help: .value("After which silence a WebSocket is pinged.", "TIME"))
    var pingInterval: String?

    @Option(help: .value("How long the answer to a ping may take.", "TIME"))
    var pongTimeout: String?

    @Option(help: .value("Requests and calls a second of one address, and at once.", "N[,BURST]"))
    var addressRate: String?

    @Option(help: .value("Requests and calls a second of one principal, and at once.", "N[,BURST]"))
    var principalRate: String?

    @Option(help: .value("How many connections one address may have.", "N"))
    var maxConnectionsPerAddress: String?

    @Option(help: .value("A proxy, or a network of them, whose word on clients is taken.", "CIDR"))
    var trustProxy: [String] = []

    /// The texts of the flags that were given, by option name.
    var texts: [String: String] {
        var texts: [String: String] = [
            "max-request-line": maxRequestLine, "max-field": maxField, "max-fields": maxFields,
            "max-batch": maxBatch,
            "max-batch-deliveries": maxBatchDeliveries, "max-user-info": maxUserInfo,
            "max-depth": maxDepth,
            "max-observers": maxObservers, "max-client-observers": maxClientObservers,
            "max-centers": maxCenters, "center-idle-timeout": centerIdleTimeout,
            "max-mode-stack": maxModeStack,
            "observer-hold-limit": observerHoldLimit, "client-hold-limit": clientHoldLimit,
            "high-water": highWater, "low-water": lowWater, "unsent-limit": unsentLimit,
            "unfinished-limit": unfinishedLimit, "tombstone-limit": tombstoneLimit,
            "fate-limit": fateLimit, "key-limit": keyLimit, "unmatched-limit": unmatchedLimit,
            "memory-limit": memoryLimit, "connection-memory": connectionMemory,
            "observer-memory": observerMemory, "channel-memory": channelMemory,
            "center-memory": centerMemory, "replay-memory": replayMemory,
            "key-memory": keyMemory, "fate-memory": fateMemory,
            "tombstone-memory": tombstoneMemory, "hold-memory": holdMemory,
            "queue-memory": queueMemory,
            "principal-share": principalShare, "address-share": addressShare,
            "ping-interval": pingInterval, "pong-timeout": pongTimeout,
            "address-rate": addressRate, "principal-rate": principalRate,
            "max-connections-per-address": maxConnectionsPerAddress,
        ].compactMapValues { $0 }
        if !trustProxy.isEmpty { texts["trust-proxy"] = trustProxy.joined(separator: ",") }
        return texts
    }
}
