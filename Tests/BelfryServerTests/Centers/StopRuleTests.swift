import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("The queue at the stop and at the next start (rule Q23)")
struct StopRuleTests {
    /// Posts asap `a` and idle `i` through a door; the broker is stopped in the same turn.
    private static func postAndStop(_ scene: Scene, _ broker: Broker) throws -> SocketPeer {
        let loop = scene.loopCount - 1
        let poster = try broker.webSocket(loop: loop)
        switch scene.door {
        case .http:
            let peer = try broker.http(loop: loop)
            let fields = ["Content-Type: application/json"]
            let body = "[\(idle("i")),\(asap("a"))]"
            peer.peer.send(HTTPPeer.text("POST", "/v1/notifications", body, fields: fields).utf8)
        case .webSocket:
            poster.put("[\(poster.call("post", idle("i"))),\(poster.call("post", asap("a")))]")
        }
        // With two loops the posts travel first.
        if scene.loopCount == 2 { _ = try broker.nodes[1].crank() }
        try broker.nodes[0].turn(endingWith: 15)
        try broker.crank()
        return poster
    }

    /// Lets the clients go, and the broker end.
    private static func end(_ broker: Broker, _ peers: [SocketPeer]) throws {
        for peer in peers { peer.peer.close() }
        try broker.crank()
        for _ in 0..<40 where !broker.nodes.allSatisfy({ $0.hasStopped }) {
            try broker.advance(by: .seconds(1))
        }
        #expect(broker.nodes.allSatisfy { $0.hasStopped })
    }

    @Test(
        "Q23, T81: asap leaves before the stop, and with a store idle after the start",
        arguments: Scene.all)
    func stored(scene: Scene) throws {
        let store = HandStore()
        let loop = scene.loopCount - 1
        let broker = try Broker(loopCount: scene.loopCount, beginning: store.beginning())
        let x = try broker.webSocket(loop: loop)
        try x.send(x.call("addObserver", #"{"name":null}"#))
        try store.commit(in: broker)
        let poster = try Self.postAndStop(scene, broker)
        try store.commit(in: broker)
        // The last reports of the centers.
        try store.commit(in: broker)
        let methods = try x.takeMessages().map { message in
            message["params"]["name"].text ?? message["method"].text ?? "answer"
        }
        #expect(methods == ["answer", "a", "belfry.draining"])
        #expect(x.closeCode == 1012)
        try Self.end(broker, [x, poster])
        try store.commit(in: broker)

        let next = try Broker(loopCount: scene.loopCount, beginning: store.beginning())
        try next.crank()
        try store.commit(in: next)
        let newcomer = try next.webSocket(loop: loop)
        try newcomer.send(newcomer.call("resume", #"{"session":"\#(x.session)"}"#))
        try store.commit(in: next)
        let notifications = try newcomer.takeNotifications()
        #expect(notifications.map(\.key) == ["i"])
        #expect(notifications.map { $0["redelivered"] } == [.boolean(true)])
        #expect(try next.get("/v1/queue").json["entries"] == [])
    }

    @Test(
        "Q23, T81: asap leaves before the stop, and in memory idle is counted as discarded",
        arguments: Scene.all)
    func inMemory(scene: Scene) throws {
        let lines = LogLines()
        let broker = try Broker(loopCount: scene.loopCount, log: lines.log())
        let x = try broker.webSocket(loop: scene.loopCount - 1)
        try x.observe(nil)
        let poster = try Self.postAndStop(scene, broker)
        let keys = try x.takeKeys()
        #expect(keys == ["a"])
        try Self.end(broker, [x, poster])
        #expect(try x.takeKeys() == [])
        #expect(lines.all.filter { $0.hasPrefix("queue entries are discarded") }.count == 1)
        #expect(lines.all.contains { $0.hasSuffix("entries=1") })
    }
}
