import BelfryCenter
import BelfryLoop
import Synchronization
import Testing

@testable import BelfryServer

@Suite("Departures and replays wait for a turn that has time (decision 71)")
struct PostponedTests {
    private static func observerCount(_ broker: Broker) -> Int {
        broker.shared.totals.observerCount.load(ordering: .relaxed)
    }

    /// A broker whose turns have no time for what can wait.
    private static func busyBroker(
        loopCount: Int = 1, _ adjust: (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> Broker {
        try Broker(loopCount: loopCount) {
            $0.turnWorkLimit = .zero
            adjust(&$0)
        }
    }

    // MARK: Departures

    @Test(
        "a turn tells a center of one connection that ended, and others are answered in between",
        .withinOneTurn)
    func departures() throws {
        let broker = try Self.busyBroker()
        let other = try broker.http()
        let sockets = try (0..<5).map { _ in try broker.webSocket() }
        for socket in sockets { try socket.result("addObserver", Self.ofConnection) }
        for socket in sockets { socket.peer.close() }
        var counts: [Int] = []
        var answeredCount = 0
        while counts.last != 0, counts.count < 9 {
            other.peer.send(HTTPPeer.text("POST", "/v1/channels/b", "").utf8)
            try broker.nodes[0].turn()
            counts.append(Self.observerCount(broker))
            if try other.read() != nil { answeredCount += 1 }
        }
        // The first turn tells of one when it comes, and of one at its end.
        #expect(counts == [3, 2, 1, 0])
        #expect(answeredCount >= 2)
    }

    @Test("with time left a turn tells of all connections that ended", .withinOneTurn)
    func allDepartures() throws {
        let broker = try Broker()
        let sockets = try (0..<4).map { _ in try broker.webSocket() }
        for socket in sockets { try socket.result("addObserver", Self.ofConnection) }
        for socket in sockets { socket.peer.close() }
        try broker.nodes[0].turn()
        #expect(Self.observerCount(broker) == 0)
    }

    @Test("a client that resumes before its departure was told keeps its new connection")
    func resumption() throws {
        let broker = try Self.busyBroker()
        let gone = try broker.webSocket()
        try gone.observe("a")
        try gone.result("addObserver", Self.ofConnection)
        let others = try (0..<2).map { _ in try broker.webSocket() }
        let back = try broker.webSocket()
        for socket in others + [gone] { socket.peer.close() }
        try broker.nodes[0].turn()
        try back.result("resume", #"{"session":"\#(gone.session)"}"#)
        try broker.crank()
        try broker.post(name: "a")
        #expect(try back.takeNames() == ["a"])
        let rows = try broker.get("/v1/observers").json["observers"].elements
        #expect(rows.map { $0["name"] } == ["a"])
    }

    @Test("what is posted before a departure was told is held, and not lost")
    func heldMeanwhile() throws {
        let broker = try Self.busyBroker()
        let others = try (0..<3).map { _ in try broker.webSocket() }
        let gone = try broker.webSocket()
        try gone.result("addObserver", #"{"name":"a","suspensionBehavior":"hold"}"#)
        try broker.post(name: "a")
        #expect(try gone.takeNotifications().map { $0["seq"] } == [1])
        for socket in others + [gone] { socket.peer.close() }
        try broker.nodes[0].turn()
        try broker.post(name: "a")
        try broker.crank()
        try broker.post(name: "a")
        let back = try broker.webSocket()
        let epoch = back.welcome["epoch"].text ?? ""
        try back.result("resume", #"{"session":"\#(gone.session)","after":1,"epoch":"\#(epoch)"}"#)
        #expect(try back.takeNotifications().map { $0["seq"] } == [2, 3])
    }

    private static let ofConnection = #"{"name":"c","lifetime":"connection"}"#

    // MARK: Replays

    /// A batch of registrations that ask for the whole replay ring, the last for later posts.
    private static func batch(of socket: SocketPeer, count: Int) -> String {
        let calls = (0..<count).map { _ in socket.call("addObserver", #"{"name":"a","since":0}"#) }
        return "[\(calls.joined(separator: ","))]"
    }

    @Test(
        "a turn performs one replay of a batch, and all are answered together", .withinOneTurn,
        arguments: [1, 2])
    func replays(loopCount: Int) throws {
        let broker = try Self.busyBroker(loopCount: loopCount)
        try broker.post(name: "a")
        let socket = try broker.webSocket(loop: loopCount - 1)
        let other = try broker.http()
        socket.put(Self.batch(of: socket, count: 4))
        socket.put(socket.call("observers", #"{"limit":1}"#))
        if loopCount == 2 { try broker.nodes[1].turn() }
        // Each turn performs one at its end.
        var counts: [Int] = []
        for _ in 0..<3 {
            try broker.nodes[0].turn()
            counts.append(Self.observerCount(broker))
            other.peer.send(HTTPPeer.text("POST", "/v1/channels/b", "").utf8)
        }
        #expect(counts == [1, 2, 3])
        #expect(try other.read()?.status == 200)
        try broker.crank()
        let messages = try socket.takeMessages()
        let places = messages.indices.filter { !messages[$0].has("method") }
        #expect(places.map { messages[$0].elements.count } == [4, 0])
        #expect(messages[places[0]].elements.allSatisfy { $0.has("result") })
        #expect(messages[places[1]]["result"].has("observers"))
        #expect(messages.count { $0["params"]["seq"] == 1 } == 4)
    }

    @Test("a batch that is left to another turn is not answered before its end", .withinOneTurn)
    func waitingPosts() throws {
        let broker = try Self.busyBroker()
        let observer = try broker.webSocket()
        try observer.result("addObserver", #"{"name":"p","acknowledge":true}"#)
        let socket = try broker.webSocket()
        let calls = [
            socket.call("addObserver", #"{"name":"a","since":0}"#),
            socket.call("post", #"{"name":"p","wait":5}"#),
            socket.call("addObserver", #"{"name":"a","since":0}"#),
            socket.call("addObserver", #"{"name":"a","since":0}"#),
        ]
        socket.put("[\(calls.joined(separator: ","))]")
        try broker.nodes[0].turn()
        try broker.nodes[0].turn()
        #expect(try observer.takeMessages().count == 1)
        observer.put(#"{"jsonrpc":"2.0","id":"o1:1","result":null}"#)
        try broker.nodes[0].turn()
        #expect(try socket.takeMessages().isEmpty)
        try broker.crank()
        let answers = try socket.takeMessages()
        #expect(answers.map { $0.elements.count } == [4])
        #expect(answers[0].elements.allSatisfy { $0.has("result") })
    }

    @Test("where there is no room to leave calls, they are refused", arguments: [0, 1])
    func room(missing: Int) throws {
        var byteCount = 0
        let broker = try Self.busyBroker { configuration in
            let params = #"{"name":"a","since":0}"#
            let text = #"{"jsonrpc":"2.0","id":1,"method":"addObserver","params":\#(params)}"#
            byteCount = 2 * text.utf8.count + 3
            configuration.unfinishedByteLimit = 4 * (byteCount - missing)
        }
        let socket = try broker.webSocket()
        let text = Self.batch(of: socket, count: 2)
        try #require(text.utf8.count == byteCount)
        try socket.send(text)
        let answers = try #require(try socket.takeMessages().first).elements
        #expect(answers[0].has("result"))
        if missing == 0 {
            #expect(answers[1].has("result"))
        } else {
            #expect(answers[1]["error"]["data"]["type"].text?.hasSuffix("overloaded") == true)
        }
        #expect(broker.nodes[0].server.callers.connections.unfinishedTotal.count == 0)
    }

    @Test("a stop does all that was left", .withinOneTurn)
    func stop() throws {
        let broker = try Self.busyBroker()
        let socket = try broker.webSocket()
        socket.put(Self.batch(of: socket, count: 5))
        try broker.nodes[0].turn()
        #expect(Self.observerCount(broker) == 1)
        try broker.signal(15)
        let answers = try socket.takeMessages().first { !$0.has("method") }
        #expect(answers?.elements.allSatisfy { $0.has("result") } == true)
        #expect(answers?.elements.count == 5)
    }

    // MARK: Frames that leave

    private static func posts(_ count: Int) -> String {
        let calls = (0..<count).map { place in
            let params = #"{"name":"n","userInfo":{"place":"\#(place)"}}"#
            return #"{"jsonrpc":"2.0","id":"\#(place)","method":"post","params":\#(params)}"#
        }
        return "[\(calls.joined(separator: ","))]"
    }

    @Test(
        "a frame of any calls is left between two of them, and others are answered meanwhile",
        .withinOneTurn)
    func frames() throws {
        let broker = try Self.busyBroker()
        let observer = try broker.webSocket()
        try observer.result("addObserver", #"{"name":"n"}"#)
        let other = try broker.http()
        let socket = try broker.webSocket()
        socket.put(Self.posts(4))
        socket.put(#"{"jsonrpc":"2.0","id":"next","method":"ping"}"#)
        var answeredCount = 0
        var answers: [Value] = []
        var numbers: [String] = []
        for _ in 0..<12 where answers.count < 2 {
            other.peer.send(HTTPPeer.text("POST", "/v1/channels/b", "").utf8)
            try broker.nodes[0].turn()
            if try other.read() != nil { answeredCount += 1 }
            answers += try socket.takeMessages()
            numbers += try observer.takeMessages().compactMap {
                $0["params"]["userInfo"]["place"].text
            }
        }
        #expect(answeredCount >= 2)
        // One answer for the frame, in the order of its calls; the next frame comes behind it.
        #expect(answers.count == 2)
        #expect(answers.first?.elements.map { $0["id"].text } == ["0", "1", "2", "3"])
        #expect(answers.last?["id"].text == "next")
        #expect(numbers == ["0", "1", "2", "3"])
    }
}
