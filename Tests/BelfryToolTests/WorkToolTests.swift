import BelfryClient
import Foundation
import Testing

/// Each wait of these tests ends with what it waits for.
@Suite("belfry work, with a broker")
struct WorkToolTests {
    @Test("the answer is JSON or text; 75 hands on, and any other exit code refuses")
    func answers() async throws {
        let broker = try await RunningBroker()
        let script = """
            case $ASK_SELECTOR in
            json) cat ;;
            text) printf 'done: "7"\\n' ;;
            none) ;;
            pass) exit 75 ;;
            *) echo "no paper" >&2; exit 1 ;;
            esac
            """
        let worker = try await broker.respond(
            ["w", "json", "text", "none", "pass", "refuse", "--", "/bin/sh", "-c", script],
            as: "work")
        #expect(
            try await broker.run("ask", "w", "json", #"{"n":[1, 2]}"#).output == [#"{"n":[1, 2]}"#])
        #expect(try await broker.run("ask", "w", "text").output == [#""done: \"7\"""#])
        #expect(try await broker.run("ask", "w", "none").output == ["null"])
        for selector in ["pass", "refuse"] {
            let unanswered = try await broker.run("ask", "w", selector)
            #expect(unanswered.output.isEmpty && unanswered.exitCode == 3)
        }
        withExtendedLifetime(worker) {}
    }

    @Test("the ask of a killed worker is shown to another one")
    func killed() async throws {
        let broker = try await RunningBroker()
        let first = try await broker.respond(
            ["w", "a", "--"] + RunningProgram.endless, as: "work")
        let asking = try broker.start(["ask", "w", "a", #"{"n":1}"#, "--wait", "1h"])
        try await broker.waitForAsks(["delivered"])
        let second = try await broker.respond(["w", "a", "--", "cat"], as: "work")
        await first.kill()
        #expect(await asking.line() == #"{"n":1}"#)
        #expect(await asking.exitCode() == 0)
        withExtendedLifetime(second) {}
    }

    @Test("Ctrl-C ends the command, and the place is kept: asks wait for the next worker")
    func interrupted() async throws {
        let broker = try await RunningBroker()
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipe = folder.appending(path: "steps").path
        // A pipe with a name says when the command has come so far.
        let steps = try RunningProgram(
            ["-c", #"mkfifo "$0" && echo made && exec cat <> "$0""#, pipe], at: "/bin/sh")
        #expect(await steps.line() == "made")
        // A shell tells of the end of `sleep`, and nobody may read that any more.
        let script = #"""
            exec 2>/dev/null
            trap 'echo ended > "$0"; exit 0' TERM; echo begun > "$0"
            while :; do sleep 0.05; done
            """#
        let first = try await broker.respond(
            ["w", "a", "--", "/bin/sh", "-c", script, pipe], as: "work")
        let asking = try broker.start(["ask", "w", "a", #"{"n":1}"#, "--wait", "1h"])
        #expect(await steps.line() == "begun")
        first.interrupt()
        #expect(await steps.line() == "ended")
        #expect(await first.exitCode() == 0)
        try await broker.waitForAsks(["held"])
        let second = try await broker.respond(["w", "a", "--", "cat"], as: "work")
        #expect(await asking.line() == #"{"n":1}"#)
        withExtendedLifetime(second) {}
    }

    @Test("--concurrency is the number of commands at once, and other asks wait")
    func concurrency() async throws {
        let broker = try await RunningBroker()
        let worker = try await broker.respond(
            ["w", "a", "--concurrency", "2", "--", "sleep", "1000"], as: "work")
        for _ in 0..<3 { _ = try await broker.run("ask", "w", "a", "--ttl", "1h", "--no-wait") }
        try await broker.waitForAsks(["delivered", "delivered", "held"])
        withExtendedLifetime(worker) {}
    }
}
