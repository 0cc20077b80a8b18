import ArgumentParser

/// The flags of `belfry serve`: their texts are read where those of file and environment are.
struct ServeOptions: ParsableArguments {
    @Option(help: .value("Where to listen; port 0 picks one; none is nowhere.", "HOST:PORT"))
    var listen: [String] = []

    @Option(help: .value("Where to listen for TLS; port 0 picks one.", "HOST:PORT"))
    var tlsListen: [String] = []

    @Option(help: .value("The certificate and the chain behind it, as PEM.", "FILE"))
    var tlsCert: String?

    @Option(help: .value("The private key of the certificate, as PEM.", "FILE"))
    var tlsKey: String?

    @Option(help: .value("A file with options as a JSON object.", "FILE"))
    var config: String?

    @Option(help: .value("How many event loops there are.", "N"))
    var loops: String?

    @Option(help: .value("An origin of web pages that may use the broker.", "ORIGIN"))
    var allowOrigin: [String] = []

    @Option(help: .value("A host name that the broker answers to; * is any.", "HOST"))
    var allowHost: [String] = []

    @OptionGroup(title: "Limits") var limits: LimitOptions

    @Flag(inversion: .prefixedNo, help: "Take callers without credentials on any address.")
    var allowAnonymous: Bool?

    @Option(help: .value("What they may do: verbs with commas, or JSON.", "GRANTS"))
    var anonymousGrants: String?

    @Option(help: .value("A file with the keys of callers, as gen-token makes them.", "FILE"))
    var keys: String?

    @Option(help: .value("A JSON Web Key Set: the keys that tokens are signed with.", "FILE"))
    var jwks: String?

    @Option(help: .value("A name of this broker that tokens must be for.", "NAME"))
    var jwtAudience: [String] = []

    @Option(help: .value("Who may issue tokens.", "NAME"))
    var jwtIssuer: [String] = []

    @Option(help: .value("How far an issuer's clock may be ahead.", "TIME"))
    var jwtLeeway: String?

    @Flag(inversion: .prefixedNo, help: "Have /debug/echo and /debug/ws.")
    var debugEndpoints: Bool?

    @Option(help: .value("How long the head of a request may take.", "TIME"))
    var headTimeout: String?

    @Option(help: .value("How long the content of a request may take.", "TIME"))
    var bodyTimeout: String?

    @Option(help: .value("How long a connection may be silent between requests.", "TIME"))
    var idleTimeout: String?

    @Option(help: .value("The largest content of a request.", "SIZE"))
    var maxBody: String?

    @Option(help: .value("The largest WebSocket message.", "SIZE"))
    var maxMessage: String?

    @Flag(inversion: .prefixedNo, help: "Compress WebSocket messages where a client offers it.")
    var compression: Bool?

    @Option(help: .value("The smallest message or content that is compressed.", "SIZE"))
    var compressionThreshold: String?

    @Option(help: .value("How many connections there may be.", "N"))
    var maxConnections: String?

    @Option(help: .value("Where what must last is kept.", "DIR"))
    var data: String?

    @Flag(inversion: .prefixedNo, help: "Keep everything in memory: nothing lasts.")
    var inMemory: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Start with a damaged store, without what is lost; the log says what that is.")
    var acceptDamage: Bool?

    @Option(help: .value("What a commit survives: the loss of power, or of the process.", "WHAT"))
    var durability: String?

    @Option(help: .value("How much the store may use.", "SIZE"))
    var storeLimit: String?

    @Option(help: .value("How long a client that does not read is kept.", "TIME"))
    var slowTimeout: String?

    @Option(help: .value("The longest that a post waits for its observers.", "TIME"))
    var maxWait: String?

    @Option(help: .value("Entries of a queue, and bytes of all, such as 10000,64MiB.", "N[,SIZE]"))
    var queueLimit: String?

    @Option(help: .value("Held for a client, and bytes for all, such as 10000,256MiB.", "N[,SIZE]"))
    var holdLimit: String?

    @Option(help: .value("After which time an observer without a client is a leak.", "TIME"))
    var orphanAfter: String?

    @Option(help: .value("How long an observer outlives its connection by default.", "TIME"))
    var lease: String?

    @Option(help: .value("The modes that `common` stands for.", "MODE,..."))
    var commonModes: String?

    @Option(help: .value("What a center keeps for replay, such as 1000,4MiB.", "N[,SIZE]"))
    var replay: String?

    @Option(help: .value("How long closing all connections may take at the end.", "TIME"))
    var drain: String?

    @Option(help: .value("How long it works on when it is asked to stop, not ready.", "TIME"))
    var drainDelay: String?

    @Option(help: .value("How long to wait for data that another process has.", "TIME"))
    var waitForData: String?

    @Flag(inversion: .prefixedNo, help: "Be ready also while the store cannot write.")
    var readyWithoutStore: Bool?

    @Option(help: .value("trace, debug, info, notice, warning, error or critical.", "LEVEL"))
    var logLevel: String?

    @Option(help: .value("text or json; by default text on a terminal.", "FORMAT"))
    var logFormat: String?

    @Option(help: .value("Bytes of the log that may wait for their reader.", "SIZE"))
    var logBuffer: String?

    /// The texts of the flags that were given, by option name.
    var texts: [String: String] {
        var texts: [String: String] = [
            "tls-cert": tlsCert, "tls-key": tlsKey, "loops": loops,
            "anonymous-grants": anonymousGrants, "head-timeout": headTimeout,
            "body-timeout": bodyTimeout, "idle-timeout": idleTimeout, "max-body": maxBody,
            "max-message": maxMessage, "max-connections": maxConnections, "replay": replay,
            "data": data, "in-memory": inMemory.map { "\($0)" }, "durability": durability,
            "accept-damage": acceptDamage.map { "\($0)" },
            "store-limit": storeLimit, "slow-timeout": slowTimeout, "max-wait": maxWait,
            "queue-limit": queueLimit, "hold-limit": holdLimit, "orphan-after": orphanAfter,
            "lease": lease, "common-modes": commonModes, "drain": drain, "log-level": logLevel,
            "log-format": logFormat, "log-buffer": logBuffer, "keys": keys, "jwks": jwks,
            "jwt-leeway": jwtLeeway,
            "compression": compression.map { "\($0)" },
            "compression-threshold": compressionThreshold,
            "allow-anonymous": allowAnonymous.map { "\($0)" },
            "debug-endpoints": debugEndpoints.map { "\($0)" }, "drain-delay": drainDelay,
            "wait-for-data": waitForData,
            "ready-without-store": readyWithoutStore.map { "\($0)" },
        ].compactMapValues { $0 }
        texts.merge(limits.texts) { $1 }
        let lists = [
            "listen": listen, "tls-listen": tlsListen, "allow-origin": allowOrigin,
            "allow-host": allowHost, "jwt-audience": jwtAudience, "jwt-issuer": jwtIssuer,
        ]
        for (name, values) in lists where !values.isEmpty {
            texts[name] = values.joined(separator: ",")
        }
        return texts
    }

    /// The settings that these flags, the environment and the file give.
    func settings() throws(ToolError) -> Settings {
        var reader = SettingsReader()
        reader.flags = texts
        reader.configPath = config
        reader.environment = try Environment.variables()
        return try reader.settings()
    }
}

extension ArgumentHelp {
    /// Help with the name of the value.
    static func value(_ text: String, _ name: String) -> ArgumentHelp {
        ArgumentHelp(text, valueName: name)
    }
}
