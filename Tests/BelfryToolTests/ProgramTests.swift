import ArgumentParser
import BelfryAccess
import BelfryClient
import BelfryServer
import BelfrySystem
import Foundation
import Testing

@testable import belfry

@Suite("belfry: command lines and exit codes")
struct ProgramTests {
    @Test(
        "a command line that makes no sense has exit code 2",
        arguments: [
            [], ["fly"], ["serve", "--bogus"], ["serve", "--data"], ["serve", "--in-memory", "x"],
            ["serve", "--loops", "0"], ["check-config", "--drain", "8"], ["post"],
            ["observe", "--count", "0"], ["explain"],
            ["observe", "--sse", "--acknowledge"], ["observe", "--min-interval", "8"],
            ["observe", "A", "--target", "w"], ["observe", "A", "--selector", "a"],
            ["observe", "--target", "w", "--selector", "a"],
            ["observe", "A", "--name", "B"], ["observe", "--name", "B", "--prefix", "B"],
            ["observe", "--object", "o", "--object-prefix", "o"],
            ["observe", "A", "--where", "7"], ["observe", "A", "--where", "{"],
            ["mailbox", "new", "A", "--prefix", "A"],
            ["explain", "--object", "w", "--selector", "a", "--user-info", "{}"],
            ["explain", "A", "--user-info", "7"],
            ["observe", "A", "--target", "w", "--selector", "a", "--count", "1"],
            ["post", "A", "--style", "later"], ["post", "A", "--coalesce", "object"],
            ["post", "A", "--after", "8"],
            ["post", "A", "--after", "1s", "--at", "2026-11-22T06:00:00Z"],
            ["post", "A", "--lease", "1h"], ["post", "A", "--max-delay", "8"],
            ["post", "A", "--idempotency-key", "a b"],
            ["queue", "--remove", "../observers"], ["backup"], ["ask", "w"],
            ["ask", "w", "a", "--wait", "5"], ["ask", "w", "a", "--default", "no"],
            ["ask", "w", "a", "--no-wait"], ["ask", "w", "a", "--fail-closed"],
            ["ask", "w", "a", "--no-wait", "--ttl", "1h", "--wait", "1s"],
            ["ask", "w", "a", "--keep"], ["ask", "w", "a", "--if-nobody", "refuse"],
            ["fate"], ["fate", "ID", "--wait", "5"], ["work", "w", "a"],
            ["work", "w", "--", "true"], ["respond"], ["respond", "w"],
            ["respond", "w", "a", "--concurrency", "many"],
            ["value"], ["value", "get"], ["value", "put", "o"], ["value", "put", "o", "{"],
            ["value", "put", "o", "a", "1", "--ttl", "8"], ["value", "merge", "o", "a", "dark"],
            ["value", "put", "o", "a", "1", "--new", "--if-match", "\"x\""],
            ["value", "rm", "o", "--if-match", "a b"], ["value", "watch", "o", "--count", "0"],
            ["explain", "--object", "w"], ["explain", "--selector", "a"],
            ["explain", "A", "--object", "w", "--selector", "a"],
            ["serve", "--in-memory", "--data", "x"], ["mailbox", "read", "nope"],
            ["mailbox", "read", "17.secret"], ["mailbox", "ack", "o.secret", "7"],
            ["observe", "A", "--naem", "y"],
            ["post", "A", "--objcet", "o"], ["gen-token", "a", "--expires", "soon"],
            ["observers", "--nme", "A"],
        ])
    func usage(arguments: [String]) {
        #expect(Program.run(arguments) == 2)
    }

    @Test(
        "what asks for help or the version has exit code 0",
        arguments: [
            ["--help"], ["help", "serve"], ["observe", "-h"], ["version"], ["serve", "--help"],
            ["value", "--help"], ["value", "put", "--help"],
            ["serve", "--in-memory", "-h"], ["check-config", "--help"], ["default-config"],
        ])
    func clean(arguments: [String]) {
        #expect(Program.run(arguments) == 0)
    }

    @Test("a backup takes the place of no file")
    func backup() throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("belfry-backup-\(UUID().uuidString)")
        try Data([7]).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let command = try Backup.parse([url.path])
        let error = #expect(throws: ToolError.self) { _ = try command.begin() }
        #expect(error?.exitCode == 1)
        #expect(error?.text.contains(NewFile.partial(url.path)) == true)
        #expect(try Data(contentsOf: url) == Data([7]))
    }

    @Test("what is posted is one JSON object, and its userInfo must be one")
    func content() throws {
        let post = try Post.parse(["A", "--object", "o", "--user-info", #"{"n": 1}"#])
        #expect(
            String(decoding: try post.request().content, as: UTF8.self)
                == #"{"name":"A","object":"o","userInfo":{"n": 1}}"#)
        let error = #expect(throws: ToolError.self) {
            try Post.parse(["A", "--user-info", "7"]).request()
        }
        #expect(error?.exitCode == 2)
    }

    @Test("the options of a post are those of the broker")
    func postOptions() throws {
        let post = try Post.parse([
            "A", "--style", "idle", "--coalesce", "name,sender", "--keep", "latest", "--mode", "a",
            "--mode", "b", "--max-delay", "1500ms", "--immediate", "--ttl", "1h", "--wait", "3s",
            "--idempotency-key", "k",
        ])
        #expect(
            String(decoding: try post.request().content, as: UTF8.self)
                == #"{"name":"A","style":"idle","coalesce":["name","sender"],"keep":"latest","#
                + #""modes":["a","b"],"maxDelay":1.5,"immediate":true,"ttl":3600}"#)
        let plain = try Post.parse(["A", "--style", "now", "--coalesce", "none"])
        #expect(
            String(decoding: try plain.request().content, as: UTF8.self)
                == #"{"name":"A","style":"now","coalesce":"none"}"#)
    }

    @Test("a configuration that is not served has exit code 1, a good one 0")
    func checkConfig() {
        #expect(Program.run(["check-config", "--listen", "127.0.0.1:0"]) == 0)
        #expect(Program.run(["check-config", "--listen", "0.0.0.0:8080"]) == 1)
        let secure = ["check-config", "--tls-listen", "127.0.0.1:0"]
        #expect(Program.run(secure) == 1)
        #expect(Program.run(secure + ["--tls-cert", "/dev/null", "--tls-key", "/dev/null"]) == 1)
        #expect(
            Program.run(["check-config", "--listen", "0.0.0.0:8080", "--allow-anonymous"]) == 0)
        #expect(Program.run(["check-config", "--config", "/nonexistent"]) == 1)
    }

    @Test("check-config refuses more connections than the process may have descriptors")
    func descriptors() throws {
        let most = try DescriptorLimit.current().hard
        var arguments = ["check-config", "--listen", "127.0.0.1:0", "--max-connections"]
        #expect(Program.run(arguments + ["\(max(1, min(most, 8_000_000) - 100))"]) == 0)
        arguments.append("\(most)")
        #expect(Program.run(arguments) != 0)
    }

    @Test("each option is a flag: with a value, or as a switch that --no- turns off")
    func givenOptions() throws {
        for setting in Setting.all {
            let name = setting.name
            if setting.form == nil {
                #expect(try GivenOptions(["--\(name)"]).texts == [name: "true"])
                #expect(try GivenOptions(["--no-\(name)"]).texts == [name: "false"])
            } else {
                #expect(try GivenOptions(["--\(name)", "x"]).texts == [name: "x"])
                #expect(try GivenOptions(["--\(name)=x=y"]).texts == [name: "x=y"])
                let both = try GivenOptions(["--\(name)", "a", "--\(name)", "b"]).texts
                #expect(both == [name: setting.isRepeatable ? "a,b" : "b"])
            }
        }
        let both = try GivenOptions(["--config", "c", "--in-memory", "--anonymous-grants", ""])
        #expect(both.configPath == "c")
        #expect(both.texts == ["in-memory": "true", "anonymous-grants": ""])
    }

    @Test(
        "a command line that is not options says what to write",
        arguments: [
            (["--max-bdy", "1"], "There is no option --max-bdy. Do you mean --max-body?"),
            (["--wholly", "1"], "There is no option --wholly. `belfry serve --help` lists them."),
            (["--no-data"], "There is no option --no-data. `belfry serve --help` lists them."),
            (["x"], "`x` is not an option; options begin with --."),
            (["--"], "`--` is not an option; options begin with --."),
            (["--data"], "--data needs a value: write --data DIR."),
            (["--data", "--in-memory"], "--data needs a value: write --data DIR."),
            (["--config"], "--config needs a value: write --config FILE."),
            (
                ["--in-memory=false"],
                "--in-memory has no value: write --in-memory or --no-in-memory."
            ),
        ])
    func badOptions(arguments: [String], text: String) {
        let error = #expect(throws: ToolError.self) { try GivenOptions(arguments) }
        #expect(error?.text == text)
        #expect(error?.exitCode == 2)
    }

    @Test("the token is that of the flag, else of the environment, else none")
    func token() throws {
        let url = try BrokerURL("http://127.0.0.1:1")
        func known(_ flag: String?, _ environment: [String: String]) throws -> BrokerURL {
            try PlaceOptions.authenticated(url, flag: flag, environment: environment)
        }
        #expect(try known("a", ["BELFRY_TOKEN": "b"]) == url.authenticated(by: "a"))
        #expect(try known(nil, ["BELFRY_TOKEN": "b"]) == url.authenticated(by: "b"))
        #expect(try known(nil, ["BELFRY_TOKEN": ""]) == url)
        let flag = #expect(throws: ToolError.self) { try known("a b", [:]) }
        #expect(flag?.exitCode == 2)
        let variable = #expect(throws: ToolError.self) { try known(nil, ["BELFRY_TOKEN": "a b"]) }
        #expect(variable?.exitCode == 1)
    }

    @Test("a new key is what its row in a key file lets in, with its grants")
    func genToken() async throws {
        let command = try GenToken.parse([
            "till", "--principal", "shop", "--grants", #"[{"verbs":["post"],"names":["Sale*"]}]"#,
        ])
        let (first, second) = (GeneratedKey(), GeneratedKey())
        #expect(first.token != second.token)
        #expect(first.token.hasPrefix("belfry_") && first.token.utf8.count == 50)
        let row = command.row(of: first, try GrantList(command.grants))
        let text = String(decoding: row, as: UTF8.self)
        #expect(!text.contains(first.token))
        let keyring = try Keyring(keys: Array(#"{"keys":[\#(text)]}"#.utf8), keySet: nil)
        #expect(keyring.keyCount == 1)
        #expect(Program.run(["gen-token", "a", "--grants", "fly"]) == 2)
        let expiring = try GenToken.parse(["a", "--expires", "2027-01-31T00:00:00Z"])
        #expect(
            String(decoding: expiring.row(of: first, try GrantList("post")), as: UTF8.self)
                .contains(#","expires":"2027-01-31T00:00:00Z"}"#))
        let later = try #require(try GenToken.parse(["a", "--expires", "90d"]).expires)
        #expect(later > "2026" && later.hasSuffix("Z"))
        #expect(Program.run(["gen-token", "a", "--expires", "2027-13-01T00:00:00Z"]) == 2)
        // The broker would refuse a file with these.
        #expect(Program.run(["gen-token", "c1"]) == 2)
        #expect(Program.run(["gen-token", "a", "--principal", "broker"]) == 2)
        #expect(Program.run(["gen-token"]) == 2)
    }

    @Test("the URL is that of the flag, else of the environment, else the default one")
    func place() throws {
        let environment = ["BELFRY_URL": "http://127.0.0.1:2"]
        func url(_ flag: String?, _ environment: [String: String]) throws -> String {
            try PlaceOptions.brokerURL(flag: flag, environment: environment).description
        }
        #expect(try url("http://127.0.0.1:1", environment) == "http://127.0.0.1:1")
        #expect(try url(nil, environment) == "http://127.0.0.1:2")
        #expect(try url(nil, ["BELFRY_URL": ""]) == "http://127.0.0.1:8080")
        let flag = #expect(throws: ToolError.self) { try url("x", [:]) }
        #expect(flag?.exitCode == 2)
        let variable = #expect(throws: ToolError.self) { try url(nil, ["BELFRY_URL": "x"]) }
        #expect(variable?.exitCode == 1)
    }

    @Test(
        "the health check asks the broker that would be served here",
        arguments: [
            ("0.0.0.0:9", "http://127.0.0.1:9"), ("[::]:9", "http://[::1]:9"),
            ("10.0.0.5:9,0.0.0.0:8", "http://10.0.0.5:9"), ("", "http://127.0.0.1:2"),
        ])
    func ownPlace(listen: String, url: String) throws {
        let environment = ["BELFRY_LISTEN": listen, "BELFRY_URL": "http://127.0.0.1:2"]
        #expect(try PlaceOptions.ownURL(flag: nil, environment: environment).description == url)
        let flag = try PlaceOptions.ownURL(flag: "http://127.0.0.1:3", environment: environment)
        #expect(flag.description == "http://127.0.0.1:3")
        #expect(throws: ToolError.self) {
            try PlaceOptions.ownURL(flag: nil, environment: ["BELFRY_LISTEN": "none"])
        }
    }

    @Test("the environment is read as the system keeps it")
    func environment() {
        let variables = Environment.variables(of: Array("A=1\0B=x=y\0A=2\0C=\0broken\0".utf8))
        #expect(variables == ["A": "1", "B": "x=y", "C": ""])
    }
}

@Suite("belfry: what is printed")
struct ReportTests {
    @Test("a log line is text or JSON")
    func logLines() {
        let entry = LogEntry(
            milliseconds: 1_795_248_000_000, level: "info", label: "belfry", text: "listening",
            fields: [
                ("addresses", "127.0.0.1:8080"), ("loops", 4), ("note", "a \"b\""),
                ("ready", true),
            ])
        #expect(
            String(decoding: entry.line(.text), as: UTF8.self)
                == "2026-11-21T08:00:00.000Z info belfry: listening addresses=127.0.0.1:8080 "
                + #"loops=4 note="a \"b\"" ready=true"# + "\n")
        #expect(
            String(decoding: entry.line(.json), as: UTF8.self)
                == #"{"time":"2026-11-21T08:00:00.000Z","level":"info","message":"listening","#
                + #""addresses":"127.0.0.1:8080","loops":4,"note":"a \"b\"","ready":true}"#
                + "\n")
    }

    @Test("JSON is put on one line")
    func oneLine() {
        let json = Report.oneLine(Array("{\"a\":\r\n1}".utf8))
        #expect(String(decoding: json, as: UTF8.self) == #"{"a":  1}"#)
    }

    @Test("a table has aligned columns, and steers no terminal")
    func table() {
        let page = JSONObject(
            Array(#"{"rows":[{"id":"o1","name":"\u001b[2J"},{"id":"o22","name":null}]}"#.utf8))
        let rows = page?.objects("rows") ?? []
        #expect(Report.table(["id", "name"], rows) == "ID   NAME\no1   \\u001b[2J\no22  -")
    }
}
