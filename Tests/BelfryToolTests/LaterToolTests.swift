import BelfryClient
import Foundation
import Testing

@Suite("belfry post and queue, and farewells of the library: what is posted later, with a broker")
struct LaterToolTests {
    @Test("post tells when it is due, queue --waiting lists it, and --remove takes it out")
    func later() async throws {
        let broker = try await RunningBroker()
        let posted = try await broker.run(
            "post", "Save", "--object", "d", "--after", "1h", "--replaces")
        let answer = Data((posted.output.first ?? "").utf8)
        let receipt = try #require(
            try JSONSerialization.jsonObject(with: answer) as? [String: Any])
        #expect(receipt["outcome"] as? String == "queued" && receipt["dueAt"] is String)
        let id = try #require(receipt["id"] as? String)
        #expect(try await broker.run("queue", "--waiting").output.joined().contains(id))
        #expect(try await broker.run("queue", "--remove", id).exitCode == 0)
        #expect(try await !broker.run("queue").output.joined().contains(id))
    }

    @Test("who closes its center leaves no farewell behind, and who is gone does")
    func farewells() async throws {
        let broker = try await RunningBroker()
        let center = try await RemoteCenter.connect(to: broker.url)
        let left = try await center.addObserver(forName: "Left", object: nil)
        var options = PostOptions()
        options.onDisconnect = true
        let polite = try await RemoteCenter.connect(to: broker.url)
        _ = try await polite.post(name: "Left", object: "polite", options: options)
        await polite.close()
        let waiting = try await center.post(name: "Left", object: "sentinel")
        #expect(waiting.matched == 1)
        for try await notification in left {
            #expect(notification.object == "sentinel")
            break
        }
        await center.close()
    }
}
