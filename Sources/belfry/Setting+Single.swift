import BelfryAccess
import BelfryCenter
import BelfryJSON
import BelfryServer
import BelfrySystem
import BelfryWire
import Logging

// The options that are like no other.
extension Setting {
    static let listen = Setting(
        name: "listen", form: "HOST:PORT",
        help: "Listen on this address. Port 0 takes a free port and logs it; `none` turns plain "
            + "HTTP off. `[::]` takes IPv6 alone, and `0.0.0.0` IPv4: give both for both.",
        isRepeatable: true,
        read: { (text, settings) throws(Fault) in
            // Nowhere: for a broker that speaks TLS alone.
            settings.server.listenAddresses = text == "none" ? [] : try addresses(text)
        },
        show: { settings in
            let texts = settings.server.listenAddresses.map(\.description)
            return texts.isEmpty ? .text("none") : .texts(texts)
        })

    static let tlsListen = Setting(
        name: "tls-listen", form: "HOST:PORT",
        help: "Listen on this address for TLS. It needs --tls-cert and --tls-key.",
        isRepeatable: true,
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
                throw Fault(
                    text: "`\(word)` is not HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080. HOST "
                        + "is an IP address or `localhost`, PORT is 0 to 65535.")
            }
            addresses.append(address)
        }
        guard !addresses.isEmpty else { throw Fault(text: "It needs an address.") }
        return addresses
    }

    static let grants = Setting(
        name: "anonymous-grants", form: "GRANTS",
        help: "What all callers without credentials may do, wherever they are: verbs separated by "
            + "commas, or JSON grants with names, objects and centers.",
        unset: "for programs of the broker's own user on this machine, and of root, everything but "
            + "admin and forever where it listens on loopback alone, else nothing",
        read: { (text, settings) throws(Fault) in
            do throws(GrantList.Fault) {
                settings.anonymousGrants = try GrantList(text)
            } catch {
                throw Fault(text: error.text)
            }
        },
        // Unset it is not one value: as a value it would hold for all.
        show: { settings in settings.anonymousGrants.map { .grants($0) } ?? .null })

    static let origins = Setting(
        name: "allow-origin", form: "ORIGIN",
        help: "Let web pages of this origin use the broker: https://app.example, "
            + "https://*.example, http://localhost:* or *.",
        unset: "the broker's own origin; on loopback all loopback origins",
        isRepeatable: true,
        read: { (text, settings) throws(Fault) in
            let words = Words.split(text)
            if let word = words.first(where: { !OriginPolicy.isPattern($0) }) {
                throw Fault(
                    text: "`\(word)` is not an origin. Write https://app.example, "
                        + "https://*.example, http://localhost:* or *.")
            }
            settings.server.allowedOrigins = words
        },
        show: { .texts($0.server.allowedOrigins) })

    static let connections = Setting(
        name: "max-connections", form: "N",
        help: "Connections at one time. The start fails when the process may not have that many "
            + "descriptors.",
        range: "1 to 8000000", unset: "90 % of the descriptors, or as many as have memory",
        read: { (text, settings) throws(Fault) in
            settings.server.connectionLimit = try number(text, in: 1...8_000_000)
        },
        show: { settings in settings.server.connectionLimit.map { .integer($0) } ?? .null })

    static let addressConnections = Setting(
        name: "max-connections-per-address", form: "N",
        help: "Connections of one address; `none` means no limit.", range: "1 to 10000000",
        unset: "no limit",
        read: { (text, settings) throws(Fault) in
            settings.server.addressConnectionLimit =
                text == "none" ? nil : try number(text, in: 1...10_000_000)
        },
        show: { settings in settings.server.addressConnectionLimit.map { .integer($0) } ?? .null })

    static let data = Setting(
        name: "data", form: "DIR",
        help:
            "The directory for what must survive a restart. One process at a time uses it.",
        read: { (text, settings) throws(Fault) in
            guard !text.isEmpty, !text.utf8.contains(0) else {
                throw Fault(text: "It needs the name of a directory.")
            }
            settings.dataDirectory = text
            settings.namesDataDirectory = true
        },
        show: { .text($0.dataDirectory) })

    static let durability = Setting(
        name: "durability", form: "power|process",
        help: "What an answer survives: the loss of power (each commit waits for the disk), or the "
            + "death of the process.",
        read: { (text, settings) throws(Fault) in
            switch text {
            case "power": settings.server.durability = .power
            case "process": settings.server.durability = .process
            default: throw Fault(text: "`\(text)` is not power or process.")
            }
        },
        show: { .text($0.server.durability == .power ? "power" : "process") })

    static let commonModes = Setting(
        name: "common-modes", form: "MODE,...",
        help: "The modes that the mode `common` stands for.",
        read: { (text, settings) throws(Fault) in
            let modes = Words.split(text)
            for mode in modes
            where mode.unicodeScalars.count > settings.server.wireLimits.nameScalarLimit
                || mode.utf8.elementsEqual(Mode.common)
            {
                throw Fault(
                    text: "`\(mode)` is not a mode. A mode has at most "
                        + "\(settings.server.wireLimits.nameScalarLimit) characters, and is not "
                        + "common itself.")
            }
            guard !modes.isEmpty else { throw Fault(text: "It needs the name of a mode.") }
            settings.server.centerLimits.commonModes = modes.map { Array($0.utf8) }
        },
        show: { settings in
            .texts(
                settings.server.centerLimits.commonModes.map { String(decoding: $0, as: UTF8.self) }
            )
        })

    static let archives = Setting(
        name: "archives", form: "JSON",
        help: "The archives of each center, as in `[{\"name\":\"Order\",\"count\":1000}]`; the "
            + "fields are those of PUT /v1/archives, with name or namePrefix.",
        unset: "none",
        read: { (text, settings) throws(Fault) in
            do throws(Problem) {
                settings.archives = try ArchiveRequest.configured(in: text.utf8.span)
                settings.archivesText = text
            } catch {
                let first = error.errors.first.map { "`\(pointer(to: $0.place))` \($0.detail)." }
                throw Fault(
                    text: first ?? #"It is JSON such as [{"name":"Order","count":1000}]."#)
            }
        },
        show: { settings in settings.archivesText.map { .text($0) } ?? .null })

    /// The JSON pointer to a fault in the archives, as from the root of the configuration file.
    private static func pointer(to place: Problem.Place) -> String {
        guard case .pointer(let pointer) = place else { return "/archives" }
        return "/archives\(pointer.description.dropFirst())"
    }

    static let level = Setting(
        name: "log-level", form: "LEVEL",
        help: "Log lines of this level and above: "
            + Logger.Level.allCases.map(\.rawValue).joined(separator: ", ") + ".",
        read: { (text, settings) throws(Fault) in
            guard let level = Logger.Level(rawValue: text) else {
                let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
                throw Fault(text: "`\(text)` is not a level. The levels are \(levels).")
            }
            settings.logLevel = level
        },
        show: { .text($0.logLevel.rawValue) })

    static let format = Setting(
        name: "log-format", form: "text|json", help: "How log lines are written.",
        unset: "text on a terminal, else json",
        read: { (text, settings) throws(Fault) in
            guard let format = LogFormat(rawValue: text) else {
                throw Fault(text: "`\(text)` is not text or json.")
            }
            settings.logFormat = format
        },
        show: { settings in settings.logFormat.map { .text($0.rawValue) } ?? .null })

    static let memoryLimit = Setting(
        name: "memory-limit", form: "SIZE",
        help: "Fit the limits of memory to this much; `none` fits them to the control group alone.",
        range: "32MiB or more", unset: "the limit of the control group, if it has one",
        read: { (text, settings) throws(Fault) in
            guard text != "none" else {
                settings.server.memoryByteLimit = nil
                return
            }
            guard let byteCount = Quantity.byteCount(text), byteCount >= 32 << 20 else {
                throw Fault(text: "`\(text)` is not a size. Write 32MiB or more, or none.")
            }
            settings.server.memoryByteLimit = byteCount
        },
        show: { settings in
            settings.server.memoryByteLimit.map { .text(Quantity.text(byteCount: $0)) } ?? .null
        })

    static let proxies = Setting(
        name: "trust-proxy", form: "CIDR",
        help: "Trust the Forwarded and X-Forwarded-* fields of this proxy address or network.",
        isRepeatable: true,
        read: { (text, settings) throws(Fault) in
            var networks: [Network] = []
            for word in Words.split(text) {
                guard let network = Network(word) else {
                    throw Fault(
                        text: "`\(word)` is not an address or a network such as 10.0.0.0/8.")
                }
                networks.append(network)
            }
            settings.server.trustedProxies = networks
            settings.trustedProxies = Words.split(text)
        },
        show: { .texts($0.trustedProxies) })
}
