import BelfryAccess
import BelfryCenter
import BelfryServer
import BelfrySystem
import BelfryWire
import Logging

/// All that `belfry serve` can be told.
struct Settings {
    var server = ServerConfiguration()
    var anonymousGrants: GrantList?
    /// Where what must last is kept, unless everything is in memory.
    var dataDirectory = "belfry-data"
    var isInMemory = false
    var logLevel = Logger.Level.info
    var logFormat: LogFormat?
    /// Bytes of the log that may wait for their reader; past it lines are lost.
    var logByteLimit = 1 << 20
    /// The networks of `trust-proxy` as they were written.
    var trustedProxies: [String] = []

    init() {
        server.listenAddresses = [.loopback(port: 8080)]
    }

    /// What the broker is to be run with.
    var configuration: ServerConfiguration {
        var configuration = server
        configuration.anonymousGrants = anonymousGrants?.grants
        configuration.dataDirectory = isInMemory ? nil : dataDirectory
        return configuration
    }

    /// What anonymous callers may do in the end.
    var effectiveGrants: GrantList {
        anonymousGrants ?? .whenUnset(isLoopbackOnly: server.isLoopbackOnly)
    }
}

/// One option of `belfry serve`: its name, how its text is read, and how it is told.
///
/// The name is that of the flag and the key of the file; the environment variable is `BELFRY_` and
/// the name in upper case with `_`. Flags win over the environment, that over the file, and that
/// over the defaults (DESIGN section 7).
struct Setting: Sendable {
    /// What is wrong with a text.
    struct Fault: Error, Equatable {
        let text: String
    }

    typealias Path<Value> = any WritableKeyPath<Settings, Value> & Sendable
    typealias Read = @Sendable (String, inout Settings) throws(Fault) -> Void

    let name: String
    let read: Read
    /// The effective value as JSON.
    let show: @Sendable (Settings) -> JSONText

    /// The name of its environment variable.
    var variable: String {
        "BELFRY_" + String(name.map { $0 == "-" ? "_" : Character($0.uppercased()) })
    }

    /// Every option, in the order of DESIGN section 7.
    static let all: [Setting] = usual + limits

    private static let usual: [Setting] = [
        listen, tlsListen, file("tls-cert", \.server.tlsCertificatePath),
        file("tls-key", \.server.tlsKeyPath), count("loops", \.server.loopCount, in: 1...64), data,
        flag("in-memory", \.isInMemory), durability,
        flag("accept-damage", \.server.acceptsDamage),
        size("store-limit", \.server.storeByteLimit, in: (1 << 20)...(1 << 40)),
        origins, list("allow-host", \.server.allowedHosts),
        flag("allow-anonymous", \.server.allowsAnonymous), grants,
        file("keys", \.server.access.keysPath), file("jwks", \.server.access.keySetPath),
        list("jwt-audience", \.server.access.rules.audiences),
        list("jwt-issuer", \.server.access.rules.issuers),
        duration("jwt-leeway", \.server.access.rules.leeway, upTo: .seconds(600)),
        flag("debug-endpoints", \.server.hasDebugEndpoints),
        duration("head-timeout", \.server.headTimeout),
        duration("body-timeout", \.server.bodyTimeout),
        duration("idle-timeout", \.server.idleTimeout),
        size("max-body", \.server.bodyByteLimit, in: 1...(1 << 30)),
        size("max-message", \.server.messageByteLimit, in: 1...(16 << 20)),
        flag("compression", \.server.compressesMessages),
        size("compression-threshold", \.server.compressionThreshold, in: 1...(1 << 20)),
        connections, duration("slow-timeout", \.server.slowTimeout),
        duration("max-wait", \.server.maxWait, upTo: .seconds(60)),
        amount(
            "queue-limit", \.server.centerLimits.queueEntryLimit, \.server.queueByteLimit,
            such: "10000,64MiB"),
        amount(
            "hold-limit", \.server.centerLimits.clientHeldCountLimit, \.server.heldByteLimit,
            such: "10000,256MiB"),
        amount(
            "replay", \.server.centerLimits.replayCountLimit,
            \.server.centerLimits.replayByteLimit, such: "1000,4MiB"),
        duration("orphan-after", \.server.centerLimits.orphanAfter),
        duration("lease", \.server.wireLimits.defaultLease, upTo: .seconds(2_592_000)),
        commonModes, duration("drain", \.server.drainPeriod),
        duration("drain-delay", \.server.drainDelay, from: .zero, upTo: .seconds(3_600)),
        duration("wait-for-data", \.server.dataPatience, from: .zero, upTo: .seconds(3_600)),
        flag("ready-without-store", \.server.isReadyWithoutStore), level, format,
        size("log-buffer", \.logByteLimit, in: 4_096...(1 << 30)),
    ]

    /// The option of this name.
    static func named(_ name: String) -> Setting? {
        all.first { $0.name.utf8.elementsEqual(name.utf8) }
    }
}

// The options that are like no other.
extension Setting {
    private static let listen = Setting(
        name: "listen",
        read: { (text, settings) throws(Fault) in
            // Nowhere: for a broker that speaks TLS alone.
            settings.server.listenAddresses = text == "none" ? [] : try addresses(text)
        },
        show: { settings in
            let texts = settings.server.listenAddresses.map(\.description)
            return texts.isEmpty ? .text("none") : .texts(texts)
        })

    private static let tlsListen = Setting(
        name: "tls-listen",
        read: { (text, settings) throws(Fault) in
            settings.server.tlsListenAddresses = try addresses(text)
        },
        show: { settings in
            let texts = settings.server.tlsListenAddresses.map(\.description)
            return texts.isEmpty ? .null : .texts(texts)
        })

    private static func addresses(_ text: String) throws(Fault) -> [SocketAddress] {
        var addresses: [SocketAddress] = []
        for word in Words.split(text) {
            guard let address = SocketAddress(word) else {
                throw Fault(text: "`\(word)` is no address such as 127.0.0.1:8080")
            }
            addresses.append(address)
        }
        guard !addresses.isEmpty else { throw Fault(text: "there is no address") }
        return addresses
    }

    private static let grants = Setting(
        name: "anonymous-grants",
        read: { (text, settings) throws(Fault) in
            do throws(GrantList.Fault) {
                settings.anonymousGrants = try GrantList(text)
            } catch {
                throw Fault(text: error.text)
            }
        },
        show: { .grants($0.effectiveGrants) })

    private static let origins = Setting(
        name: "allow-origin",
        read: { (text, settings) throws(Fault) in
            let words = Words.split(text)
            if let word = words.first(where: { !OriginPolicy.isPattern($0) }) {
                throw Fault(
                    text: "`\(word)` is no origin such as https://app.example, "
                        + "https://*.example or http://localhost:*")
            }
            settings.server.allowedOrigins = words
        },
        show: { .texts($0.server.allowedOrigins) })

    private static let connections = Setting(
        name: "max-connections",
        read: { (text, settings) throws(Fault) in
            settings.server.connectionLimit = try number(text, in: 1...8_000_000)
        },
        show: { settings in settings.server.connectionLimit.map { .integer($0) } ?? .null })

    private static let data = Setting(
        name: "data",
        read: { (text, settings) throws(Fault) in
            guard !text.isEmpty, !text.utf8.contains(0) else {
                throw Fault(text: "it names no directory")
            }
            settings.dataDirectory = text
        },
        show: { .text($0.dataDirectory) })

    private static let durability = Setting(
        name: "durability",
        read: { (text, settings) throws(Fault) in
            switch text {
            case "power": settings.server.durability = .power
            case "process": settings.server.durability = .process
            default: throw Fault(text: "`\(text)` is neither power nor process")
            }
        },
        show: { .text($0.server.durability == .power ? "power" : "process") })

    private static let commonModes = Setting(
        name: "common-modes",
        read: { (text, settings) throws(Fault) in
            let modes = Words.split(text)
            for mode in modes
            where mode.unicodeScalars.count > settings.server.wireLimits.nameScalarLimit
                || mode.utf8.elementsEqual(Mode.common)
            {
                throw Fault(text: "`\(mode)` is no mode")
            }
            guard !modes.isEmpty else { throw Fault(text: "there is no mode") }
            settings.server.centerLimits.commonModes = modes.map { Array($0.utf8) }
        },
        show: { settings in
            .texts(
                settings.server.centerLimits.commonModes.map { String(decoding: $0, as: UTF8.self) }
            )
        })

    private static let level = Setting(
        name: "log-level",
        read: { (text, settings) throws(Fault) in
            guard let level = Logger.Level(rawValue: text) else {
                let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
                throw Fault(text: "`\(text)` is no level; there are \(levels)")
            }
            settings.logLevel = level
        },
        show: { .text($0.logLevel.rawValue) })

    private static let format = Setting(
        name: "log-format",
        read: { (text, settings) throws(Fault) in
            guard let format = LogFormat(rawValue: text) else {
                throw Fault(text: "`\(text)` is no format; there are text and json")
            }
            settings.logFormat = format
        },
        show: { settings in settings.logFormat.map { .text($0.rawValue) } ?? .null })
}

// The options that are one of many.
extension Setting {
    static func number(_ text: String, in range: ClosedRange<Int>) throws(Fault) -> Int {
        guard let number = Quantity.count(text), range.contains(number) else {
            throw Fault(
                text: "`\(text)` is no number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    static func count(
        _ name: String, _ path: Path<Int>,
        in range: ClosedRange<Int>
    ) -> Setting {
        Setting(
            name: name,
            read: { (text, settings) throws(Fault) in
                settings[keyPath: path] = try number(text, in: range)
            },
            show: { .integer($0[keyPath: path]) })
    }

    /// A count, a size, or both with a comma between.
    static func amount(
        _ name: String, _ countPath: Path<Int>, _ sizePath: Path<Int>, such example: String
    ) -> Setting {
        Setting(
            name: name,
            read: { (text, settings) throws(Fault) in
                let words = Words.split(text)
                let fault = Fault(text: "`\(text)` is no limit such as \(example), or a part of it")
                guard (1...2).contains(words.count) else { throw fault }
                var changed = settings
                for (position, word) in words.enumerated() {
                    if position == 0, let count = Quantity.count(word) {
                        changed[keyPath: countPath] = count
                    } else if position == words.count - 1, Quantity.count(word) == nil,
                        let byteCount = Quantity.byteCount(word)
                    {
                        changed[keyPath: sizePath] = byteCount
                    } else {
                        throw fault
                    }
                }
                settings = changed
            },
            show: { settings in
                let size = Quantity.text(byteCount: settings[keyPath: sizePath])
                let unit = size.last?.isNumber == true ? "B" : ""
                return .text("\(settings[keyPath: countPath]),\(size)\(unit)")
            })
    }

    /// The path of a file, which is read when the broker starts.
    private static func file(_ name: String, _ path: Path<String?>) -> Setting {
        Setting(
            name: name,
            read: { (text, settings) throws(Fault) in
                guard !text.isEmpty, !text.utf8.contains(0) else {
                    throw Fault(text: "it names no file")
                }
                settings[keyPath: path] = text
            },
            show: { settings in settings[keyPath: path].map { .text($0) } ?? .null })
    }

    static func list(
        _ name: String, _ path: Path<[String]>
    ) -> Setting {
        Setting(
            name: name,
            read: { (text, settings) throws(Fault) in
                settings[keyPath: path] = Words.split(text)
            },
            show: { .texts($0[keyPath: path]) })
    }

    private static func flag(
        _ name: String, _ path: Path<Bool>
    ) -> Setting {
        Setting(
            name: name,
            read: { (text, settings) throws(Fault) in
                switch text {
                case "true", "1": settings[keyPath: path] = true
                case "false", "0": settings[keyPath: path] = false
                default: throw Fault(text: "`\(text)` is neither true nor false")
                }
            },
            show: { .boolean($0[keyPath: path]) })
    }

    static func duration(
        _ name: String, _ path: Path<Duration>, from shortest: Duration = .nanoseconds(1),
        upTo longest: Duration = .seconds(366 * 86_400)
    ) -> Setting {
        Setting(
            name: name,
            read: { (text, settings) throws(Fault) in
                guard let duration = Quantity.duration(text), duration >= shortest,
                    duration <= longest
                else {
                    let sentence = "`\(text)` is no duration such as 8s, 500ms or 24h"
                    throw Fault(text: sentence + ", up to \(Quantity.text(longest))")
                }
                settings[keyPath: path] = duration
            },
            show: { .text(Quantity.text($0[keyPath: path])) })
    }

    static func size(
        _ name: String, _ path: Path<Int>,
        in range: ClosedRange<Int>
    ) -> Setting {
        Setting(
            name: name,
            read: { (text, settings) throws(Fault) in
                guard let byteCount = Quantity.byteCount(text), range.contains(byteCount) else {
                    let largest = Quantity.text(byteCount: range.upperBound)
                    throw Fault(text: "`\(text)` is no size such as 1MiB, up to \(largest)")
                }
                settings[keyPath: path] = byteCount
            },
            show: { .text(Quantity.text(byteCount: $0[keyPath: path])) })
    }
}
