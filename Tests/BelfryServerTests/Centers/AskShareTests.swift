import BelfryCenter
import BelfryLoop
import BelfrySystem
import Testing

@testable import BelfryAccess
@testable import BelfryServer

@Suite("Shares: open asks of one principal, or of one address")
struct AskShareTests {
    /// The end of an ask from outside.
    enum End: CaseIterable {
        case answered, refused, withdrawn, late, responderGone, askerGone
    }

    /// A broker in which a principal may have 2,000 bytes of open asks.
    private static func broker(
        loopCount: Int = 1, beginning: Beginning = Beginning(),
        _ adjust: (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> Broker {
        var keys = Keys()
        for key in ["a", "b"] { keys.add(key, #"[{"verbs":["ask","inspect"]}]"#) }
        let keyring = try keys.keyring()
        return try Broker(loopCount: loopCount, beginning: beginning) {
            $0.keyring = keyring
            $0.anonymousGrants = .loopbackDefault
            $0.askByteLimit = 8_000
            adjust(&$0)
        }
    }

    /// Registers a responder that answers when a test says so.
    private static func responder(_ broker: Broker) throws -> SocketPeer {
        let peer = try broker.webSocket()
        _ = try peer.result("addObserver", AskStage.registration("w", ["a"]))
        return peer
    }

    /// A request of an ask of so many bytes: name and object have one each.
    private static func text(
        _ byteCount: Int, _ key: String?, query: String = "", center: String = "default",
        fields: [String] = []
    ) -> String {
        let padding = String(repeating: "x", count: byteCount - 2 - #"{"t":""}"#.utf8.count)
        return HTTPPeer.text(
            "POST", "/v1/centers/\(center)/responders/w/a\(query)", #"{"t":"\#(padding)"}"#,
            fields: (key.map { [Keys.field($0)] } ?? []) + fields)
    }

    /// Asks, and waits for no answer.
    private static func begin(
        _ broker: Broker, _ byteCount: Int, _ key: String?, query: String = "",
        center: String = "default", loop: Int = 0
    ) throws -> HTTPPeer {
        let peer = try broker.http(loop: loop)
        try peer.send(text(byteCount, key, query: query, center: center))
        try broker.crank()
        return peer
    }

    @Test(
        "a principal may have a quarter of the bytes, over all centers; one more is refused, and others have room",
        arguments: [1, 2])
    func limit(loopCount: Int) throws {
        let broker = try Self.broker(loopCount: loopCount)
        _ = try Self.responder(broker)
        let loop = loopCount - 1
        let tooLong = try #require(try Self.begin(broker, 2_001, "a", loop: loop).read())
        #expect(tooLong.status == 503 && tooLong.problem == "overloaded")
        #expect(broker.held("a").isNone)
        // The default is one of its bytes.
        let exact = try Self.begin(broker, 1_999, "a", query: "?default=1", loop: loop)
        #expect(try exact.read() == nil)
        #expect(broker.held("a").texts[.asks].byteCount == 2_000)
        for center in ["default", "x"] {
            let refused = try #require(
                try Self.begin(broker, 10, "a", center: center, loop: loop).read())
            #expect(refused.status == 503 && refused.problem == "overloaded")
            #expect(refused.field("retry-after") != nil)
            let detail = refused.json["detail"].text ?? ""
            #expect(detail.contains("--ask-limit") && detail.contains("--principal-share"))
        }
        #expect(try Self.begin(broker, 2_000, "b", loop: loop).read() == nil)
        #expect(try Self.begin(broker, 3_000, nil, loop: loop).read() == nil)
    }

    @Test("whatever ends an ask makes room for the next", arguments: End.allCases, [1, 2])
    func ends(end: End, loopCount: Int) throws {
        let broker = try Self.broker(loopCount: loopCount)
        let responder = try Self.responder(broker)
        for _ in 0..<3 {
            let asking = try Self.begin(broker, 2_000, "a", loop: loopCount - 1)
            let shown = try responder.takeMessages(where: { $0.has("method") && $0.has("id") })
            let params = try #require(shown.last)["params"]
            #expect(broker.held("a").texts[.asks].byteCount == 2_000)
            let name = shown.last?["id"].text ?? ""
            switch end {
            case .answered:
                try responder.send(#"{"jsonrpc":"2.0","id":"\#(name)","result":1}"#)
            case .refused:
                try responder.send(
                    #"{"jsonrpc":"2.0","id":"\#(name)","error":{"code":1,"message":"no"}}"#)
            case .withdrawn:
                let target = "/v1/notifications/\(params["id"].text ?? "")"
                let answer = try broker.request("DELETE", target, fields: [Keys.field("a")])
                #expect(answer.status == 204)
            case .late: try broker.advance(by: .seconds(6))
            case .responderGone:
                _ = try responder.result("removeObserver", #"{"object":"w"}"#)
                _ = try responder.result("addObserver", AskStage.registration("w", ["a"]))
            case .askerGone: asking.peer.close()
            }
            try broker.crank()
            #expect(broker.held("a").isNone)
        }
    }

    @Test("an ask over a WebSocket counts as one over HTTP")
    func webSocket() throws {
        let broker = try Self.broker()
        _ = try Self.responder(broker)
        let socket = try broker.webSocket(fields: [Keys.field("a")])
        let padding = String(repeating: "x", count: 2_000 - 2 - #"{"t":""}"#.utf8.count)
        try socket.send(
            socket.call(
                "ask", #"{"object":"w","selector":"a","userInfo":{"t":"\#(padding)"}}"#))
        #expect(broker.held("a").texts[.asks].byteCount == 2_000)
        let problem = try socket.problem("ask", #"{"object":"w","selector":"a"}"#)
        #expect(problem["detail"].text?.contains("--principal-share") == true)
        try socket.cut()
        #expect(broker.held("a").texts[.asks] == (0, 0))
    }

    @Test("small asks: a quarter of the memory of all queues")
    func memory() throws {
        let broker = try Self.broker { $0.memory.queue = 80_000 }
        _ = try Self.responder(broker)
        var peers: [HTTPPeer] = []
        var refused: Response?
        while refused == nil, peers.count < 1_000 {
            peers.append(try Self.begin(broker, 10, "a"))
            refused = try peers.last?.read()
        }
        #expect((10...60).contains(peers.count))
        #expect(refused?.problem == "overloaded")
        #expect((19_000...21_000).contains(broker.held("a").texts[.asks].cost))
        #expect(try Self.begin(broker, 10, "b").read() == nil)
    }

    @Test("where queues, timers, values and asks have all their memory, no ask is taken")
    func allMemory() throws {
        let broker = try Self.broker { $0.memory.queue = 20_000 }
        _ = try Self.responder(broker)
        var peers: [HTTPPeer] = []
        var refused: Response?
        while refused == nil, peers.count < 1_000 {
            peers.append(try Self.begin(broker, 10, nil))
            refused = try peers.last?.read()
        }
        #expect(refused?.problem == "overloaded")
        #expect(refused?.json["detail"].text?.contains("--queue-memory") == true)
        #expect((10...60).contains(peers.count))
        // The account of a center follows when some thousand bytes have changed, or at once when it
        // is asked.
        for peer in peers.prefix(peers.count / 2) { peer.peer.close() }
        try broker.crank()
        for node in broker.nodes { node.server.accountForAllKept() }
        #expect(try Self.begin(broker, 10, nil).read() == nil)
    }

    @Test("callers without a key count by their address")
    func address() throws {
        let broker = try Broker {
            $0.listenAddresses = [SocketAddress("0.0.0.0:0")].compactMap { $0 }
            $0.anonymousGrants = .loopbackDefault
            $0.askByteLimit = 8_000
        }
        _ = try Self.responder(broker)
        func ask(_ byteCount: Int, from address: String) throws -> Response? {
            let peer = try broker.http(from: address)
            try peer.send(Self.text(byteCount, nil))
            return try peer.read()
        }
        #expect(try ask(2_000, from: "192.0.2.1") == nil)
        let refused = try ask(10, from: "192.0.2.1")
        #expect(refused?.problem == "overloaded")
        #expect(refused?.json["detail"].text?.contains("--address-share") == true)
        #expect(try ask(2_000, from: "192.0.2.2") == nil)
    }

    @Test("what a store has kept counts for its principal after a start, until its end")
    func restored() throws {
        let store = HandStore()
        let broker = try Self.broker(beginning: try store.beginning())
        let responder = try broker.webSocket()
        try responder.send(
            responder.call(
                "addObserver",
                AskStage.registration("w", ["a"], #","suspensionBehavior":"hold""#)))
        try store.commit(in: broker)
        let peer = try broker.http()
        try peer.send(Self.text(2_000, "a", query: "?ttl=600", fields: ["Prefer: respond-async"]))
        try store.commit(in: broker)
        #expect(try peer.read()?.status == 202)
        let before = broker.held("a").texts
        #expect(before[.asks].byteCount == 2_000)
        let next = try Self.broker(beginning: try store.beginning())
        #expect(next.held("a").texts == before)
        let refused = try Self.begin(next, 10, "a").read()
        #expect(refused?.problem == "overloaded")
        try next.advance(by: .seconds(601))
        try store.commit(in: next)
        #expect(next.held("a").texts[.asks] == (0, 0))
    }
}
