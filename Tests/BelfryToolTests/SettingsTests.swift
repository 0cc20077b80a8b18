import BelfryAccess
import BelfryCenter
import BelfryServer
import BelfrySystem
import Logging
import Foundation
import Testing

@testable import belfry

@Suite("Options of serve (Options.md)")
struct SettingsTests {
    private func settings(
        flags: [String: String] = [:], environment: [String: String] = [:], file: String? = nil
    ) throws -> Settings {
        var reader = SettingsReader()
        reader.flags = flags
        reader.environment = environment
        if let file {
            reader.configPath = "belfry.json"
            reader.readFile = { (_: String) throws(SystemCallError) in Array(file.utf8) }
        }
        return try reader.settings()
    }

    @Test("without anything said the defaults hold")
    func defaults() throws {
        let settings = try settings()
        #expect(settings.server.listenAddresses == [.loopback(port: 8080)])
        #expect(settings.server.loopCount == 1)
        #expect(settings.server.bodyByteLimit == 1 << 20)
        #expect(settings.server.headTimeout == .seconds(10))
        #expect(settings.server.drainPeriod == .seconds(30))
        #expect(settings.server.connectionLimit == nil)
        #expect(settings.configuration.anonymousGrants == nil)
        #expect(settings.logLevel == .info)
        #expect(settings.logFormat == nil)
        #expect(settings.configuration.fault() == nil)
        #expect(settings.configuration.dataDirectory == "belfry-data")
        #expect(settings.configuration.durability == .power)
    }

    @Test("in memory there is no data directory, wherever that is said")
    func inMemory() throws {
        let settings = try settings(
            flags: ["data": "x"], environment: ["BELFRY_IN_MEMORY": "true"])
        #expect(settings.configuration.dataDirectory == nil)
        #expect(settings.dataDirectory == "x")
    }

    @Test("flags win over the environment, that over the file, and that over the defaults")
    func precedence() throws {
        let file = #"{"loops":2,"max-body":"2MiB","drain":"2s","log-level":"debug"}"#
        let environment = [
            "BELFRY_LOOPS": "3", "BELFRY_MAX_BODY": "3MiB", "BELFRY_DRAIN": "",
        ]
        let settings = try settings(flags: ["loops": "4"], environment: environment, file: file)
        #expect(settings.server.loopCount == 4)
        #expect(settings.server.bodyByteLimit == 3 << 20)
        #expect(settings.server.drainPeriod == .seconds(2))
        #expect(settings.logLevel == .debug)
        #expect(settings.server.bodyTimeout == .seconds(30))
    }

    @Test("the file is also found by BELFRY_CONFIG, and the flag wins")
    func configPath() throws {
        var reader = SettingsReader()
        reader.environment = ["BELFRY_CONFIG": "a.json"]
        reader.readFile = { (path: String) throws(SystemCallError) in
            Array(#"{"loops":\#(path == "a.json" ? 5 : 6)}"#.utf8)
        }
        #expect(try reader.settings().server.loopCount == 5)
        reader.configPath = "b.json"
        #expect(try reader.settings().server.loopCount == 6)
    }

    @Test("a file that cannot be read is a failure that names it")
    func unreadableFile() throws {
        var reader = SettingsReader()
        reader.configPath = "b.json"
        reader.readFile = { (_: String) throws(SystemCallError) in
            throw SystemCallError(call: "open", errno: 2)
        }
        let error = #expect(throws: ToolError.self) { try reader.settings() }
        #expect(error?.text.hasPrefix("b.json cannot be read: open:") == true)
        #expect(error?.exitCode == 1)
    }

    @Test(
        "each option takes a good text, and its value is told as JSON",
        arguments: [
            ("listen", "127.0.0.1:0, [::1]:9", #"["127.0.0.1:0","[::1]:9"]"#),
            ("listen", "none", #""none""#), ("tls-listen", "0.0.0.0:8443", #"["0.0.0.0:8443"]"#),
            ("tls-cert", "/etc/c.pem", #""/etc/c.pem""#), ("tls-key", "k.pem", #""k.pem""#),
            ("loops", "64", "64"),
            ("allow-origin", "https://a.example,*", #"["https://a.example","*"]"#),
            ("allow-host", "a.example", #"["a.example"]"#), ("allow-anonymous", "true", "true"),
            ("allow-anonymous", "0", "false"), ("debug-endpoints", "1", "true"),
            ("head-timeout", "500ms", #""500ms""#), ("body-timeout", "60s", #""1m""#),
            ("idle-timeout", "24h", #""1d""#), ("max-body", "1", #""1""#),
            ("max-body", "1GiB", #""1GiB""#), ("max-message", "16MiB", #""16MiB""#),
            ("max-connections", "8000000", "8000000"), ("replay", "7", #""7,4MiB""#),
            ("replay", "1MiB", #""1000,1MiB""#), ("replay", "0,0B", #""0,0B""#),
            ("compression", "false", "false"), ("compression-threshold", "1", #""1""#),
            ("compression-threshold", "1MiB", #""1MiB""#),
            ("drain-delay", "0s", #""0ms""#), ("wait-for-data", "1h", #""1h""#),
            ("ready-without-store", "true", "true"), ("drain", "1ms", #""1ms""#),
            ("log-level", "trace", #""trace""#),
            ("log-format", "json", #""json""#), ("log-buffer", "4KiB", #""4KiB""#),
            ("log-buffer", "1GiB", #""1GiB""#), ("anonymous-grants", "", "[]"),
            ("data", "/var/lib/belfry", #""/var/lib/belfry""#), ("in-memory", "true", "true"),
            ("accept-damage", "true", "true"),
            ("durability", "process", #""process""#), ("store-limit", "2GiB", #""2GiB""#),
            ("slow-timeout", "5s", #""5s""#), ("store-answer-timeout", "2s", #""2s""#),
            ("max-wait", "60s", #""1m""#),
            ("queue-limit", "5", #""5,64MiB""#), ("queue-limit", "5,1MiB", #""5,1MiB""#),
            ("hold-limit", "1MiB", #""10000,1MiB""#), ("orphan-after", "1h", #""1h""#),
            ("lease", "720h", #""30d""#),
            ("allow-origin", "http://localhost:*", #"["http://localhost:*"]"#),
            ("max-request-line", "64KiB", #""64KiB""#), ("max-field", "256", #""256""#),
            ("max-fields", "1000", "1000"), ("max-batch", "1", "1"),
            ("max-batch-deliveries", "1", "1"), ("max-user-info", "16MiB", #""16MiB""#),
            ("max-depth", "128", "128"), ("max-observers", "5", "5"),
            ("max-client-observers", "5", "5"), ("max-centers", "1", "1"),
            ("center-idle-timeout", "1s", #""1s""#),
            ("max-mode-stack", "1000", "1000"), ("observer-hold-limit", "10000", "10000"),
            ("client-hold-limit", "1MiB", #""1MiB""#), ("high-water", "4KiB", #""4KiB""#),
            ("low-water", "1", #""1""#), ("unsent-limit", "1MiB", #""1MiB""#),
            ("unfinished-limit", "1MiB", #""1MiB""#), ("tombstone-limit", "7", "7"),
            ("fate-limit", "7", #""7,32MiB""#), ("ask-limit", "5,1MiB", #""5,1MiB""#),
            ("key-limit", "7,1MiB", #""7,1MiB""#),
            ("memory-limit", "none", "null"), ("memory-limit", "32MiB", #""32MiB""#),
            ("connection-memory", "1MiB", #""1MiB""#), ("observer-memory", "1MiB", #""1MiB""#),
            ("channel-memory", "1MiB", #""1MiB""#), ("center-memory", "1MiB", #""1MiB""#),
            ("replay-memory", "1MiB", #""1MiB""#), ("key-memory", "1MiB", #""1MiB""#),
            ("fate-memory", "1MiB", #""1MiB""#), ("tombstone-memory", "1MiB", #""1MiB""#),
            ("hold-memory", "1MiB", #""1MiB""#), ("queue-memory", "1MiB", #""1MiB""#),
            ("unmatched-limit", "7", "7"), ("max-prefixes", "7", "7"),
            ("max-conditions", "7", "7"), ("ping-interval", "1s", #""1s""#),
            ("pong-timeout", "1s", #""1s""#), ("address-rate", "100", #""100,100""#),
            ("address-rate", "100,500", #""100,500""#), ("address-rate", "none", "null"),
            ("principal-share", "1", "1"), ("address-share", "100", "100"),
            ("principal-rate", "1000000,10000000", #""1000000,10000000""#),
            ("max-connections-per-address", "7", "7"),
            ("max-connections-per-address", "none", "null"),
            ("trust-proxy", "10.0.0.0/8, ::1", #"["10.0.0.0/8","::1"]"#),
            ("common-modes", "default, modal", #"["default","modal"]"#),
            (
                "anonymous-grants", "post, observe",
                #"[{"verbs":["post","observe"],"names":["*"],"objects":["*"],"centers":["*"]}]"#
            ),
            (
                "anonymous-grants",
                #"[{"verbs":["observe"],"names":["Mail*"],"objects":["user:42"],"#
                    + #""centers":["default"]}]"#,
                #"[{"verbs":["observe"],"names":["Mail*"],"objects":["user:42"],"#
                    + #""centers":["default"]}]"#
            ),
        ])
    func good(name: String, text: String, json: String) throws {
        let settings = try settings(flags: [name: text])
        #expect(String(decoding: settings.json, as: UTF8.self).contains(#""\#(name)":\#(json)"#))
    }

    @Test(
        "each option refuses a bad text: a flag as usage, anything else as a failure",
        arguments: [
            ("listen", "8080"), ("listen", "belfry.example:8080"), ("listen", ","), ("loops", "0"),
            ("listen", "none,127.0.0.1:1"), ("tls-listen", "none"), ("tls-listen", "8443"),
            ("tls-cert", "a\0b"), ("tls-key", "a\0b"),
            ("loops", "65"), ("loops", "one"), ("allow-anonymous", "yes"),
            ("debug-endpoints", "2"), ("head-timeout", "8"), ("head-timeout", "0s"),
            ("drain-delay", "2h"), ("wait-for-data", "-1s"), ("ready-without-store", "maybe"),
            ("body-timeout", "-1s"), ("idle-timeout", "1 s"), ("drain", "367d"),
            ("drain", "99999999999999999999s"), ("max-body", "0"), ("max-body", "2GiB"),
            ("max-body", "1MB"), ("max-message", "17MiB"), ("max-message", "x"),
            ("max-connections", "0"), ("max-connections", "8000001"), ("compression", "on"),
            ("compression-threshold", "0"), ("compression-threshold", "2MiB"),
            ("replay", "1,2"), ("replay", "4MiB,7"), ("replay", "x"),
            ("log-level", "loud"), ("log-format", "xml"), ("log-buffer", "4095"),
            ("log-buffer", "2GiB"), ("anonymous-grants", "post,fly"),
            ("allow-origin", "app.example"), ("allow-origin", "https://*"), ("max-fields", "15"),
            ("max-request-line", "128KiB"), ("max-depth", "129"), ("max-batch", "0"),
            ("address-rate", "0"), ("address-rate", "1,2,3"), ("address-rate", "fast"),
            ("address-rate", "1000001"), ("principal-rate", "1,0"),
            ("principal-share", "0"), ("principal-share", "101"), ("address-share", "25%"),
            ("trust-proxy", "10.0.0.1/8"),
            ("trust-proxy", "proxy.example"), ("max-connections-per-address", "0"),
            ("anonymous-grants", "[{}]"), ("anonymous-grants", #"[{"verbs":["fly"]}]"#),
            ("anonymous-grants", #"[{"verbs":["post"],"name":[]}]"#), ("anonymous-grants", "[7]"),
            ("in-memory", "yes"), ("durability", "none"), ("store-limit", "1KiB"),
            ("max-wait", "61s"), ("queue-limit", "1MiB,5"), ("hold-limit", "x"),
            ("memory-limit", "31MiB"), ("lease", "721h"),
            ("common-modes", ","), ("common-modes", "default,common"),
        ])
    func bad(name: String, text: String) throws {
        let flag = #expect(throws: ToolError.self) { try settings(flags: [name: text]) }
        #expect(flag?.exitCode == 2)
        #expect(flag?.text.hasPrefix("--\(name): ") == true)
        let variable = try #require(Setting.named(name)).variable
        let value = #expect(throws: ToolError.self) { try settings(environment: [variable: text]) }
        #expect(value?.exitCode == 1)
        #expect(value?.text.hasPrefix("\(variable): ") == true)
    }

    @Test("a variable has the name of its option in upper case")
    func variables() {
        #expect(Setting.named("anonymous-grants")?.variable == "BELFRY_ANONYMOUS_GRANTS")
        #expect(Setting.named("listen")?.variable == "BELFRY_LISTEN")
    }

    @Test(
        "a variable that nobody knows is a failure that names it, and the one that is near",
        arguments: [
            ("BELFRY_MAX_BDY", " Do you mean BELFRY_MAX_BODY?"), ("BELFRY_WHOLLY", ""),
            ("BELFRY_", ""), ("BELFRY_max_body", " Do you mean BELFRY_MAX_BODY?"),
        ])
    func unknownVariable(name: String, hint: String) {
        let error = #expect(throws: ToolError.self) { try settings(environment: [name: "1"]) }
        #expect(error?.text == "The environment variable \(name) is not an option.\(hint)")
        #expect(error?.exitCode == 1)
    }

    @Test("variables of other commands, of Kubernetes and of others are let alone")
    func otherVariables() throws {
        let environment = [
            "BELFRY_URL": "x", "BELFRY_TOKEN": "x", "BELFRY_CA": "x", "BELFRY_BINARY": "x",
            "BELFRY_PORT": "tcp://10.0.0.1:80", "BELFRY_PORT_80_TCP_ADDR": "10.0.0.1",
            "BELFRY_SERVICE_HOST": "10.0.0.1", "BELFRYX": "x",
        ]
        #expect(try settings(environment: environment).json == settings().json)
    }

    @Test("grants come to the server as they were written")
    func grants() throws {
        let text = #"[{"verbs":["observe"],"names":["Mail*"]}]"#
        let grants = try #require(
            try settings(flags: ["anonymous-grants": text]).configuration.anonymousGrants)
        #expect(grants == Grants([Grant(.observe, names: [Pattern("Mail*")])]))
        #expect(
            try settings(flags: ["anonymous-grants": "post,inspect"]).configuration.anonymousGrants
                == Grants([Grant([.post, .inspect])]))
    }

    @Test("grants that are not given are printed as none: as a file they would hold for all")
    func unsetGrants() throws {
        let first = try settings()
        let text = String(decoding: first.json, as: UTF8.self)
        #expect(text.contains(#""anonymous-grants":null"#))
        #expect(try settings(file: text).configuration.favorsLocalCallers)
        #expect(try !settings(flags: ["anonymous-grants": ""]).configuration.favorsLocalCallers)
    }

    @Test("what check-config prints is a file that gives the same again")
    func roundTrip() throws {
        let first = try settings(flags: [
            "listen": "127.0.0.1:1,[::1]:2", "replay": "5,1KiB", "allow-host": "a,b",
            "anonymous-grants": "post", "drain": "90s", "debug-endpoints": "true",
            "max-connections": "7", "log-format": "text", "in-memory": "true",
            "durability": "process", "queue-limit": "1,1B", "common-modes": "a,b",
        ])
        let text = String(decoding: first.json, as: UTF8.self)
        #expect(try settings(file: text).json == first.json)
    }

    @Test("a broker that speaks TLS alone is told the same again")
    func roundTripOfTLS() throws {
        let first = try settings(flags: [
            "listen": "none", "tls-listen": "127.0.0.1:0", "tls-cert": "c", "tls-key": "k",
        ])
        #expect(first.server.listenAddresses.isEmpty)
        #expect(first.configuration.fault() == nil)
        let text = String(decoding: first.json, as: UTF8.self)
        #expect(try settings(file: text).json == first.json)
        #expect(try settings().json == settings(file: #"{"tls-listen":null}"#).json)
    }

    @Test("whoever names a cluster, its broker or a monitor means a cluster, and needs its engine")
    func clusterWithoutEngine() throws {
        #expect(try settings().configuration.cluster == nil)
        for flag in ["cluster": "prod", "node": "n1", "engine-monitor": "http://10.0.0.1:8222"] {
            let configuration = try settings(flags: [flag.key: flag.value]).configuration
            #expect(configuration.fault()?.hasSuffix("say --engine.") == true)
        }
    }

    @Test("a file may use JSON's own kinds")
    func fileKinds() throws {
        let settings = try settings(
            file: """
                {"listen":"127.0.0.1:1","allow-host":["a","b"],"loops":2,"debug-endpoints":true,
                 "max-connections":null,"anonymous-grants":["post","observe"]}
                """)
        #expect(settings.server.allowedHosts == ["a", "b"])
        #expect(settings.server.loopCount == 2)
        #expect(settings.server.hasDebugEndpoints)
        #expect(settings.anonymousGrants == GrantList([.init(verbs: ["post", "observe"])]))
    }

    @Test(
        "a file with a fault is refused",
        arguments: [
            (#"{"loop":1}"#, ConfigurationFile.Fault.unknownKey("loop")),
            (#"{"date":"x"}"#, .unknownKey("date")),
            (#"{"loops":1,"loops":1}"#, .repeatedKey("loops")),
            (#"{"loops":{}}"#, .wrongValue(key: "loops")),
            (#"{"allow-host":[1]}"#, .wrongValue(key: "allow-host")),
            (#"{"loops":}"#, .malformed(offset: 9)), ("[]", .malformed(offset: 0)),
            ("// {}\n{\n // a comment, \"\n}}", .malformed(offset: 26)),
            ("//", .malformed(offset: nil)),
            ("{} // {}", .malformed(offset: 3)),
            (#"{} x"#, .malformed(offset: 3)),
        ])
    func badFile(json: String, fault: ConfigurationFile.Fault) {
        #expect(throws: fault) { try ConfigurationFile.read(Array(json.utf8)) }
    }
}

@Suite("SettingsDocument")
struct SettingsDocumentTests {
    @Test("the file of default-config changes nothing")
    func file() throws {
        var reader = SettingsReader()
        reader.configPath = "belfry.json"
        reader.readFile = { (_: String) throws(SystemCallError) in
            Array(SettingsDocument.file.utf8)
        }
        #expect(try reader.settings().json == Settings().json)
    }

    @Test("every option stands in the help, the page and the file once, with a sentence")
    func everyOption() {
        #expect(Set(Setting.all.map(\.name)).count == Setting.all.count)
        for setting in Setting.all {
            #expect(setting.help.hasSuffix("."))
            #expect(SettingsDocument.help.contains("\n  \(SettingsDocument.flag(setting))\n"))
            #expect(SettingsDocument.file.contains("\n  \"\(setting.name)\": "))
        }
        let lines = SettingsDocument.help.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test(
        "README, Protocol and Operating name options that there are",
        arguments: ["README.md", "Documentation/Protocol.md", "Documentation/Operating.md"])
    func named(document: String) throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../\(document)")
        let text = try String(contentsOf: path, encoding: .utf8)
        let commands: Set = [
            "json", "url", "token", "ca", "grants", "build", "bind", "deploy-hook", "cacert",
            "help", "config",
        ]
        let rows = text.split(separator: "\n").filter { $0.contains("`--") }
        let names = rows.flatMap { $0.matches(of: /`--([a-z][a-z-]*)/).map { String($0.output.1) } }
        let known = commands.union(Setting.all.map(\.name))
            .union(Setting.all.filter { $0.form == nil }.map { "no-" + $0.name })
        #expect(Set(names).subtracting(known).sorted() == [])
        #expect(!names.isEmpty)
    }
}

@Suite("Quantity")
struct QuantityTests {
    @Test(
        "durations have a unit",
        arguments: [
            ("8s", Duration.seconds(8)), ("500ms", .milliseconds(500)), ("24h", .seconds(86_400)),
            ("0s", .zero), ("2m", .seconds(120)), ("1d", .seconds(86_400)), ("8", nil), ("s", nil),
            ("1.5s", nil), ("8 s", nil), ("-8s", nil), ("8S", nil), ("9223372036854775807h", nil),
            ("", nil),
        ] as [(String, Duration?)])
    func durations(text: String, duration: Duration?) {
        #expect(Quantity.duration(text) == duration)
    }

    @Test(
        "sizes may have a binary unit",
        arguments: [
            ("7", 7), ("7B", 7), ("1KiB", 1024), ("1MiB", 1 << 20), ("3GiB", 3 << 30), ("1MB", nil),
            ("MiB", nil), ("-1", nil), ("9223372036854775807GiB", nil), ("", nil), ("1mib", nil),
        ] as [(String, Int?)])
    func sizes(text: String, byteCount: Int?) {
        #expect(Quantity.byteCount(text) == byteCount)
    }

    @Test("both are written in the largest unit that fits")
    func writing() {
        #expect(Quantity.text(.seconds(90)) == "90s")
        #expect(Quantity.text(.seconds(7_200)) == "2h")
        #expect(Quantity.text(.milliseconds(1_500)) == "1500ms")
        #expect(Quantity.text(.zero) == "0ms")
        #expect(Quantity.text(byteCount: 1 << 20) == "1MiB")
        #expect(Quantity.text(byteCount: 1025) == "1025")
        #expect(Quantity.text(byteCount: 0) == "0")
    }
}
