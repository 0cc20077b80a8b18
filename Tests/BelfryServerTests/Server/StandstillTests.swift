import BelfryLoop
import BelfryStore
import Testing

@testable import BelfryServer

/// A stalled store, like a disk that hangs, commits nothing until the test says so.
///
/// The other case is a directory that is moved away.
@Suite("Answers that the store holds up (decision 113)")
struct StandstillTests {
    private static let json = ["Content-Type: application/json"]

    /// A broker whose answers wait for 2 s, with a mailbox on `Held` that is stored.
    private static func broker(loopCount: Int) throws -> (Broker, HandStore, token: String) {
        let (broker, store) = try Broker.durable(loopCount: loopCount) {
            $0.storeAnswerTimeout = .seconds(2)
        }
        let peer = try broker.http()
        try peer.send(
            HTTPPeer.text("POST", "/v1/observers", #"{"name":"Held"}"#, fields: json))
        try store.commit(in: broker)
        let token = try #require(try peer.read()?.json["token"].text)
        return (broker, store, token)
    }

    /// Everything that promises something, as a request.
    private static let promises: [(method: String, target: String, body: String?)] = [
        ("POST", "/v1/channels/Held", "{}"),
        ("POST", "/v1/channels/Free?style=asap", "{}"),
        ("POST", "/v1/channels/Free?style=idle", "{}"),
        ("POST", "/v1/channels/Free?after=5", "{}"),
        ("POST", "/v1/observers", #"{"name":"Other"}"#),
        ("DELETE", "/v1/observers/TOKEN", nil),
        ("PUT", "/v1/values/thermostat", #"{"degrees":20}"#),
    ]

    @Test("a removal for which the disk has no room is 503 in time; a post that waits is 504")
    func fullDisk() throws {
        for (method, target, body, problem) in [
            ("DELETE", "/v1/observers/", nil, "store-unavailable"),
            ("POST", "/v1/channels/Free?after=5", "{}", "outcome-unknown"),
        ] {
            let (broker, store, token) = try Self.broker(loopCount: 1)
            store.isFull = true
            let path = method == "DELETE" ? target + token : target
            let peer = try broker.http()
            try peer.send(HTTPPeer.text(method, path, body, fields: Self.json))
            try broker.advance(by: .milliseconds(1_990))
            #expect(try peer.read() == nil)
            try broker.advance(by: .milliseconds(20))
            let answer = try #require(try peer.read())
            #expect(answer.problem == problem)
            #expect(answer.field("retry-after") == "1")
        }
    }

    @Test(
        "each promise that is not stored in time is 504, and is not answered again",
        arguments: promises.indices, [1, 2])
    func requests(place: Int, loopCount: Int) throws {
        let (broker, store, token) = try Self.broker(loopCount: loopCount)
        let (method, target, body) = Self.promises[place]
        let peer = try broker.http(loop: loopCount - 1)
        let path = target.split(separator: "TOKEN", omittingEmptySubsequences: false)
            .joined(separator: token)
        try peer.send(HTTPPeer.text(method, path, body, fields: Self.json))
        try broker.advance(by: .milliseconds(1_990))
        #expect(try peer.read() == nil)
        #expect(!store.keepsNothing)
        try broker.advance(by: .milliseconds(20))
        let answer = try #require(try peer.read())
        #expect(answer.problem == "outcome-unknown")
        #expect(answer.field("retry-after") == "1")
        #expect(answer.field("connection") == "close")
        #expect(store.keepsNothing)
        while store.waitingCount > 0 { try store.commit(in: broker) }
        #expect(try peer.read() == nil)
        #expect(peer.peer.sawEndOfOutput)
        #expect(broker.nodes.allSatisfy { $0.server.host.promises.waitingCount == 0 })
    }

    @Test("what was told to be unknown is there when the store comes back", arguments: [1, 2])
    func comesBack(loopCount: Int) throws {
        let (broker, store, token) = try Self.broker(loopCount: loopCount)
        let fields = Self.json + ["Idempotency-Key: k"]
        let post = HTTPPeer.text("POST", "/v1/channels/Held", #"{"n":1}"#, fields: fields)
        let first = try broker.http(loop: loopCount - 1)
        try first.send(post)
        try broker.advance(by: .milliseconds(2_010))
        #expect(try first.read()?.problem == "outcome-unknown")
        // A repetition has its own time, and waits for the same commit.
        let again = try broker.http(loop: loopCount - 1)
        try again.send(post)
        try broker.advance(by: .milliseconds(1_500))
        #expect(try again.read() == nil)
        try store.commit(in: broker)
        let replayed = try #require(try again.read())
        #expect(replayed.status == 200)
        #expect(replayed.field("idempotency-replayed") == "true")
        let page = try broker.get("/v1/observers/\(token)/notifications").json
        #expect(page["notifications"].elements.map { $0["userInfo"]["n"] } == [1])
        #expect(!store.keepsNothing)
    }

    @Test("what came before the promise is answered, and what is behind it is not", .withinOneTurn)
    func pipelined() throws {
        let (broker, store, _) = try Self.broker(loopCount: 1)
        let peer = try broker.http()
        let live = HTTPPeer.text("GET", "/livez")
        let held = HTTPPeer.text("POST", "/v1/channels/Held", "{}", fields: Self.json)
        try peer.send(live + held + live + held)
        try broker.advance(by: .milliseconds(2_010))
        #expect(try peer.read()?.status == 200)
        #expect(try peer.read()?.problem == "outcome-unknown")
        #expect(try peer.read() == nil)
        #expect(peer.peer.sawEndOfOutput)
        while store.waitingCount > 0 { try store.commit(in: broker) }
        #expect(try peer.read() == nil)
    }

    @Test("the last request of a connection is answered too", arguments: [1, 2])
    func lastRequest(loopCount: Int) throws {
        let (broker, _, _) = try Self.broker(loopCount: loopCount)
        let peer = try broker.http(loop: loopCount - 1)
        let fields = Self.json + ["Connection: close"]
        try peer.send(HTTPPeer.text("POST", "/v1/channels/Held", "{}", fields: fields))
        try broker.advance(by: .milliseconds(2_010))
        #expect(try peer.read()?.problem == "outcome-unknown")
        #expect(peer.peer.sawEndOfOutput)
    }

    @Test("each answer has its own time: a later one waits for as long", arguments: [1, 2])
    func times(loopCount: Int) throws {
        let (broker, store, _) = try Self.broker(loopCount: loopCount)
        let peers = try (0..<2).map { _ in try broker.http(loop: loopCount - 1) }
        let held = HTTPPeer.text("POST", "/v1/channels/Held", "{}", fields: Self.json)
        try peers[0].send(held)
        try broker.advance(by: .milliseconds(1_500))
        try peers[1].send(held)
        try broker.advance(by: .milliseconds(510))
        #expect(try peers[0].read()?.status == 504)
        #expect(try peers[1].read() == nil)
        try store.commit(in: broker)
        #expect(try peers[1].read()?.status == 200)
        try broker.advance(by: .seconds(5))
        #expect(!peers[1].peer.sawEndOfOutput)
        #expect(try peers[1].request("GET", "/livez").status == 200)
    }

    @Test("a call is answered with the problem, and its client goes on", arguments: [1, 2])
    func calls(loopCount: Int) throws {
        let (broker, store, _) = try Self.broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.send(socket.call("addObserver", #"{"name":"a"}"#))
        try broker.advance(by: .milliseconds(2_010))
        let problem = try #require(try socket.takeAnswer(1))["error"]
        #expect(problem["data"]["status"] == 504)
        #expect(problem["data"]["type"].text?.hasSuffix("/outcome-unknown") == true)
        // The observer is there, and its deliveries pass.
        try broker.post(name: "a", loop: loopCount - 1)
        #expect(try socket.takeNames() == ["a"])
        try store.commit(in: broker)
        #expect(try socket.takeMessages().isEmpty)
        #expect(try socket.answer("explain", #"{"name":"x"}"#).has("result"))
    }

    @Test("in a batch refusals stay, and each result is unknown", arguments: [1, 2])
    func batch(loopCount: Int) throws {
        let (broker, _, _) = try Self.broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.send(
            """
            [{"jsonrpc":"2.0","id":"a","method":"addObserver","params":{"name":"a"}},\
            {"jsonrpc":"2.0","id":7,"method":"addObserver","params":{"name":""}},\
            {"jsonrpc":"2.0","method":"post","params":{"name":"Held"}},\
            {"jsonrpc":"2.0","id":"c","method":"post","params":{"name":"Held"}}]
            """)
        try broker.advance(by: .milliseconds(2_010))
        let answers = try #require(try socket.takeMessages().last).elements
        #expect(answers.map { $0["id"] } == ["a", 7, "c"])
        #expect(answers.map { $0["error"]["data"]["status"] } == [504, 422, 504])
    }

    @Test("what is held for a client goes on behind an answer that was given up")
    func flush() throws {
        let (broker, store) = try Broker.durable { $0.storeAnswerTimeout = .seconds(2) }
        let socket = try broker.webSocket()
        try socket.send(socket.call("addObserver", #"{"name":"a","suspensionBehavior":"hold"}"#))
        try store.commit(in: broker)
        _ = try socket.takeMessages()
        try socket.send(socket.call("setSuspended", #"{"suspended":true}"#))
        try store.commit(in: broker)
        let poster = try broker.http()
        try poster.send(HTTPPeer.text("POST", "/v1/channels/a", "{}", fields: Self.json))
        while store.waitingCount > 0 { try store.commit(in: broker) }
        _ = try socket.takeMessages()
        try socket.send(socket.call("setSuspended", #"{"suspended":false}"#))
        try broker.advance(by: .milliseconds(2_010))
        let messages = try socket.takeMessages()
        #expect(messages.contains { $0["error"]["data"]["status"] == 504 })
        #expect(messages.contains { $0["params"]["name"] == "a" })
    }

    @Test(
        "a stop waits for a store that keeps nothing for less than a second, and all are answered",
        arguments: [1, 2])
    func stop(loopCount: Int) throws {
        let (broker, store, _) = try Self.broker(loopCount: loopCount)
        let peers = try (0..<loopCount).map { try broker.http(loop: $0) }
        let socket = try broker.webSocket(loop: loopCount - 1)
        for peer in peers {
            try peer.send(HTTPPeer.text("POST", "/v1/channels/Held", "{}", fields: Self.json))
        }
        try socket.send(socket.call("addObserver", #"{"name":"a"}"#))
        store.noteStandstill()
        try broker.signal(15)
        for _ in 0..<19 { try broker.advance(by: .milliseconds(50)) }
        for peer in peers { #expect(try peer.read()?.problem == "outcome-unknown") }
        #expect(try socket.takeAnswer(1)?["error"]["data"]["status"] == 504)
        for peer in peers { peer.peer.close() }
        socket.peer.close()
        for _ in 0..<2 { try broker.advance(by: .milliseconds(50)) }
        #expect(broker.nodes.allSatisfy { $0.hasStopped })
    }

    @Test("a store that answers in time costs no timer but one, and gives nobody up")
    func inTime() throws {
        let (broker, store, _) = try Self.broker(loopCount: 1)
        let peer = try broker.http()
        for _ in 0..<30 {
            try peer.send(
                HTTPPeer.text("POST", "/v1/channels/Held", "{}", fields: Self.json))
            try broker.advance(by: .milliseconds(1_000))
            try store.commit(in: broker)
            #expect(try peer.read()?.status == 200)
        }
        #expect(!store.keepsNothing)
    }
}
