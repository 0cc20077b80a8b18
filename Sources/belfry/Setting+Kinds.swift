import BelfryAccess
import BelfryServer
import BelfrySystem

// The options that are one of many: numbers, sizes, times, switches, files and lists.
extension Setting {
    static func number(_ text: String, in range: ClosedRange<Int>) throws(Fault) -> Int {
        guard let number = Quantity.count(text), range.contains(number) else {
            throw Fault(
                text: "`\(text)` is not a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    static func count(
        _ name: String, _ path: Path<Int>, in range: ClosedRange<Int>, form: String = "N",
        _ help: String
    ) -> Setting {
        Setting(
            name: name, form: form, help: help,
            range: "\(range.lowerBound) to \(range.upperBound)",
            read: { (text, settings) throws(Fault) in
                settings[keyPath: path] = try number(text, in: range)
            },
            show: { .integer($0[keyPath: path]) })
    }

    static func size(
        _ name: String, _ path: Path<Int>, in range: ClosedRange<Int>, _ help: String
    ) -> Setting {
        let shortest = Quantity.text(byteCount: range.lowerBound)
        let largest = Quantity.text(byteCount: range.upperBound)
        return Setting(
            name: name, form: "SIZE", help: help, range: "\(shortest) to \(largest)",
            read: { (text, settings) throws(Fault) in
                guard let byteCount = Quantity.byteCount(text) else {
                    throw Fault(
                        text: "`\(text)` is not a size. Write 512KiB or 1MiB; "
                            + "the largest is \(largest).")
                }
                guard range.contains(byteCount) else {
                    throw Fault(text: "`\(text)` is not from \(shortest) to \(largest).")
                }
                settings[keyPath: path] = byteCount
            },
            show: { .text(Quantity.text(byteCount: $0[keyPath: path])) })
    }

    static func duration(
        _ name: String, _ path: Path<Duration>, from shortest: Duration = .milliseconds(1),
        upTo longest: Duration = .seconds(366 * 86_400), _ help: String
    ) -> Setting {
        let range = "\(Quantity.text(shortest)) to \(Quantity.text(longest))"
        return Setting(
            name: name, form: "TIME", help: help, range: range,
            read: { (text, settings) throws(Fault) in
                guard let duration = Quantity.duration(text) else {
                    throw Fault(
                        text: "`\(text)` is not a time. Write 500ms, 8s, 5m, 24h or 30d; "
                            + "the longest is \(Quantity.text(longest)).")
                }
                guard duration >= shortest, duration <= longest else {
                    throw Fault(text: "`\(text)` is out of range: write \(range).")
                }
                settings[keyPath: path] = duration
            },
            show: { .text(Quantity.text($0[keyPath: path])) })
    }

    /// A count, a size, or both with a comma between.
    static func amount(
        _ name: String, _ countPath: Path<Int>, _ sizePath: Path<Int>, such example: String,
        _ help: String
    ) -> Setting {
        Setting(
            name: name, form: "N[,SIZE]", help: help,
            read: { (text, settings) throws(Fault) in
                let words = Words.split(text)
                let fault = Fault(
                    text: "`\(text)` is not a limit. Write a number and a size, such as "
                        + "\(example), or one of them.")
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
    static func file(_ name: String, _ path: Path<String?>, _ help: String) -> Setting {
        Setting(
            name: name, form: "FILE", help: help,
            read: { (text, settings) throws(Fault) in
                guard !text.isEmpty, !text.utf8.contains(0) else {
                    throw Fault(text: "It needs the name of a file.")
                }
                settings[keyPath: path] = text
            },
            show: { settings in settings[keyPath: path].map { .text($0) } ?? .null })
    }

    /// Servers of the engine; they are named one by one, or separated by commas.
    static func servers(
        _ name: String, _ path: Path<[EngineServer]>, for service: EngineServer.Service,
        such example: String, _ help: String
    ) -> Setting {
        let form = service == .clients ? "nats://HOST:PORT" : "http://HOST:PORT"
        return Setting(
            name: name, form: form, help: help, isRepeatable: true,
            read: { (text, settings) throws(Fault) in
                var servers: [EngineServer] = []
                for word in Words.split(text) {
                    guard let server = EngineServer(word, for: service) else {
                        throw Fault(text: "`\(word)` is not \(form), such as \(example).")
                    }
                    servers.append(server)
                }
                guard !servers.isEmpty else { throw Fault(text: "It needs an address.") }
                settings[keyPath: path] = servers
            },
            show: {
                let servers = $0[keyPath: path]
                return servers.isEmpty ? .null : .texts(servers.map(\.text))
            })
    }

    /// A name of something that the engine knows.
    static func name(_ name: String, _ path: Path<String>, _ help: String) -> Setting {
        Setting(
            name: name, form: "NAME", help: help,
            read: { (text, settings) throws(Fault) in
                guard !text.isEmpty, text.utf8.count <= 64,
                    text.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
                else {
                    throw Fault(
                        text: "`\(text)` is not a name of 1 to 64 visible ASCII characters.")
                }
                settings[keyPath: path] = text
            },
            show: { settings in
                let text = settings[keyPath: path]
                return text.isEmpty ? .null : .text(text)
            })
    }

    static func list(
        _ name: String, _ path: Path<[String]>, form: String, unset: String? = nil, _ help: String
    ) -> Setting {
        Setting(
            name: name, form: form, help: help, unset: unset, isRepeatable: true,
            read: { (text, settings) throws(Fault) in
                settings[keyPath: path] = Words.split(text)
            },
            show: { .texts($0[keyPath: path]) })
    }

    /// A switch: `--name` turns it on, `--no-name` off.
    static func flag(_ name: String, _ path: Path<Bool>, _ help: String) -> Setting {
        Setting(
            name: name, form: nil, help: help,
            read: { (text, settings) throws(Fault) in
                switch text {
                case "true", "1": settings[keyPath: path] = true
                case "false", "0": settings[keyPath: path] = false
                default: throw Fault(text: "`\(text)` is not true or false.")
                }
            },
            show: { .boolean($0[keyPath: path]) })
    }

    /// The memory of one kind of things, over the whole broker.
    static func memory(_ kind: MemoryKind, _ path: Path<Int>, _ help: String) -> Setting {
        size(kind.option, path, in: (1 << 20)...(1 << 40), help)
    }

    /// `100` or `100,500`: requests a second, and in a burst; `none` is no limit.
    static func rate(_ name: String, _ path: Path<RateLimit?>, _ help: String) -> Setting {
        Setting(
            name: name, form: "N[,BURST]", help: help, range: "1 to \(RateLimit.greatestRate)",
            unset: "no limit",
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
                        text: "`\(text)` is not a rate. Write 100, 100,500 or none; a rate is at "
                            + "most \(RateLimit.greatestRate).")
                }
                settings[keyPath: path] = limit
            },
            show: { settings in
                settings[keyPath: path].map { .text("\($0.rate),\($0.burst)") } ?? .null
            })
    }
}
