import BelfryAccess
import BelfryCenter
import BelfryLoop
import Synchronization
import Testing

@testable import BelfryServer

@Suite("Centers end when they have nothing (decision 47)")
struct CenterEndTests {
    private static func broker(
        loopCount: Int = 1, lateSeed: UInt64? = LateSequencer.seed,
        _ adjust: (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> Broker {
        try Broker(loopCount: loopCount, lateSeed: lateSeed) {
            $0.centerIdleTimeout = .seconds(80)
            $0.anonymousGrants = Grants([Grant(.all)])
            adjust(&$0)
        }
    }

    private func names(_ broker: Broker) throws -> [String] {
        let rows = try broker.get("/v1/centers?limit=1000").json["centers"].elements
        return rows.compactMap { $0["name"].text }
    }

    private func epoch(_ broker: Broker, _ name: String) throws -> String? {
        let rows = try broker.get("/v1/centers").json["centers"].elements
        return rows.first { $0["name"].text == name }?["epoch"].text
    }

    private func touch(_ broker: Broker, _ name: String) throws {
        let answer = try broker.request("POST", "/v1/centers/\(name)/channels/n", "{}")
        try #require(answer.status == 200)
    }

    // MARK: Left

    @Test("one that was left ends, the default one never, and what comes then is another life")
    func left() throws {
        let broker = try Self.broker()
        try touch(broker, "a")
        let first = try epoch(broker, "a")
        try broker.advance(by: .seconds(79))
        #expect(try names(broker) == ["a", "default"])
        // A post makes its time begin anew.
        try touch(broker, "a")
        try broker.advance(by: .seconds(79))
        #expect(try names(broker) == ["a", "default"])
        try broker.advance(by: .seconds(12))
        #expect(try names(broker) == ["default"])
        #expect(try broker.get("/metrics").text.contains("belfry_centers 1\n"))
        try broker.advance(by: .seconds(800))
        #expect(try names(broker) == ["default"])
        try touch(broker, "a")
        #expect(try epoch(broker, "a") != first)
        #expect(try broker.get("/v1/centers").json["centers"][0]["seq"].int == 1)
    }

    /// Objects that keep a center, and their removals.
    private static let reasons: [(make: (String, String, String), drop: (String, String))] = [
        (("observers", #"{"name":"n"}"#, "token"), ("DELETE", "observers/")),
        (("modes", #"{"mode":"modal","lease":3600}"#, "token"), ("DELETE", "modes/")),
        (
            ("notifications", #"{"name":"n","style":"idle","modes":["never"]}"#, "id"),
            ("DELETE", "queue/")
        ),
        (("notifications", #"{"name":"n","after":86400}"#, "id"), ("DELETE", "queue/")),
    ]

    @Test("one that has something stays, and ends when that is gone", arguments: 0..<4)
    func kept(place: Int) throws {
        let (make, drop) = Self.reasons[place]
        let broker = try Self.broker()
        let made = try broker.post(make.1, target: "/v1/centers/a/\(make.0)")
        let id = try #require(made.json[make.2].text)
        try broker.advance(by: .seconds(400))
        #expect(try names(broker) == ["a", "default"])
        let refused = try broker.request("DELETE", "/v1/centers/a")
        #expect(refused.problem == "center-in-use")
        let dropped = try broker.request(drop.0, "/v1/centers/a/\(drop.1)\(id)")
        #expect((200...204).contains(dropped.status))
        try broker.advance(by: .seconds(79))
        #expect(try names(broker) == ["a", "default"])
        try broker.advance(by: .seconds(12))
        #expect(try names(broker) == ["default"])
    }

    @Test("V14: a write whose condition is not met makes no center")
    func refusedWrite() throws {
        let broker = try Self.broker()
        for (method, target) in [("PUT", "o/a"), ("PATCH", "o")] {
            let refused = try broker.request(
                method, "/v1/centers/a/values/\(target)", "{}", fields: ["If-Match: *"])
            #expect(refused.status == 412 && refused.problem == "precondition-failed")
        }
        #expect(try names(broker) == ["default"])
        let made = try broker.request(
            "PUT", "/v1/centers/a/values/o", "{}", fields: ["If-None-Match: *"])
        #expect(made.status == 201)
        #expect(try names(broker) == ["a", "default"])
    }

    @Test("a client keeps its center until it goes, and a key for its five minutes")
    func clients() throws {
        let broker = try Self.broker()
        let stream = try broker.events("/v1/centers/b/events?name=n")
        _ = try broker.request(
            "POST", "/v1/centers/c/channels/n", "{}", fields: ["Idempotency-Key: k"])
        try broker.advance(by: .seconds(200))
        try broker.advance(by: .seconds(105))
        #expect(try names(broker) == ["b", "c", "default"])
        try broker.advance(by: .seconds(95))
        #expect(try names(broker) == ["b", "default"])
        stream.peer.close()
        try broker.crank()
        try broker.advance(by: .seconds(75))
        #expect(try names(broker) == ["b", "default"])
        try broker.advance(by: .seconds(20))
        #expect(try names(broker) == ["default"])
    }

    @Test("centers that nobody uses do not use up the places of others for ever")
    func places() throws {
        let broker = try Self.broker { $0.centerLimit = 4 }
        for name in ["a", "b", "c"] { try touch(broker, name) }
        let refused = try broker.request("POST", "/v1/centers/d/channels/n", "{}")
        #expect(refused.problem == "overloaded")
        try broker.advance(by: .seconds(91))
        try touch(broker, "d")
        #expect(try names(broker) == ["d", "default"])
    }

    @Test("many end in several turns, and those between them stay as they are")
    func many() throws {
        let broker = try Self.broker { $0.centerLimit = 2_000 }
        let peer = try broker.http()
        for node in broker.nodes { node.server.accountForAllKept() }
        let before = (broker.shared.totals[.replay], broker.shared.totals[.fates])
        for number in 0..<900 {
            _ = try peer.request("POST", "/v1/centers/x\(number)/channels/n", "{}")
        }
        let kept = [0, 1, 255, 256, 511, 700, 899]
        let streams = try kept.map { try broker.events("/v1/centers/x\($0)/events?name=n") }
        try broker.advance(by: .seconds(91))
        #expect(
            try Set(names(broker)) == Set(kept.map { "x\($0)" } + ["default"]))
        let later = try broker.http()
        for (number, stream) in zip(kept, streams) {
            _ = try later.request("POST", "/v1/centers/x\(number)/channels/n", #"{"v":\#(number)}"#)
            let events = try stream.takeEvents().filter { $0.type.isEmpty }
            #expect(events.map { $0.data["userInfo"]["v"].int } == [number])
        }
        for node in broker.nodes { node.server.accountForAllKept() }
        #expect(broker.shared.totals[.replay] > before.0)
        for stream in streams { stream.peer.close() }
        try broker.crank()
        try broker.advance(by: .seconds(300))
        #expect(try names(broker) == ["default"])
        // Their memory is not in the account any more.
        for node in broker.nodes { node.server.accountForAllKept() }
        #expect(broker.shared.totals[.replay] == before.0)
        #expect(broker.shared.totals[.fates] == before.1)
    }

    // MARK: Removed

    @Test("an admin ends a center that has nothing; others are told why not")
    func removed() throws {
        let broker = try Self.broker()
        try touch(broker, "a")
        let answer = try broker.request("DELETE", "/v1/centers/a")
        #expect(answer.status == 204)
        #expect(try names(broker) == ["default"])
        #expect(try broker.request("DELETE", "/v1/centers/a").problem == "not-found")
        #expect(try broker.request("DELETE", "/v1/centers/default").problem == "center-in-use")
        #expect(try broker.get("/v1/centers/a").status == 405)
        let socket = try broker.webSocket("/v1/centers/a/ws")
        _ = try socket.observe("n")
        let refused = try broker.request("DELETE", "/v1/centers/a")
        #expect(refused.problem == "center-in-use")
        #expect(refused.json["clients"].int == 1)
        #expect(refused.json["observers"].int == 1)
        #expect(refused.json["keys"].int == 0)
        try touch(broker, "timed")
        _ = try broker.post(
            #"{"name":"n","after":86400}"#, target: "/v1/centers/timed/notifications")
        _ = try broker.request("PUT", "/v1/centers/timed/values/o", #"{"a":1}"#)
        // Timers are listed with the queue.
        let timed = try broker.request("DELETE", "/v1/centers/timed")
        #expect(timed.json["queue"].int == 1 && timed.json["values"].int == 1)
        let others = try Broker { $0.anonymousGrants = Grants([Grant(.all.subtracting(.admin))]) }
        try touch(others, "a")
        #expect(try others.request("DELETE", "/v1/centers/a").problem == "forbidden")
        #expect(try others.request("DELETE", "/v1/centers/none").problem == "forbidden")
    }

    @Test(
        "where commands come late, one of two posts makes the center, and a center that ended is made anew",
        arguments: 1...4)
    func late(seed: UInt64) throws {
        let broker = try Self.broker(lateSeed: seed)
        let peers = try (0..<3).map { _ in try broker.http() }
        let post = HTTPPeer.text("POST", "/v1/centers/a/channels/n", "{}")
        for peer in peers { peer.peer.send(post.utf8) }
        try broker.crank()
        #expect(try peers.map { try $0.read()?.json["seq"].int } == [1, 2, 3])
        #expect(broker.shared.totals.centerCount.load(ordering: .relaxed) == 2)
        peers[0].peer.send(HTTPPeer.text("DELETE", "/v1/centers/a").utf8)
        peers[1].peer.send(HTTPPeer.text("DELETE", "/v1/centers/a").utf8)
        peers[2].peer.send(post.utf8)
        try broker.crank()
        #expect(try peers[0].read()?.status == 204)
        #expect(try peers[1].read()?.problem == "not-found")
        #expect(try peers[2].read()?.json["seq"].int == 1)
        #expect(broker.shared.totals.centerCount.load(ordering: .relaxed) == 2)
        // It can still end: nothing is under way for it any more.
        try broker.advance(by: .seconds(600))
        #expect(broker.shared.totals.centerCount.load(ordering: .relaxed) == 1)
    }

    @Test("a position of the life before is answered with a gap, in the same turn too")
    func positions() throws {
        let broker = try Self.broker()
        let stream = try broker.events("/v1/centers/a/events?name=n")
        for _ in 0..<5 { try touch(broker, "a") }
        _ = try stream.takeEvents()
        let position = stream.lastID
        stream.peer.close()
        try broker.crank()
        let peer = try broker.http()
        try peer.send(
            HTTPPeer.text("DELETE", "/v1/centers/a")
                + HTTPPeer.text("POST", "/v1/centers/a/channels/n", "{}"))
        #expect(try peer.read()?.status == 204)
        #expect(try peer.read()?.json["seq"].int == 1)
        let later = try broker.events(
            "/v1/centers/a/events?name=n", fields: ["Last-Event-ID: \(position)"])
        let events = try later.takeEvents()
        #expect(events.first?.type == "belfry.gap")
        #expect(events.first?.data["reason"].text == "unknown")
        #expect(later.lastID.split(separator: ":").first != position.split(separator: ":").first)
    }

    @Test("a center ends on the loop where it lives", arguments: [0, 1])
    func loops(loop: Int) throws {
        let broker = try Self.broker(loopCount: 2)
        let letters = ["a", "b", "c", "d", "e", "f"]
        for name in letters { try touch(broker, name) }
        #expect(Set(letters.map { broker.shared.home(of: Array($0.utf8)) }) == [0, 1])
        for name in letters.prefix(3) {
            let answer = try broker.request("DELETE", "/v1/centers/\(name)", loop: loop)
            #expect(answer.status == 204)
        }
        #expect(try names(broker) == ["d", "default", "e", "f"])
        try broker.advance(by: .seconds(91))
        #expect(try names(broker) == ["default"])
        #expect(broker.shared.totals.centerCount.load(ordering: .relaxed) == 1)
    }

    // MARK: With a store

    @Test("the answer waits for the store, and after a restart the center is not there")
    func store() throws {
        let (broker, store) = try Broker.durable {
            $0.anonymousGrants = Grants([Grant(.all)])
        }
        let peer = try broker.http()
        func ask(_ method: String, _ target: String, _ body: String? = nil) throws -> Response {
            let fields = ["Content-Type: application/json"]
            try peer.send(HTTPPeer.text(method, target, body, fields: fields))
            try store.commit(in: broker)
            return try #require(try peer.read())
        }
        let made = try ask("POST", "/v1/centers/a/observers", #"{"name":"n"}"#)
        let token = try #require(made.json["token"].text)
        #expect(try ask("DELETE", "/v1/centers/a/observers/\(token)").status == 204)
        let first = try epoch(broker, "a")
        try peer.send(HTTPPeer.text("DELETE", "/v1/centers/a"))
        #expect(try peer.read() == nil)
        #expect(try names(broker) == ["default"])
        try store.commit(in: broker)
        #expect(try peer.read()?.status == 204)
        let next = try Broker(beginning: store.beginning())
        #expect(try names(next) == ["default"])
        try touch(next, "a")
        #expect(try epoch(next, "a") != first)
        #expect(try next.get("/v1/centers/a/observers/\(token)").status == 404)
    }

    @Test("a center that was stored and left ends after a restart too")
    func restart() throws {
        let (broker, store) = try Broker.durable()
        let peer = try broker.http()
        try peer.send(
            HTTPPeer.text(
                "POST", "/v1/centers/a/observers", #"{"name":"n","lease":5}"#,
                fields: ["Content-Type: application/json"]))
        try store.commit(in: broker)
        try broker.advance(by: .seconds(6))
        try store.commit(in: broker)
        let next = try Broker(beginning: store.beginning()) {
            $0.centerIdleTimeout = .seconds(80)
        }
        #expect(try names(next) == ["a", "default"])
        try next.advance(by: .seconds(91))
        try store.commit(in: next)
        #expect(try names(next) == ["default"])
        #expect(try names(Broker(beginning: store.beginning())) == ["default"])
    }
}
