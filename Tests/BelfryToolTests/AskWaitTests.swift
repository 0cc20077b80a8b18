import BelfryClient
import Foundation
import Testing

/// Each wait of these tests ends with what it waits for.
@Suite("belfry ask and fate: waits that are longer than a connection, with a broker")
struct AskWaitTests {
    /// A directory for a broker, which is removed at the end.
    private func withDirectory(_ body: (URL) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("belfry-ask-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory)
    }

    @Test(
        "a long wait outlives its broker, killed or stopped, and its worker",
        arguments: [true, false])
    func restart(isKilled: Bool) async throws {
        try await withDirectory { directory in
            let broker = try await RunningBroker(directory: directory)
            let first = try await broker.respond(
                ["w", "a", "--"] + RunningProgram.endless, as: "work")
            let asking = try broker.start(["ask", "w", "a", #"{"n":1}"#, "--wait", "4h"])
            try await broker.waitForAsks(["delivered"])
            await first.kill()
            try await broker.waitForAsks(["held"])
            if isKilled {
                await broker.program.kill()
            } else {
                broker.program.interrupt()
                #expect(await broker.program.exitCode() == 0)
            }
            let second = try await broker.restarted(directory: directory)
            let worker = try await second.respond(["w", "a", "--", "cat"], as: "work")
            #expect(await asking.line() == #"{"n":1}"#)
            #expect(await asking.exitCode() == 0)
            withExtendedLifetime(worker) {}
        }
    }

    @Test("Ctrl-C withdraws an ask that is stored, and leaves one with --keep")
    func interrupted() async throws {
        let broker = try await RunningBroker()
        let worker = try await broker.respond(["w", "a", "--", "sleep", "1000"])
        let asking = try broker.start(["ask", "w", "a", "--wait", "4h"])
        try await broker.waitForAsks(["delivered"])
        asking.interrupt()
        #expect(await asking.exitCode() == 3)
        #expect(try await broker.openAsks().isEmpty)
        let keeping = try broker.start(["ask", "w", "a", "--wait", "4h", "--keep"])
        try await broker.waitForAsks(["delivered"])
        keeping.interrupt()
        #expect(await keeping.exitCode() == 3)
        #expect(try await broker.openAsks().count == 1)
        withExtendedLifetime(worker) {}
    }

    @Test("an ask is posted with its id, and fate waits for its answer")
    func fate() async throws {
        let broker = try await RunningBroker()
        let responder = try await broker.respond(["w", "a"])
        let posted = try await broker.run("ask", "w", "a", "--ttl", "1d", "--no-wait")
        let id = try #require(posted.output.first)
        #expect(id.utf8.count == 26 && posted.exitCode == 0)
        let open = try await broker.run("fate", id, "--json")
        #expect(open.output.first?.contains(#""state":"asked""#) == true)
        #expect(open.exitCode == 3)
        let waiting = try broker.start(["fate", id, "--wait", "1h"])
        _ = await responder.line()
        try responder.write(#"{"answer":{"w":5}}"#)
        #expect(await waiting.line() == #"{"w":5}"#)
        #expect(await waiting.exitCode() == 0)
        #expect(try await broker.run("fate", id).output == [#"{"w":5}"#])
        #expect(try await broker.run("fate", "01M7YHX300M8V3ZJ6X5R7N9C1D").exitCode == 1)
        let post = try await broker.run("post", "A")
        let receipt = try #require(post.output.first.flatMap { JSONObject(Array($0.utf8)) })
        let postID = try #require(receipt.string("id"))
        #expect(try await broker.run("fate", postID, "--json").exitCode == 1)
    }

    @Test("when the wait is over there is no answer, and one with a ttl goes on")
    func waitIsOver() async throws {
        let broker = try await RunningBroker()
        let responder = try await broker.respond(["w", "a", "--concurrency", "9"])
        let expired = try await broker.run("ask", "w", "a", "--ttl", "1s")
        #expect(expired.output.isEmpty && expired.exitCode == 3)
        let fallback = try await broker.run("ask", "w", "a", "--ttl", "1s", "--default", "7")
        #expect(fallback.output == ["7"] && fallback.exitCode == 3)
        let open = try await broker.run("ask", "w", "a", "--ttl", "1h", "--wait", "1s", "--json")
        #expect(open.output.first?.contains(#""state":"asked""#) == true && open.exitCode == 3)
        #expect(try await broker.openAsks().count == 1)
        withExtendedLifetime(responder) {}
    }
}
