import ArgumentParser
import BelfryClient
import BelfryServer
import BelfrySystem
import BelfryTLS
import Foundation
import Testing

@testable import belfry

@Suite("Screen: the one way to a terminal")
struct ScreenTests {
    @Test(
        "nothing in a line steers a terminal, and JSON stays JSON",
        arguments: [
            ("{\"a\":\"\u{9B}2J\"}", #"{"a":"\u009b2J"}"#),
            ("\u{1B}[2J\u{7}\u{7F}\u{85}", #"\u001b[2J\u0007\u007f\u0085"#),
            ("a\tb\rc", #"a\u0009b\u000dc"#), ("one\ntwo", "one\ntwo"),
            ("\u{202E}gpj.exe\u{2066}\u{200F}", #"\u202egpj.exe\u2066\u200f"#),
            ("Gr\u{FC}\u{DF}e \u{1F514}", "Gr\u{FC}\u{DF}e \u{1F514}"), ("", ""),
        ])
    func safe(text: String, shown: String) {
        let line = PrintedLine(Array(text.utf8))
        #expect(String(decoding: line.safe, as: UTF8.self) == shown)
        // In a pipe the bytes are what they are.
        #expect(line.bytes == Array(text.utf8))
    }

    @Test("bytes that are no UTF-8 steer nothing either")
    func malformed() {
        let line = PrintedLine([0x61, 0x9B, 0x32, 0x4A])
        #expect(line.safe == Array("a\u{FFFD}2J".utf8))
    }

    @Test("every character that steers is shown by its number", arguments: [0..<0x20, 0x7F..<0xA0])
    func all(range: Range<UInt32>) {
        for value in range where value != 0x0A {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let line = PrintedLine(Array(String(Character(scalar)).utf8))
            #expect(line.safe.count == 6 && line.safe.first == UInt8(ascii: "\\"))
        }
    }

    @Test("no command writes to standard output or standard error past it")
    func oneWay() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/belfry").standardized
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var writers: Set<String> = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            if text.contains(/StandardStream\.(output|error)\.write|[ (]stream\.write\(/) {
                writers.insert(file.lastPathComponent)
            }
        }
        // A backup is no text, and is not written to a terminal.
        #expect(writers == ["Screen.swift", "BackupCommand.swift"])
    }
}

@Suite("belfry: what people read")
struct PeopleTests {
    @Test("heads of tables have blanks between their words")
    func heads() {
        let page = JSONObject(Array(#"{"rows":[{"stateSince":"t","openAsks":1}]}"#.utf8))
        let table = Report.table(["stateSince", "openAsks"], page?.objects("rows") ?? [])
        #expect(table == "STATE SINCE  OPEN ASKS\nt            1")
    }

    @Test("post - counts what is queued and what is coalesced apart")
    func summary() throws {
        var lines = PostLines(
            try BrokerURL("http://127.0.0.1:1"), try ReportOptions.parse(["--json"]))
        for receipt in [
            #"{"id":"a","outcome":"queued"}"#, #"{"id":"b","outcome":"coalesced","into":"a"}"#,
            #"{"id":"c","outcome":"coalesced","into":"a"}"#, #"{"id":"d","seq":1,"matched":3}"#,
            #"{"id":"e","seq":2,"matched":0}"#,
        ] {
            lines.note(try #require(JSONObject(Array(receipt.utf8))))
        }
        #expect(
            lines.summary
                == "5 posts: 3 deliveries matched, 1 without an observer, 1 queued, 2 coalesced")
    }

    @Test("the effective options are a list for people, and a file for programs")
    func settings() {
        let lines = Settings().text.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("  listen ") && $0.hasSuffix(" 127.0.0.1:8080") })
        #expect(lines.contains { $0.hasPrefix("  address-rate ") && $0.hasSuffix(" no limit") })
        for setting in Setting.all {
            #expect(lines.contains { $0.hasPrefix("  \(setting.name) ") })
        }
        #expect(Program.run(["check-config", "--json", "--listen", "127.0.0.1:0"]) == 0)
    }

    @Test(
        "an unknown option is suggested one that is near, or none",
        arguments: [
            (
                ["observe", "X", "--naem", "y"],
                "There is no option `--naem`. Do you mean `--name`?"
            ),
            (["observers", "--naem", "y"], "There is no option `--naem`. Do you mean `--name`?"),
            (
                ["post", "A", "--objcet=o"],
                "There is no option `--objcet`. Do you mean `--object`?"
            ),
            (["observe", "-x"], "There is no option `-x`. `belfry observe --help` lists them."),
        ])
    func options(arguments: [String], text: String) {
        let error = #expect(throws: (any Error).self) { _ = try Belfry.parseAsRoot(arguments) }
        let message = error.map { Belfry.message(for: $0) } ?? ""
        #expect(Suggestion.optionFault(message, in: arguments) == text)
        #expect(Program.run(arguments) == 2)
    }

    @Test("a default is said once", arguments: [Bench.helpMessage(), Respond.helpMessage()])
    func defaults(help: String) {
        let options = help.components(separatedBy: "\n  -")
        #expect(options.count > 3)
        for option in options {
            #expect(!option.contains("Default: ") || !option.contains("(default: "), "\(option)")
        }
    }

    @Test("lists choose rows by what the broker can filter by")
    func filters() throws {
        func given(_ command: some ListingCommand) -> String {
            Listing.given(command.filter).map { "\($0)=\($1)" }.joined(separator: "&")
        }
        #expect(
            given(
                try Observers.parse([
                    "--name", "A", "--object", "o", "--target", "t", "--client", "c1", "--state",
                    "live", "--principal", "p", "--contains", "x",
                ])) == "name=A&object=o&target=t&client=c1&state=live&principal=p&contains=x")
        #expect(given(try Clients.parse(["--principal", "p"])) == "principal=p")
        #expect(given(try Channels.parse(["--name", "A"])) == "name=A")
        #expect(given(try Responders.parse(["--selector", "a"])) == "selector=a")
        #expect(given(try Asks.parse(["--observer", "o1"])) == "observer=o1")
        #expect(
            given(try Values.parse(["--object", "o", "--contains", "x"])) == "object=o&contains=x")
        #expect(given(try Values.parse([])) == "")
    }

    @Test("what may be somebody else's says so, and what is removed by its token does not")
    func remove() {
        let problem = #"{"status":404,"detail":"There is no such observer."}"#
        let error = ClientError.refused(
            BrokerRefusal(status: 404, content: Array(problem.utf8)))
        #expect(
            Remove.text(of: error, for: "o3") == "o3: There is no such observer. If it is listed, "
                + "you may not remove it: that needs its token, or the grant `admin`.")
        #expect(Remove.text(of: error, for: "o3.secret") == "o3: There is no such observer.")
    }

    @Test("an address in use may be another Belfry, and https at a plain port may be meant as http")
    func hints() throws {
        let address = try #require(SocketAddress("127.0.0.1:8080"))
        let used = ToolError(
            .listen(address, SystemCallError(call: "bind", errno: 98)),
            dataDirectory: "")
        #expect(used.text.contains("another Belfry"))
        let plain = ClientError.tls(.handshakeFailed("wrong version number"))
        #expect(plain.description.hasSuffix("does the broker speak plain http?"))
        #expect(!ClientError.tls(.noAuthorities).description.contains("plain"))
    }

    @Test("a text that a path cannot carry makes no sense", arguments: [["..", "a"], ["o", "."]])
    func dots(arguments: [String]) async throws {
        let broker = try await RunningBroker()
        #expect(try await broker.run("value", "get", arguments[0], arguments[1]).exitCode == 2)
    }

    @Test("a filter reaches the broker, and a list for programs is empty as JSON")
    func empty() async throws {
        let broker = try await RunningBroker()
        _ = try await broker.run("mailbox", "new", "A", "--object", "o")
        #expect(try await broker.run("observers", "--name", "A").output.joined().contains("o1"))
        #expect(try await broker.run("observers", "--name", "B").output == [#"{"observers":[]}"#])
        #expect(try await broker.run("observers", "--principal", "nobody").exitCode == 0)
    }
}
