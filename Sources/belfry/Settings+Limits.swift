import BelfryAccess
import BelfryCenter
import BelfryServer
import BelfryWire

// Options that few need: every limit can be set (DESIGN section 6).
extension Setting {
    /// Limits of what is read, kept and sent, and of rates.
    static let limits: [Setting] = [
        size("max-request-line", \.server.requestLineByteLimit, in: 256...65_536),
        size("max-field", \.server.fieldLineByteLimit, in: 256...65_536),
        count("max-fields", \.server.fieldCountLimit, in: 16...1_000),
        count("max-batch", \.server.wireLimits.batchItemLimit, in: 1...10_000),
        count("max-batch-deliveries", \.server.batchDeliveryLimit, in: 1...100_000_000),
        size("max-user-info", \.server.wireLimits.userInfoByteLimit, in: 2...(16 << 20)),
        count("max-depth", \.server.wireLimits.userInfoDepthLimit, in: 1...128),
        count("max-observers", \.server.observerLimit, in: 1...100_000_000),
        count("max-client-observers", \.server.centerLimits.clientObserverLimit, in: 1...1_000_000),
        count("max-centers", \.server.centerLimit, in: 1...1_000_000),
        duration("center-idle-timeout", \.server.centerIdleTimeout, from: .seconds(1)),
        count("max-mode-stack", \.server.centerLimits.modeStackLimit, in: 1...1_000),
        count("observer-hold-limit", \.server.wireLimits.defaultHoldLimit, in: 1...10_000),
        size("client-hold-limit", \.server.centerLimits.clientHeldByteLimit, in: 1...(1 << 40)),
        size("high-water", \.server.highWaterByteCount, in: 4_096...(1 << 30)),
        size("low-water", \.server.lowWaterByteCount, in: 1...(1 << 30)),
        size("unsent-limit", \.server.unsentByteLimit, in: (1 << 20)...(1 << 40)),
        size("unfinished-limit", \.server.unfinishedByteLimit, in: (1 << 20)...(1 << 40)),
        count("tombstone-limit", \.server.centerLimits.tombstoneLimit, in: 1...10_000_000),
        count("fate-limit", \.server.centerLimits.fateLimit, in: 1...10_000_000),
        amount(
            "key-limit", \.server.centerLimits.keyLimit, \.server.centerLimits.keyByteLimit,
            such: "100000,32MiB"),
        count("unmatched-limit", \.server.centerLimits.unobservedNameLimit, in: 1...10_000_000),
        memoryLimit,
        memory(.connections, \.server.memory.connections),
        memory(.observers, \.server.memory.observers),
        memory(.channels, \.server.memory.channels), memory(.centers, \.server.memory.centers),
        memory(.replay, \.server.memory.replay), memory(.keys, \.server.memory.keys),
        memory(.fates, \.server.memory.fates),
        memory(.tombstones, \.server.memory.tombstones), memory(.held, \.server.memory.held),
        memory(.queue, \.server.memory.queue),
        count("principal-share", \.server.principalShare, in: 1...100),
        count("address-share", \.server.addressShare, in: 1...100),
        duration("ping-interval", \.server.pingInterval),
        duration("pong-timeout", \.server.pongTimeout),
        rate("address-rate", \.server.addressRate),
        rate("principal-rate", \.server.principalRate),
        addressConnections, proxies,
    ]

    /// The memory of one kind of things, over the whole broker.
    private static func memory(_ kind: MemoryKind, _ path: Path<Int>) -> Setting {
        size(kind.option, path, in: (1 << 20)...(1 << 40))
    }

    private static let memoryLimit = Setting(
        name: "memory-limit",
        read: { (text, settings) throws(Fault) in
            guard text != "none" else {
                settings.server.memoryByteLimit = nil
                return
            }
            guard let byteCount = Quantity.byteCount(text), byteCount >= 32 << 20 else {
                throw Fault(text: "`\(text)` is no size of at least 32MiB, and not none")
            }
            settings.server.memoryByteLimit = byteCount
        },
        show: { settings in
            settings.server.memoryByteLimit.map { .text(Quantity.text(byteCount: $0)) } ?? .null
        })

    private static let addressConnections = Setting(
        name: "max-connections-per-address",
        read: { (text, settings) throws(Fault) in
            settings.server.addressConnectionLimit =
                text == "none" ? nil : try number(text, in: 1...10_000_000)
        },
        show: { settings in settings.server.addressConnectionLimit.map { .integer($0) } ?? .null })

    private static let proxies = Setting(
        name: "trust-proxy",
        read: { (text, settings) throws(Fault) in
            var networks: [Network] = []
            for word in Words.split(text) {
                guard let network = Network(word) else {
                    throw Fault(
                        text: "`\(word)` is no address and no network such as 10.0.0.0/8")
                }
                networks.append(network)
            }
            settings.server.trustedProxies = networks
            settings.trustedProxies = Words.split(text)
        },
        show: { .texts($0.trustedProxies) })

    /// `100` or `100,500`: requests a second, and at once; `none` is no limit.
    private static func rate(_ name: String, _ path: Path<RateLimit?>) -> Setting {
        Setting(
            name: name,
            read: { (text, settings) throws(Fault) in
                if text == "none" {
                    settings[keyPath: path] = nil
                    return
                }
                let words = Words.split(text).map { Quantity.count($0) }
                guard (1...2).contains(words.count), let rate = words[0],
                    let burst = words.count == 2 ? words[1] : rate,
                    let limit = RateLimit(rate: rate, burst: burst)
                else {
                    throw Fault(
                        text: "`\(text)` is no rate such as 100 or 100,500, and not none; a rate "
                            + "is at most \(RateLimit.greatestRate)")
                }
                settings[keyPath: path] = limit
            },
            show: { settings in
                settings[keyPath: path].map { .text("\($0.rate),\($0.burst)") } ?? .null
            })
    }
}
