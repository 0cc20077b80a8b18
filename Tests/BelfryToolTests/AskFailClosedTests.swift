import BelfryClient
import Foundation
import Testing

@Suite("belfry ask --fail-closed: anything but the answer of a responder is the default")
struct AskFailClosedTests {
    private static func problem(_ status: Int, _ slug: String) -> [UInt8] {
        CannedServer.answer(
            status, "application/problem+json",
            #"{"type":"https://belfry.dev/problems/\#(slug)","status":\#(status)}"#)
    }

    private static func json(_ content: String) -> [UInt8] {
        CannedServer.answer(200, "application/json", content)
    }

    /// The default of an asker that is answered so, and the time that it takes.
    private func outcome(
        _ url: String, wait: String, _ options: String...
    ) async throws -> (answer: JSONObject, exitCode: Int32?, time: Duration) {
        let begin = ContinuousClock.now
        let program = try RunningProgram(
            [
                "ask", "w", "a", "--default", "false", "--fail-closed", "--json", "--wait", wait,
                "--url", url,
            ] + options)
        let line = try #require(await program.line())
        let time = ContinuousClock.now - begin
        #expect(await program.line() == nil)
        let answer = try #require(JSONObject(Array(line.utf8)))
        return (answer, await program.exitCode(), time)
    }

    @Test(
        "an answer that is no responder's",
        arguments: [
            (problem(401, "unauthorized"), "unauthorized"),
            (problem(403, "forbidden"), "forbidden"),
            (problem(429, "rate-limited"), "rate-limited"), (problem(500, "internal"), "internal"),
            (problem(503, "draining"), "draining"), (problem(503, "no-responder"), "no-responder"),
            (problem(504, "no-answer"), "no-answer"),
            (CannedServer.answer(500, "text/html", "<html>"), "status 500"),
            (CannedServer.answer(503, "text/plain", "no"), "status 503"),
            (CannedServer.answer(200, "text/html", "<html>login</html>"), "text/html"),
            (CannedServer.answer(204, "text/plain", ""), "status 204"),
            (json(#"{"id":"n1","answer":true,"by":"responder""#), "status 200"),
            (json(#"{"id":"n1","answer":tru,"by":"responder"}"#), "status 200"),
            (json(#"{"answer":true}"#), "status 200"),
            (json(#"{"id":"n1","answer":true}"#), "not of the protocol"),
            (json(#"{"id":"n1","by":"responder"}"#), "not of the protocol"),
            (json(#"{"id":"n1","answer":true,"by":"default","reason":"no-answer"}"#), "no-answer"),
            (json("[]"), "status 200"), (Array("SSH-2.0-x\r\n\r\n".utf8), "HTTP"),
        ])
    func answers(answer: [UInt8], reason: String) async throws {
        let server = try CannedServer()
        let outcome = try await outcome(try await server.start(answer), wait: "60s")
        #expect(outcome.exitCode == 3)
        #expect(outcome.answer.raw("answer") == Array("false".utf8))
        #expect(outcome.answer.string("by") == "asker")
        #expect(outcome.answer.string("reason")?.contains(reason) == true)
    }

    @Test("a server that hangs, one that stops, and one that is away")
    func silence() async throws {
        let server = try CannedServer()
        let url = try await server.start(nil)
        let hung = try await outcome(url, wait: "300ms")
        #expect(hung.answer.string("by") == "asker" && hung.exitCode == 3)
        #expect(hung.time >= .milliseconds(300) && hung.time < .seconds(30))
        let stopping = try CannedServer()
        let retried = try await outcome(
            try await stopping.start(Self.problem(503, "draining")), wait: "300ms", "--ttl", "1h")
        #expect(retried.answer.string("by") == "asker" && retried.exitCode == 3)
        #expect(retried.time >= .milliseconds(300) && retried.time < .seconds(30))
        // No system assigns port 1 to a socket that asks for any port.
        let away = try await outcome("http://127.0.0.1:1", wait: "1s")
        #expect(away.answer.string("by") == "asker" && away.exitCode == 3)
    }

    @Test("Ctrl-C is no answer either, also of an ask that is stored")
    func interrupted() async throws {
        let server = try CannedServer()
        let url = try await server.start(nil)
        let asking = try RunningProgram([
            "ask", "w", "a", "--default", "false", "--fail-closed", "--wait", "1h", "--url", url,
        ])
        while !server.hasHeard { await Task.yield() }
        asking.interrupt()
        #expect(await asking.line() == "false")
        #expect(await asking.exitCode() == 3)
    }

    @Test("the answer of a responder is the answer, and a faulty environment is none")
    func responder() async throws {
        let broker = try await RunningBroker()
        let responder = try await broker.respond(["w", "a", "--", "echo", "true"])
        for wait in ["9s", "2m"] {
            let answered = try await broker.run(
                "ask", "w", "a", "--default", "false", "--fail-closed", "--wait", wait)
            #expect(answered.output == ["true"] && answered.exitCode == 0)
        }
        let absent = try await broker.run(
            "ask", "w", "a", "--default", "false", "--fail-closed", "--ca", "/nowhere", "--json")
        #expect(absent.exitCode == 3)
        #expect(absent.output.first?.hasPrefix(#"{"answer":false,"by":"asker","reason":"#) == true)
        withExtendedLifetime(responder) {}
    }
}
