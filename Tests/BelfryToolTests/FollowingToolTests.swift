import BelfryClient
import Foundation
import Testing

/// Each wait of these tests ends with what it waits for.
@Suite("belfry: followers and a broker that is killed")
struct FollowingToolTests {
    /// Waits until a broker has this number of observers.
    private func observers(_ count: Int, at url: BrokerURL) async throws {
        while true {
            let answer = try await HTTPRequest.get("observers").answer(from: url)
            let page = try #require(JSONObject(answer.content))
            if page.objects("observers").count == count { return }
            await Task.yield()
        }
    }

    @Test(
        "after a restart in memory observe has all that the new broker got, once, and tells the gap",
        arguments: [[], ["--sse"]])
    func observe(options: [String]) async throws {
        let broker = try await RunningBroker()
        let port = try #require("\(broker.url)".split(separator: ":").last.flatMap { Int($0) })
        let observing = try broker.start(["observe", "A"] + options)
        try await observers(1, at: broker.url)
        _ = try await broker.run("post", "A", "--user-info", #"{"n":1}"#)
        #expect(await observing.line()?.contains(#"{"n":1}"#) == true)
        await broker.program.kill()
        let second = try await RunningBroker(port: port)
        for number in 2...4 {
            _ = try await second.run("post", "A", "--user-info", #"{"n":\#(number)}"#)
        }
        for number in 2...4 {
            #expect(await observing.line()?.contains(#"{"n":\#(number)}"#) == true)
        }
        try await observers(1, at: second.url)
        _ = try await second.run("post", "A", "--user-info", #"{"n":5}"#)
        #expect(await observing.line()?.contains(#"{"n":5}"#) == true)
        observing.interrupt()
        #expect(await observing.line() == nil)
        #expect(await observing.exitCode() == 0)
        try await observers(0, at: second.url)
    }

    @Test("with --no-reconnect observe ends with its connection, with exit code 1")
    func noReconnect() async throws {
        let broker = try await RunningBroker()
        let observing = try broker.start(["observe", "A", "--no-reconnect"])
        try await observers(1, at: broker.url)
        await broker.program.kill()
        #expect(await observing.exitCode() == 1)
    }
}
