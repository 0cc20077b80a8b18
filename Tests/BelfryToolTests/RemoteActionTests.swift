import BelfryClient
import Foundation
import Testing

@Suite("RemoteCenter: observers with a target, with a broker")
struct RemoteActionTests {
    private var waiting: PostOptions {
        var options = PostOptions()
        options.wait = .seconds(60)
        options.reportsObservers = true
        return options
    }

    private var acknowledging: ObserverOptions {
        var options = ObserverOptions()
        options.acknowledges = true
        return options
    }

    @Test(
        "an action comes to whoever holds the target, which answers it where the observer acknowledges"
    )
    func actions() async throws {
        let broker = try await RunningBroker()
        let (wirer, lamps) = (
            try await RemoteCenter.connect(to: broker.url),
            try await RemoteCenter.connect(to: broker.url)
        )
        var options = ResponderOptions(["on", "off", "pass", "refuse"])
        options.next = "hall"
        let (asks, handled) = AsyncStream.makeStream(of: Ask.self)
        let lamp = try await lamps.respond(to: "lamp", options) { ask in
            handled.yield(ask)
            switch ask.selector {
            case "pass": return try ask.pass()
            case "refuse": throw Refusal("no bulb")
            default: return #""\#(ask.selector)""#
            }
        }
        let hall = try await lamps.respond(to: "hall", ResponderOptions(["pass"])) { ask in
            #""\#(ask.target ?? "")""#
        }
        let silent = try await wirer.addObserver(
            forName: "touchUp", object: "s", target: "lamp", selector: "on")
        #expect(silent.target == "lamp" && silent.selector == "on")
        var answered: [Observation] = []
        for selector in ["off", "on", "pass", "refuse"] {
            answered.append(
                try await wirer.addObserver(
                    forName: "touchUp", object: nil, target: "lamp", selector: selector,
                    options: acknowledging))
        }
        let attic = try await wirer.addObserver(
            forName: "touchUp", object: "s", target: "attic", selector: "on")
        let receipt = try await wirer.post(
            name: "touchUp", object: "s", userInfo: UserInfo(json: #"{"x":1}"#), options: waiting)
        #expect(receipt.observers.map(\.observer) == ([silent] + answered + [attic]).map(\.id))
        #expect(
            receipt.observers.map(\.outcome) == [
                "delivered", "acknowledged", "acknowledged", "acknowledged", "refused", "unhandled",
            ])
        let responders = [lamp.id, lamp.id, lamp.id, hall.id, lamp.id, nil]
        #expect(receipt.observers.map(\.responder) == responders)
        #expect(receipt.observers.last?.reason == "no-responder")
        let text = String(decoding: receipt.json, as: UTF8.self)
        #expect(text.contains(#""result":"off""#) && text.contains(#""result":"hall""#))
        var iterator = asks.makeAsyncIterator()
        for selector in ["on", "off", "on", "pass", "refuse"] {
            let ask = try #require(await iterator.next())
            #expect(ask.selector == selector && ask.name == "touchUp" && ask.object == "s")
            #expect(ask.target == "lamp" && ask.userInfo?.text == #"{"x":1}"#)
            #expect(ask.id == receipt.id && ask.answerBy == nil)
        }
        try await silent.removeObserver()
        // Its sequence has ended.
        #expect(try await silent.first { _ in true } == nil)
        #expect(try await wirer.post(name: "touchUp", object: "s").matched == 5)
        await wirer.close()
        await lamps.close()
    }

    @Test("an observer with a target outlives its broker, and so does what its responder was held")
    func restart() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try await RunningBroker(directory: folder)
        var settings = ClientOptions()
        settings.reconnects = true
        settings.firstPause = .milliseconds(10)
        settings.longestPause = .milliseconds(50)
        let center = try await RemoteCenter.connect(to: first.url, options: settings)
        var options = ResponderOptions(["on", "off"])
        options.terms.lifetime = .token
        options.terms.suspensionBehavior = .hold
        let (asks, handled) = AsyncStream.makeStream(of: Ask.self)
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        _ = try await center.respond(to: "w", options) { ask in
            handled.yield(ask)
            for await _ in gate { break }
            return "1"
        }
        var terms = acknowledging
        terms.lifetime = .token
        for selector in ["on", "off"] {
            _ = try await center.addObserver(
                forName: "A", object: nil, target: "w", selector: selector, options: terms)
        }
        let receipt = try await center.post(name: "A")
        #expect(receipt.delivered == 2 && receipt.pending == 2)
        var iterator = asks.makeAsyncIterator()
        var seen = [try #require(await iterator.next())]
        await first.program.kill()
        let port = try #require("\(first.url)".split(separator: ":").last.flatMap { Int($0) })
        let second = try await RunningBroker(port: port, directory: folder)
        opening.finish()
        // Later posts come behind it, and each of them once.
        let poster = try await RemoteCenter.connect(to: second.url)
        let later = try await poster.post(name: "A")
        while seen.count < 4 { seen.append(try #require(await iterator.next())) }
        #expect(seen.map(\.selector) == ["on", "off", "on", "off"])
        #expect(seen.map(\.id) == [receipt.id, receipt.id, later.id, later.id])
        await poster.close()
        await center.close()
        withExtendedLifetime(second) {}
    }
}
