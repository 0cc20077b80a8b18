import BelfryClient
import Foundation
import Testing

@Suite("belfry ask, respond, responders, asks and explain, with a broker")
struct AskToolTests {
    @Test("an ask prints its answer; exit codes are 0, 3 without a responder's answer, and 1")
    func exitCodes() async throws {
        let broker = try await RunningBroker()
        let failed = try await broker.run("ask", "w", "a")
        #expect(failed.output.isEmpty && failed.exitCode == 3)
        let fallback = try await broker.run("ask", "w", "a", "--default", #"{"w": 1}"#)
        #expect(fallback.output == [#"{"w": 1}"#] && fallback.exitCode == 3)
        let responder = try await broker.respond(["w", "a", "--", "cat"])
        let answered = try await broker.run("ask", "w", "a", #"{"n": [1,  2]}"#, "--once")
        #expect(answered.output == [#"{"n": [1,  2]}"#] && answered.exitCode == 0)
        let whole = try await broker.run("ask", "w", "a", #"{}"#, "--json", "--wait", "9s")
        #expect(whole.output.first?.contains(#""answer":{},"by":"responder""#) == true)
        let wrong = try await broker.run("ask", "w", "a", "7")
        #expect(wrong.exitCode == 2)
        #expect(try await broker.run("ask", "w", "a", "--wait", "31d").exitCode == 1)
        responder.interrupt()
        #expect(await responder.exitCode() == 0)
        #expect(try await broker.run("ask", "w", "a").exitCode == 3)
        await broker.program.kill()
        #expect(try await broker.run("ask", "w", "a").exitCode == 1)
    }

    @Test("a command answers, hands on with 75, and refuses with its standard error")
    func commands() async throws {
        let broker = try await RunningBroker()
        let script = """
            case $ASK_SELECTOR in
            none) ;;
            pass) exit 75 ;;
            refuse) echo "no paper" >&2; exit 3 ;;
            fail) exit 4 ;;
            *) echo "[\\"$ASK_OBJECT\\",\\"${#ASK_ID}\\",\\"${ASK_ANSWER_BY%%-*}\\"]" ;;
            esac
            """
        let selectors = ["none", "pass", "refuse", "fail", "tell"]
        let arguments = ["w"] + selectors + ["--next", "v", "--", "/bin/sh", "-c", script]
        let responder = try await broker.respond(arguments)
        let next = try await broker.respond(["v", "pass", "--", "echo", "2"])
        #expect(try await broker.run("ask", "w", "none").output == ["null"])
        let told = try await broker.run("ask", "w", "tell").output.first
        #expect(told?.wholeMatch(of: /\["w","26","20\d\d"\]/) != nil)
        let passed = try await broker.run("ask", "w", "pass", "--json").output.first
        #expect(passed?.contains(#""answer":2,"#) == true)
        #expect(passed?.contains(#""path":["w","v"]"#) == true)
        for (selector, reason) in [("refuse", "no paper"), ("fail", "exit code 4")] {
            let error = await #expect(throws: ClientError.self) {
                let center = try await RemoteCenter.connect(to: broker.url)
                _ = try await center.ask("w", selector)
            }
            guard case .refused(let refusal) = error else { continue }
            #expect(refusal.slug == "responder-refused")
            #expect(String(decoding: refusal.problem, as: UTF8.self).contains(reason))
        }
        #expect(try await broker.run("ask", "w", "other").exitCode == 3)
        withExtendedLifetime((responder, next)) {}
    }

    @Test("as many commands run side by side as --concurrency says; other asks wait for them")
    func concurrency() async throws {
        let broker = try await RunningBroker()
        let one = try await broker.respond(["w", "a", "--", "sleep", "1000"])
        let two = try await broker.respond([
            "v", "a", "--concurrency", "2", "--share", "--", "sleep", "1000",
        ])
        for object in ["w", "w", "v", "v", "v"] {
            let asked = try await broker.run("ask", object, "a", "--ttl", "1h", "--no-wait")
            #expect(asked.output.first?.utf8.count == 26)
            #expect(asked.exitCode == 0)
        }
        let states = try await broker.openAsks()
        #expect(states == ["delivered", "held", "delivered", "delivered", "held"])
        let rows = try await broker.run("asks").output.first
        #expect(rows?.hasPrefix(#"{"asks":[{"id":""#) == true)
        withExtendedLifetime((one, two)) {}
    }

    @Test("Ctrl-C withdraws an ask, and the command that answers it gets SIGTERM")
    func withdrawal() async throws {
        let broker = try await RunningBroker()
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipe = folder.appending(path: "steps").path
        // A pipe with a name says when the command has come so far.
        let steps = try RunningProgram(
            ["-c", #"mkfifo "$0" && echo made && exec cat <> "$0""#, pipe], at: "/bin/sh")
        #expect(await steps.line() == "made")
        let script = #"trap 'echo ended > "$0"; exit 0' TERM; echo begun > "$0"; sleep 1000 & wait"#
        let responder = try await broker.respond(["w", "a", "--", "/bin/sh", "-c", script, pipe])
        let asker = try broker.start(["ask", "w", "a", "--wait", "60s"])
        #expect(await steps.line() == "begun")
        asker.interrupt()
        #expect(await asker.exitCode() == 3)
        #expect(await steps.line() == "ended")
        #expect(try await broker.openAsks().isEmpty)
        let other = try await broker.run("ask", "w", "a", "--ttl", "1h", "--no-wait")
        #expect(other.exitCode == 0)
        #expect(await steps.line() == "begun")
        responder.interrupt()
        #expect(await steps.line() == "ended")
        #expect(await responder.exitCode() == 0)
    }

    @Test("without a command asks are printed, and answered by lines")
    func lines() async throws {
        let broker = try await RunningBroker()
        let responder = try await broker.respond(["w", "a", "--concurrency", "3"])
        let center = try await RemoteCenter.connect(to: broker.url)
        async let first = center.ask("w", "a", userInfo: UserInfo(json: #"{"n":1}"#))
        let line = try #require(await responder.line())
        let shown = try #require(JSONObject(Array(line.utf8)))
        let id = try #require(shown.string("id"))
        #expect(shown.string("name") == "a" && shown.string("answerBy") != nil)
        async let second = center.ask("w", "a", default: "9")
        _ = await responder.line()
        try responder.write(#"{"id":"\#(id)","answer":{"w":5}}"#)
        #expect(try await first.text == #"{"w":5}"#)
        try responder.write(#"{"passed":true}"#)
        #expect(try await second.source == .fallback(reason: "selector-not-implemented"))
        async let third = center.ask("w", "a", default: "9")
        _ = await responder.line()
        try responder.write("nonsense")
        try responder.write(#"{"refused":"no paper"}"#)
        #expect(try await third.source == .fallback(reason: "responder-refused"))
        try responder.endInput()
        #expect(await responder.exitCode() == 0)
        #expect(
            try await center.ask("w", "a", default: "9").source == .fallback(reason: "no-responder")
        )
        await center.close()
    }

    @Test("responders are listed, and explain tells who would be asked")
    func looking() async throws {
        let broker = try await RunningBroker()
        let responder = try await broker.respond(["w", "a", "--next", "v", "--", "true"])
        let alias = try await broker.respond(["x", "--next", "w"])
        let rows = try await broker.run("responders").output.first
        #expect(rows?.contains(#""object":"w","#) == true)
        #expect(rows?.contains(#""concurrency":1,"#) == true)
        let explained = try await broker.run("explain", "--object", "x", "--selector", "a")
        #expect(explained.output.first?.hasPrefix(#"{"ask":{"outcome":"delivered""#) == true)
        #expect(explained.output.first?.contains(#""path":["x","w"]"#) == true)
        #expect(try await broker.run("ask", "x", "a").output == ["null"])
        withExtendedLifetime((responder, alias)) {}
    }

    @Test("one whose place another one takes ends with exit code 1")
    func replaced() async throws {
        let broker = try await RunningBroker()
        let first = try await broker.respond(["w", "a", "--", "true"])
        let second = try await broker.respond(["w", "a", "--", "true"])
        #expect(await first.exitCode() == 1)
        withExtendedLifetime(second) {}
    }
}
