import BelfryClient
import Foundation
import Testing

@Suite("belfry observe --target, respond, observers and explain, with a broker")
struct ActionToolTests {
    /// Starts `belfry observe` with a target, and waits until the broker has its observer.
    private func wire(_ broker: RunningBroker, _ arguments: String...) async throws
        -> RunningProgram
    {
        let program = try broker.start(["observe"] + arguments)
        while try await broker.run("observers").output.first?.contains(#""target":"w""#) != true {}
        return program
    }

    @Test(
        "an observer with a target gives what comes to the command of the responder, until Ctrl-C")
    func command() async throws {
        let broker = try await RunningBroker()
        let script = """
            read -r info
            [ "$ASK_SELECTOR" = pass ] && exit 75
            echo "[\\"$ASK_NAME\\",\\"$ASK_OBJECT\\",\\"$ASK_SELECTOR\\",\\"$ASK_TARGET\\",$info]"
            """
        let responder = try await broker.respond([
            "w", "on", "pass", "--next", "v", "--", "/bin/sh", "-c", script,
        ])
        let next = try await broker.respond(["v", "pass", "--", "/bin/sh", "-c", "exit 4"])
        let program = try await wire(
            broker, "A", "--object", "s", "--target", "w", "--selector", "on", "--acknowledge")
        let center = try await RemoteCenter.connect(to: broker.url)
        var options = PostOptions()
        options.wait = .seconds(60)
        options.reportsObservers = true
        let info = try UserInfo(json: #"{"x":1}"#)
        let receipt = try await center.post(
            name: "A", object: "s", userInfo: info, options: options)
        #expect(receipt.acknowledged == 1)
        let text = String(decoding: receipt.json, as: UTF8.self)
        #expect(text.contains(#""result":["A","s","on","w",{"x":1}]"#))
        program.interrupt()
        #expect(await program.exitCode() == 0)
        #expect(try await center.post(name: "A", object: "s").matched == 0)
        // 75 hands on, and another exit code refuses.
        let passing = try await wire(
            broker, "A", "--target", "w", "--selector", "pass", "--acknowledge")
        let refused = try await center.post(name: "A", userInfo: info, options: options)
        #expect(refused.observers.first?.outcome == "refused")
        #expect(refused.observers.first?.refusal?.contains("exit code 4") == true)
        await center.close()
        withExtendedLifetime((responder, next, passing)) {}
    }

    @Test("without a command an action is printed with its selector; listings show targets")
    func lines() async throws {
        let broker = try await RunningBroker()
        let responder = try await broker.respond(["w", "on"])
        let program = try await wire(broker, "A", "--target", "w", "--selector", "on")
        #expect(try await broker.run("post", "A", "--object", "s").exitCode == 0)
        let line = try #require(await responder.line())
        let shown = try #require(JSONObject(Array(line.utf8)))
        #expect(shown.string("name") == "A" && shown.string("object") == "s")
        #expect(shown.string("target") == "w" && shown.string("selector") == "on")
        let rows = try await broker.run("observers").output.first
        #expect(rows?.contains(#""selector":"on","target":"w""#) == true)
        let explained = try await broker.run("explain", "A").output.first
        #expect(explained?.contains(#""outcome":"delivered","target":"w","observer":"#) == true)
        program.interrupt()
        #expect(await program.exitCode() == 0)
        let answered = try await wire(
            broker, "A", "--target", "w", "--selector", "on", "--acknowledge")
        let center = try await RemoteCenter.connect(to: broker.url)
        var options = PostOptions()
        options.wait = .seconds(60)
        async let receipt = center.post(name: "A", options: options)
        _ = await responder.line()
        try responder.write(#"{"answer":{"w":5}}"#)
        #expect(try await receipt.acknowledged == 1)
        await center.close()
        withExtendedLifetime(answered) {}
    }
}
