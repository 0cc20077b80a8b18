import BelfryCenter
import BelfryLoop
import BelfryStore
import Synchronization
import Testing

@testable import BelfryServer

/// Observers last by default, so their registration is a promise; unheld posts are none.
@Suite("Answers wait for what they promise (decision 20)")
struct PromiseTests {
    private static func registration(_ session: String) -> String {
        #"{"name":"a","session":"\#(session)"}"#
    }

    private static let json = ["Content-Type: application/json"]

    /// The statuses of all responses that have arrived.
    private static func statuses(_ peer: HTTPPeer) throws -> [Int] {
        var statuses: [Int] = []
        while let response = try peer.read() { statuses.append(response.status) }
        return statuses
    }

    @Test(
        "a registration is answered once it is stored, and a plain post at once",
        arguments: [1, 2])
    func registration(loopCount: Int) throws {
        let (broker, store) = try Broker.durable(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        let peer = try broker.http(loop: loopCount - 1)
        try peer.send(
            HTTPPeer.text(
                "POST", "/v1/observers", Self.registration(socket.session), fields: Self.json))
        #expect(store.waitingCount == 1)
        #expect(try peer.read() == nil)
        #expect(try broker.post(name: "b", loop: loopCount - 1)["matched"] == 0)
        #expect(store.waitingCount == 1)
        try store.commit(in: broker)
        #expect(try peer.read()?.status == 201)
    }

    @Test("pipelined answers line up behind the one that waits", .withinOneTurn, arguments: [1, 2])
    func pipelined(loopCount: Int) throws {
        let (broker, store) = try Broker.durable(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        let peer = try broker.http(loop: loopCount - 1)
        let observe = HTTPPeer.text(
            "POST", "/v1/observers", Self.registration(socket.session), fields: Self.json)
        let live = HTTPPeer.text("GET", "/livez")
        try peer.send(live + observe + live)
        try peer.send(observe + live)
        // On the loop of the center the whole turn's output of the connection is kept back.
        let before = try Self.statuses(peer)
        #expect(before == (loopCount == 1 ? [] : [200]))
        try store.commit(in: broker)
        #expect(try before + Self.statuses(peer) == [200, 201, 200])
        // Requests of a later turn are another promise.
        try store.commit(in: broker)
        #expect(try Self.statuses(peer) == [201, 200])
        #expect(try broker.get("/v1/observers").json["observers"].elements.count == 2)
    }

    @Test(
        "a post that is the last request of its connection is answered once it is stored",
        arguments: ["", "?style=idle"], [1, 2])
    func lastRequest(query: String, loopCount: Int) throws {
        let (broker, store) = try Broker.durable(loopCount: loopCount)
        let peer = try broker.http(loop: loopCount - 1)
        try peer.send(
            HTTPPeer.text("POST", "/v1/observers", #"{"name":"a"}"#, fields: Self.json))
        try store.commit(in: broker)
        #expect(try peer.read()?.status == 201)
        try peer.send(
            HTTPPeer.text(
                "POST", "/v1/channels/a\(query)", "{}", fields: Self.json + ["Connection: close"]))
        #expect(try peer.read() == nil)
        while store.waitingCount > 0 { try store.commit(in: broker) }
        #expect(try peer.read()?.status == (query.isEmpty ? 200 : 202))
    }

    @Test("each answer that says that something cannot be stored is counted")
    func refusals() throws {
        let (broker, store) = try Broker.durable()
        let socket = try broker.webSocket()
        store.takesPromises = false
        #expect(try broker.post(name: "b")["matched"] == 0)
        #expect(store.refusalCount == 0)
        let observe = Self.registration(socket.session)
        let refused = try broker.request("POST", "/v1/observers", observe, fields: Self.json)
        #expect(refused.problem == "store-unavailable")
        #expect(try broker.request("POST", "/v1/channels/a?style=asap", "{}").status == 503)
        #expect(store.refusalCount == 2)
        #expect(try socket.answer("addObserver", #"{"name":"a"}"#).has("error"))
        #expect(store.refusalCount == 3)
    }

    @Test("deliveries pass a call's answer that waits, and so do other answers", arguments: [1, 2])
    func deliveriesPass(loopCount: Int) throws {
        let (broker, store) = try Broker.durable(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.send(socket.call("addObserver", #"{"name":"a"}"#))
        try broker.post(name: "a")
        #expect(try socket.answer("explain", #"{"name":"x"}"#).has("result"))
        #expect(try socket.takeNames() == ["a"])
        #expect(try socket.takeAnswer(1) == nil)
        try store.commit(in: broker)
        #expect(try socket.takeAnswer(1)?["result"]["name"] == "a")
    }

    @Test("answers are sent in the order of their tickets, each when its own is committed")
    func tickets() throws {
        let (broker, store) = try Broker.durable()
        let socket = try broker.webSocket()
        for name in ["a", "b", "c"] {
            try socket.send(socket.call("addObserver", #"{"name":"\#(name)"}"#))
        }
        #expect(store.waitingCount == 3)
        try store.commit(2, in: broker)
        #expect(try socket.takeMessages().map { $0["id"] } == [1, 2])
        try store.commit(in: broker)
        #expect(try socket.takeMessages().map { $0["id"] } == [3])
    }

    @Test("whoever is gone when the commit comes is forgotten", arguments: [1, 2])
    func gone(loopCount: Int) throws {
        let (broker, store) = try Broker.durable(loopCount: loopCount)
        let owner = try broker.webSocket()
        let socket = try broker.webSocket(loop: loopCount - 1)
        let peer = try broker.http(loop: loopCount - 1)
        try socket.send(socket.call("addObserver", #"{"name":"a"}"#))
        try peer.send(
            HTTPPeer.text(
                "POST", "/v1/observers", Self.registration(owner.session), fields: Self.json))
        peer.peer.reset()
        socket.peer.reset()
        try broker.crank()
        let next = try broker.http(loop: loopCount - 1)
        let other = try broker.http(loop: loopCount - 1)
        try store.commit(in: broker)
        #expect(next.peer.received.isEmpty)
        #expect(other.peer.received.isEmpty)
        #expect(try next.request("GET", "/livez").status == 200)
    }

    @Test("a client that ends its half after its request still gets the answer")
    func halfClosed() throws {
        let (broker, store) = try Broker.durable()
        let socket = try broker.webSocket()
        let peer = try broker.http()
        try peer.send(
            HTTPPeer.text(
                "POST", "/v1/observers", Self.registration(socket.session), fields: Self.json))
        peer.peer.halfClose()
        try broker.crank()
        #expect(try peer.read() == nil)
        try store.commit(in: broker)
        #expect(try peer.read()?.status == 201)
        #expect(peer.peer.sawEndOfOutput)
    }

    @Test("a removal is answered once it is stored")
    func removal() throws {
        let (broker, store) = try Broker.durable()
        let socket = try broker.webSocket()
        try socket.send(socket.call("addObserver", #"{"name":"a"}"#))
        try store.commit(in: broker)
        let token = try socket.takeAnswer(1)?["result"]["token"].text ?? ""
        let peer = try broker.http()
        try peer.send(HTTPPeer.text("DELETE", "/v1/observers/\(token)"))
        #expect(try peer.read() == nil)
        #expect(try broker.post(name: "a")["matched"] == 0)
        try store.commit(in: broker)
        #expect(try peer.read()?.status == 204)
    }

    @Test("in memory nothing waits")
    func memory() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        #expect(try socket.observe("a")["name"] == "a")
        #expect(broker.nodes[0].server.host.promises.ticket == 1)
    }
}

@Suite("Restarting with a store (decision 20)")
struct RestartTests {
    @Test("observers, numbers and positions go on after a restart", arguments: [1, 2])
    func restart(loopCount: Int) throws {
        let (broker, store) = try Broker.durable(loopCount: loopCount)
        let path = "/v1/centers/other/ws"
        let socket = try broker.webSocket(path, loop: loopCount - 1)
        try socket.send(socket.call("addObserver", #"{"name":"a"}"#))
        try store.commit(in: broker)
        let observer = try socket.takeAnswer(1)?["result"]["id"].text
        let peer = try broker.http()
        // The first post of a block of sequence numbers waits for the block.
        try peer.send(HTTPPeer.text("POST", "/v1/centers/other/channels/b", ""))
        try store.commit(in: broker)
        let sequence = try peer.read()?.json["seq"].int
        let epoch = socket.welcome["epoch"]

        let again = try Broker(
            loopCount: loopCount, beginning: store.beginning(afterOrderlyEnd: false))
        let rows = try again.get("/v1/centers/other/observers").json["observers"].elements
        #expect(rows.map { $0["id"].text } == [observer])
        #expect(rows.map { $0["state"] } == ["disconnected"])
        let other = try again.webSocket(path, loop: loopCount - 1)
        #expect(other.welcome["epoch"] == epoch)
        #expect(other.client != socket.client)
        let poster = try again.http()
        try poster.send(HTTPPeer.text("POST", "/v1/centers/other/channels/c", ""))
        try store.commit(in: again)
        #expect((try poster.read()?.json["seq"].int ?? 0) > (sequence ?? .max))
        #expect(again.shared.totals.observerCount.load(ordering: .relaxed) == 1)
    }

    @Test("numbers above the reserved block are refused until the next one is stored")
    func numbers() throws {
        let (broker, store) = try Broker.durable()
        let serials = broker.shared.numbers.observers
        while let number = try? serials.take(), number < NumberBlock.count {}
        let socket = try broker.webSocket()
        let problem = try socket.problem("addObserver", #"{"name":"a"}"#)
        #expect(problem["status"] == 503)
        try store.commit(in: broker)
        try socket.send(socket.call("addObserver", #"{"name":"a"}"#))
        try store.commit(in: broker)
        #expect(try socket.takeMessages().last?["result"]["name"] == "a")
        let next = try Broker(beginning: store.beginning())
        #expect(try next.shared.numbers.observers.take() > 2 * NumberBlock.count)
    }

    @Test("what a sequencer gives back gets its numbers then, each once")
    func givenNumbers() throws {
        var numbers = Numbers()
        let hash = SecretHash(of: [1])
        let observer = ObserverRegistration(
            tokenHash: hash, name: nil, object: nil, selector: Array("s".utf8))
        let client = ClientRegistration(
            transport: .webSocket, connection: ConnectionName(node: 0, number: 1),
            sessionHash: hash, principal: [])
        var connect = Command.Action.connect(client, observers: [observer, observer], since: nil)
        let first = try connect.takeNumbers(from: &numbers)
        #expect(first == 1)
        guard case .connect(let named, let observers, nil) = connect else {
            Issue.record("it is another command now")
            return
        }
        #expect(named.id == 1 && observers.map(\.serial) == [1, 2])
        var add = Command.Action.addObserver(observer, client: 1, since: nil)
        _ = try add.takeNumbers(from: &numbers)
        guard case .addObserver(let third, 1, nil) = add else {
            Issue.record("it is another command now")
            return
        }
        #expect(third.serial == 3)
        var enter = Command.Action.enterMode(
            ModeEntry(tokenHash: hash, mode: Array("m".utf8), client: nil, lease: nil))
        let lease = try enter.takeNumbers(from: &numbers)
        #expect(lease == 1)
        var idle = Command.Action.idle
        let none = try idle.takeNumbers(from: &numbers)
        #expect(none == 0)
    }

    @Test("a store that was copied back gives every center a new epoch")
    func copied() throws {
        var memory = MemoryStore()
        try memory.commit([
            .center(name: Array("default".utf8), .center(CenterRecord(epoch: Array("old".utf8))))
        ])
        memory.restart(isCopied: true)
        let beginning = try Beginning(of: &memory, epoch: "new")
        #expect(beginning.centers.map(\.epoch) == [Array("new".utf8)])
        let image = try memory.load()
        #expect(!image.isCopied)
        #expect(image.centers.map(\.epoch) == [Array("new".utf8)])
    }

    @Test("at a clean stop the centers tell the store what only they knew", arguments: [1, 2])
    func stop(loopCount: Int) throws {
        let (broker, store) = try Broker.durable(loopCount: loopCount)
        let socket = try broker.webSocket()
        try socket.send(socket.call("addObserver", #"{"name":"a"}"#))
        try store.commit(in: broker)
        try broker.signal(15)
        #expect(store.waitingCount > 0)
        try store.commit(in: broker)
        socket.peer.close()
        try broker.crank()
        for _ in 0..<5 { try broker.advance(by: .milliseconds(60)) }
        #expect(broker.nodes.allSatisfy { $0.hasStopped })
    }
}
