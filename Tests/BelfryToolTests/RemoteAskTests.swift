import BelfryClient
import Foundation
import Synchronization
import Testing

@Suite("RemoteCenter: responders and asks, with a broker")
struct RemoteAskTests {
    @Test("the answer of a responder, a default, and a refusal with its problem")
    func answers() async throws {
        let broker = try await RunningBroker()
        let center = try await RemoteCenter.connect(to: broker.url)
        var options = ResponderOptions(["a", "pass", "refuse"])
        options.next = "v"
        let desk = try await center.respond(to: "w", options) { ask in
            switch ask.selector {
            case "refuse": throw Refusal("no paper")
            case "pass": return try ask.pass()
            default: return ask.userInfo?.text ?? "null"
            }
        }
        let second = try await center.respond(to: "v", ResponderOptions(["a", "pass"])) { ask in
            #expect(ask.object == "w" || ask.object == "v")
            return #""\#(ask.target ?? "")""#
        }
        let info = try UserInfo(json: #"{ "n": 1.50 }"#)
        let answer = try await center.ask("w", "a", userInfo: info)
        #expect(answer.text == #"{ "n": 1.50 }"#)
        #expect(answer.source == .responder(observer: desk.id))
        #expect(answer.path == ["w"])
        #expect(try await center.ask("w", "a").text == "null")
        let passed = try await center.ask("w", "pass", once: false)
        #expect(passed.text == #""v""# && passed.path == ["w", "v"])
        let fallback = try await center.ask("w", "none", default: "false", wait: .seconds(2))
        #expect(fallback.text == "false")
        #expect(fallback.source == .fallback(reason: "selector-not-implemented"))
        let error = await #expect(throws: ClientError.self) {
            try await center.ask("w", "refuse")
        }
        guard case .refused(let refusal) = error else {
            Issue.record("\(error.map { "\($0)" } ?? "no error")")
            return
        }
        #expect(refusal.slug == "responder-refused" && refusal.status == 502)
        #expect(JSONObject(refusal.problem)?.raw("error") != nil)
        try await desk.remove()
        try await desk.waitUntilRemoved()
        #expect(
            try await center.ask("w", "a", default: "0").source
                == .fallback(reason: "no-responder"))
        try await second.remove()
        await center.close()
    }

    @Test("a cancelled ask is withdrawn, and the task of its handler is cancelled")
    func withdrawal() async throws {
        let broker = try await RunningBroker()
        let center = try await RemoteCenter.connect(to: broker.url)
        let (begun, begin) = AsyncStream.makeStream(of: String.self)
        let (ended, end) = AsyncStream.makeStream(of: Bool.self)
        let desk = try await center.respond(to: "w", ResponderOptions(["a"])) { ask in
            begin.yield(ask.id)
            try? await Task.sleep(for: .seconds(3_600))
            end.yield(Task.isCancelled)
            return "1"
        }
        let asking = Task { try await center.ask("w", "a", wait: .seconds(60)) }
        var iterator = begun.makeAsyncIterator()
        let id = try #require(await iterator.next())
        asking.cancel()
        await #expect(throws: ClientError.cancelled) { try await asking.value }
        for await isCancelled in ended {
            #expect(isCancelled)
            break
        }
        #expect(try await center.answer(toAsk: id).source == .withdrawn)
        try await desk.remove()
        await center.close()
    }

    @Test("an ask with a time to live is answered later, or withdrawn")
    func later() async throws {
        let broker = try await RunningBroker()
        let center = try await RemoteCenter.connect(to: broker.url)
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let desk = try await center.respond(to: "w", ResponderOptions(["a", "b"])) { ask in
            if ask.selector == "b" { try await Task.sleep(for: .seconds(3_600)) }
            for await _ in gate { break }
            return "1"
        }
        let asked = try await center.ask("w", "a", ttl: .seconds(60))
        #expect(asked.source == .open && asked.json.isEmpty)
        #expect(try await center.answer(toAsk: asked.id).source == .open)
        opening.yield()
        let answer = try await center.answer(toAsk: asked.id, wait: .seconds(60))
        #expect(answer.text == "1" && answer.path == ["w"])
        let other = try await center.ask("w", "b", ttl: .milliseconds(59_500))
        try await center.withdraw(ask: other.id)
        #expect(try await center.answer(toAsk: other.id).source == .withdrawn)
        await #expect(throws: ClientError.self) { try await center.withdraw(ask: other.id) }
        let failed = try await center.ask("w", "b", ttl: .milliseconds(1))
        await #expect(throws: ClientError.self) {
            try await center.answer(toAsk: failed.id, wait: .seconds(60))
        }
        try await desk.remove()
        await center.close()
    }

    @Test("a responder outlives its broker: the ask comes again, and is handled once")
    func restart() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try await RunningBroker(directory: folder)
        var settings = ClientOptions()
        settings.reconnects = true
        settings.firstPause = .milliseconds(10)
        settings.longestPause = .milliseconds(50)
        let center = try await RemoteCenter.connect(to: first.url, options: settings)
        var options = ResponderOptions(["a"])
        options.terms.lifetime = .token
        options.terms.suspensionBehavior = .hold
        let count = Mutex(0)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let desk = try await center.respond(to: "w", options) { _ in
            count.withLock { $0 += 1 }
            begin.yield()
            for await _ in gate { break }
            return "1"
        }
        let asked = try await center.ask("w", "a", ttl: .seconds(3_600))
        for await _ in begun { break }
        await first.program.kill()
        // An answer that is on its way to a broker that is gone is lost with it, and the ask is
        // handled again.
        for await state in center.connectionStates {
            if case .away = state { break }
        }
        let port = try #require("\(first.url)".split(separator: ":").last.flatMap { Int($0) })
        let second = try await RunningBroker(port: port, directory: folder)
        opening.yield()
        let answer = try await center.answer(toAsk: asked.id, wait: .seconds(60))
        #expect(answer.text == "1" && answer.source == .responder(observer: desk.id))
        #expect(count.withLock { $0 } == 1)
        try await desk.remove()
        await center.close()
        withExtendedLifetime(second) {}
    }

    @Test("an ask that is repeated with its key gets the first answer")
    func keys() async throws {
        let broker = try await RunningBroker()
        let center = try await RemoteCenter.connect(to: broker.url)
        let count = Mutex(0)
        let desk = try await center.respond(to: "w", ResponderOptions(["a"])) { _ in
            "\(count.withLock { $0 += 1; return $0 })"
        }
        for _ in 0..<2 {
            #expect(try await center.ask("w", "a", idempotencyKey: "k").text == "1")
        }
        #expect(try await center.ask("w", "a", idempotencyKey: "l").text == "2")
        try await desk.remove()
        await center.close()
    }

    @Test(
        "a responder gets posts with its object, in their order, and the next holder takes its place"
    )
    func postsAndReplacement() async throws {
        let broker = try await RunningBroker()
        let center = try await RemoteCenter.connect(to: broker.url)
        let (posts, handled) = AsyncStream.makeStream(of: Ask.self)
        let desk = try await center.respond(to: "w", ResponderOptions(["didMove"])) { ask in
            handled.yield(ask)
            return "null"
        }
        var sequences: [UInt64] = []
        for object in ["w", "v", "w"] {
            let receipt = try await center.post(name: "didMove", object: object)
            if object == "w" { sequences.append(receipt.sequence) }
            #expect(receipt.matched == (object == "w" ? 1 : 0))
        }
        var iterator = posts.makeAsyncIterator()
        for sequence in sequences {
            let post = try #require(await iterator.next())
            #expect(post.notification.sequence == sequence && post.answerBy == nil)
        }
        let second = try await center.respond(to: "w", ResponderOptions(["didMove"])) { _ in "2" }
        await #expect(throws: ClientError.observerRemoved(reason: "replaced")) {
            try await desk.waitUntilRemoved()
        }
        #expect(try await center.ask("w", "didMove").text == "2")
        var refused = ResponderOptions(["didMove"])
        refused.ifHeld = .refuse
        await #expect(throws: ClientError.self) {
            try await center.respond(to: "w", refused) { _ in "3" }
        }
        try await second.remove()
        await center.close()
    }

    @Test("asks are handled side by side, and those of a pool are shared")
    func sharing() async throws {
        let broker = try await RunningBroker()
        let (pool, asker) = (
            try await RemoteCenter.connect(to: broker.url),
            try await RemoteCenter.connect(to: broker.url)
        )
        var options = ResponderOptions(["work"])
        options.ifHeld = .share
        options.concurrency = 1
        options.terms.suspensionBehavior = .hold
        let (begun, begin) = AsyncStream.makeStream(of: String.self)
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        for name in ["1", "2"] {
            _ = try await pool.respond(to: "pool", options) { _ in
                begin.yield(name)
                for await _ in gate { break }
                return name
            }
        }
        async let first = asker.ask("pool", "work")
        async let second = asker.ask("pool", "work")
        var names: Set<String> = []
        for await name in begun {
            names.insert(name)
            if names.count == 2 { break }
        }
        opening.finish()
        #expect(try await Set([first.text, second.text]) == ["1", "2"])
        await pool.close()
        await asker.close()
    }
}
