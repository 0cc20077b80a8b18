import BelfryClient
import Foundation
import Testing

/// Each wait of these tests ends with what it waits for.
@Suite("RemoteCenter: work, long asks and lasting writes, with a broker that restarts")
struct RemoteLastingTests {
    private static var options: ClientOptions {
        var options = ClientOptions()
        options.reconnects = true
        options.firstPause = .milliseconds(10)
        options.longestPause = .milliseconds(50)
        return options
    }

    private func withDirectory(_ body: (URL) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("belfry-lasting-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory)
    }

    @Test("an ask waits longer than its broker lives, for a worker that comes after another left")
    func longAsk() async throws {
        try await withDirectory { directory in
            let first = try await RunningBroker(directory: directory)
            let leaving = try await RemoteCenter.connect(to: first.url)
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            _ = try await leaving.work(on: "jobs", ["a"]) { _ in
                begin.yield()
                try await Task.sleep(for: .seconds(3_600))
                return "1"
            }
            let asker = try await RemoteCenter.connect(to: first.url, options: Self.options)
            async let answer = asker.ask("jobs", "a", wait: .seconds(7_200))
            for await _ in begun { break }
            leaving.leave()
            try await first.waitForAsks(["held"])
            await #expect(throws: ClientError.self) { try await leaving.post(name: "A") }
            await first.program.kill()
            let second = try await first.restarted(directory: directory)
            let center = try await RemoteCenter.connect(to: second.url)
            let worker = try await center.work(on: "jobs", ["a"], concurrency: 2) { _ in "2" }
            #expect(try await answer.text == "2")
            let open = try await asker.ask("jobs", "other", default: "0", wait: .seconds(61))
            #expect(open.source == .fallback(reason: "selector-not-implemented"))
            try await worker.remove()
            await center.close()
            await asker.close()
        }
    }

    @Test("a task that is cancelled withdraws its long ask, and leaves one with a ttl")
    func cancelled() async throws {
        let broker = try await RunningBroker()
        let center = try await RemoteCenter.connect(to: broker.url)
        _ = try await center.work(on: "jobs", ["a"], concurrency: 9) { _ in
            try await Task.sleep(for: .seconds(3_600))
            return "1"
        }
        let asking = Task { try await center.ask("jobs", "a", wait: .seconds(7_200)) }
        try await broker.waitForAsks(["delivered"])
        asking.cancel()
        await #expect(throws: ClientError.cancelled) { try await asking.value }
        try await broker.waitForAsks([])
        let keeping = Task {
            try await center.ask("jobs", "a", wait: .seconds(7_200), ttl: .seconds(7_200))
        }
        try await broker.waitForAsks(["delivered"])
        keeping.cancel()
        await #expect(throws: ClientError.cancelled) { try await keeping.value }
        #expect(try await broker.openAsks() == ["delivered"])
        await center.close()
    }

    @Test("one that fails closed has its default without a broker, and within the wait")
    func failsClosed() async throws {
        let broker = try await RunningBroker()
        let center = try await RemoteCenter.connect(to: broker.url)
        let nobody = try await center.ask("w", "a", default: "false", failClosed: true)
        #expect(nobody.text == "false" && nobody.source == .asker(reason: "no-responder"))
        let desk = try await center.respond(to: "w", ResponderOptions(["a"])) { _ in "true" }
        let answered = try await center.ask("w", "a", default: "false", failClosed: true)
        #expect(answered.text == "true" && answered.source == .responder(observer: desk.id))
        await #expect(throws: ClientError.invalidValue) {
            try await center.ask("w", "a", default: "no", failClosed: true)
        }
        await broker.program.kill()
        let away = try await center.ask("w", "a", failClosed: true)
        #expect(away.text == "null" && away.id.isEmpty)
        let begin = ContinuousClock.now
        let long = try await center.ask(
            "w", "a", default: "1", wait: .milliseconds(200), ttl: .seconds(60), failClosed: true)
        #expect(long.text == "1")
        #expect(ContinuousClock.now - begin < .seconds(30))
        await center.close()
    }

    @Test("a value with a lease and a farewell are there again at a broker that has forgotten all")
    func lastingWrites() async throws {
        let first = try await RunningBroker()
        let port = try #require("\(first.url)".split(separator: ":").last.flatMap { Int($0) })
        let center = try await RemoteCenter.connect(to: first.url, options: Self.options)
        try await center.setValue(
            "room", keyPath: "who.ann", json: #"{"n":1}"#, lease: .seconds(10))
        var farewell = PostOptions()
        farewell.onDisconnect = true
        _ = try await center.post(name: "Gone", object: "ann", options: farewell)
        await first.program.kill()
        let second = try await RunningBroker(port: port)
        let other = try await RemoteCenter.connect(to: second.url)
        while try await other.value("room", keyPath: "who.ann") == nil { await Task.yield() }
        // The queue of the broker lists what is to be posted.
        while true {
            let answer = try await HTTPRequest.get("queue").answer(from: second.url)
            if JSONObject(answer.content)?.objects("entries").count == 1 { break }
            await Task.yield()
        }
        let gone = try await other.addObserver(forName: "Gone", object: "ann")
        center.leave()
        for try await notification in gone {
            #expect(notification.object == "ann")
            break
        }
        await other.close()
    }
}
