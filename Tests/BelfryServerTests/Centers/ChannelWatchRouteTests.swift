import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWebSocket
import Testing

@testable import BelfryServer

@Suite("Names that are observed, and no more (rule L12)")
struct ChannelWatchRouteTests {
    private static func watch(_ peer: SocketPeer, _ object: String?) throws {
        for name in ["belfry.channel.observed", "belfry.channel.unobserved"] {
            try peer.observe(name, object)
        }
    }

    private static func reports(_ peer: SocketPeer) throws -> [String] {
        try peer.takeNotifications().map { frame in
            let params = frame
            let word = params["name"].text?.split(separator: ".").last ?? "?"
            return "\(word) \(params["object"].text ?? "-")"
        }
    }

    @Test("L12: told when the first observer comes and the last one goes", arguments: Scene.all)
    func tells(scene: Scene) throws {
        let stage = try Stage(scene)
        try Self.watch(stage.y, "price")
        let first = try stage.observe(stage.x, "price").json["token"]
        #expect(try Self.reports(stage.y) == ["observed price"])
        try stage.observe(stage.x, "other")
        let second = try stage.observe(stage.x, nil, "o").json["token"]
        #expect(try Self.reports(stage.y) == [])
        #expect(try stage.remove(first).status < 300)
        #expect(try Self.reports(stage.y) == [])
        #expect(try stage.remove(second).status < 300)
        #expect(try Self.reports(stage.y) == ["unobserved price"])
    }

    @Test("L12, V13: an observer of a value observes no name", arguments: Scene.all)
    func values(scene: Scene) throws {
        let stage = try Stage(scene)
        try Self.watch(stage.y, "price")
        let looking = try stage.register(stage.x, #""object":"o","keyPath":"a""#).json["token"]
        let stream = try stage.broker.events("/v1/events?object=o&keyPath=")
        #expect(try Self.reports(stage.y) == [])
        let named = try stage.observe(stage.x, "price").json["token"]
        #expect(try Self.reports(stage.y) == ["observed price"])
        #expect(try stage.remove(looking).status < 300)
        stream.peer.close()
        try stage.broker.crank()
        #expect(try Self.reports(stage.y) == [])
        #expect(try stage.remove(named).status < 300)
        #expect(try Self.reports(stage.y) == ["unobserved price"])
    }

    @Test("L12: with an object inspect, or post on that name; without one inspect")
    func access() throws {
        var keys = Keys()
        keys.add("poster", #"[{"verbs":["post"],"names":["price"]}]"#)
        keys.add("both", #"[{"verbs":["post","observe"]}]"#)
        keys.add("observer", #"[{"verbs":["observe"]}]"#)
        keys.add("inspector", #"[{"verbs":["inspect"]}]"#)
        keys.add("some", #"[{"verbs":["inspect"],"names":["price"]}]"#)
        let keyring = try keys.keyring()
        let broker = try Broker {
            $0.keyring = keyring
            $0.anonymousGrants = Grants.none
        }
        func status(_ id: String, _ object: String?) throws -> Int {
            let object = object.map { #","object":"\#($0)""# } ?? ""
            // The same holds for a set, in which each name needs what it would need alone (P9).
            let statuses = try [
                #""name":"belfry.channel.observed""#, #""names":["belfry.channel.observed"]"#,
                #""names":["belfry.channel.unobserved","belfry.channel.observed"]"#,
            ].map { names in
                try broker.request(
                    "POST", "/v1/observers", "{\(names)\(object)}",
                    fields: [Keys.field(id), "Content-Type: application/json"]
                ).status
            }
            #expect(Set(statuses).count == 1, "\(statuses) for \(id) \(object)")
            return statuses[0]
        }
        for id in ["poster", "some"] {
            #expect(try status(id, "price") == 201)
            #expect(try status(id, "prices") == 403 && status(id, nil) == 403)
        }
        #expect(try status("observer", "price") == 403 && status("observer", nil) == 403)
        #expect(try status("inspector", "price") == 201 && status("inspector", nil) == 201)
        // Other names of a set need `observe`, and the broker's other channels `inspect`, too.
        for (id, name, isAllowed) in [
            ("both", "price", true), ("both", "belfry.client.left", false),
            ("poster", "price", false), ("observer", "price", false),
        ] {
            let response = try broker.request(
                "POST", "/v1/observers",
                #"{"names":["belfry.channel.observed","\#(name)"],"object":"price"}"#,
                fields: [Keys.field(id), "Content-Type: application/json"])
            #expect(response.status == (isAllowed ? 201 : 403), "\(id) \(name)")
        }
    }
}
