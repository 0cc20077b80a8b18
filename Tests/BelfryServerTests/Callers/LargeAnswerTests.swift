import BelfryAccess
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Answers that may be large wait for a turn that has room (decision 125)")
struct LargeAnswerTests {
    /// A broker each of whose turns is full when it has begun.
    private static func busyBroker() throws -> Broker {
        try Broker { $0.turnWorkLimit = .zero }
    }

    private static func put(_ value: String, _ broker: Broker) throws -> String {
        let answer = try broker.request("PUT", "/v1/values/o", value)
        return try #require(answer.field("etag"))
    }

    @Test("looks are answered one a turn, and what is small is answered at once", .withinOneTurn)
    func looks() throws {
        let broker = try Self.busyBroker()
        _ = try Self.put(#"{"a":1}"#, broker)
        let lookers = try (0..<4).map { _ in try broker.http() }
        let poster = try broker.http()
        for looker in lookers { looker.peer.send(HTTPPeer.text("GET", "/v1/values/o").utf8) }
        poster.peer.send(HTTPPeer.text("POST", "/v1/channels/a", "").utf8)
        var counts: [Int] = []
        for _ in 0..<8 {
            try broker.nodes[0].turn()
            counts.append(try lookers.count { try $0.read()?.status == 200 })
            if counts.count == 1 { #expect(try poster.read()?.status == 200) }
        }
        #expect(counts.reduce(0, +) == 4)
        #expect(counts.allSatisfy { $0 <= 2 })
    }

    @Test("callers take turns: one look is not behind all of another caller", .withinOneTurn)
    func callers() throws {
        var keys = Keys()
        keys.add("a", #"[{"verbs":["read","set"]}]"#)
        keys.add("b", #"[{"verbs":["read"]}]"#)
        let keyring = try keys.keyring()
        let broker = try Broker {
            $0.turnWorkLimit = .zero
            $0.keyring = keyring
        }
        let field = { (key: String) in ["Authorization: Bearer \(Keys.secret(key))"] }
        _ = try broker.request("PUT", "/v1/values/o", "{}", fields: field("a"))
        let greedy = try (0..<8).map { _ in try broker.http() }
        let modest = try broker.http()
        for client in greedy + [modest] {
            let key = client === modest ? "b" : "a"
            let look = HTTPPeer.text("GET", "/v1/values/o", fields: field(key))
            client.peer.send(look.utf8)
        }
        var before = 0
        while try modest.read() == nil {
            try broker.nodes[0].turn()
            before += try greedy.count { try $0.read()?.status == 200 }
        }
        // Some were answered before the line began, and one in its first turn.
        #expect(before <= 4)
        try broker.crank()
        #expect(try before + greedy.count { try $0.read()?.status == 200 } == 8)
    }

    @Test("those that wait for one value are answered in shares, each once", .withinOneTurn)
    func polls() throws {
        let broker = try Self.busyBroker()
        let tag = try Self.put(#"{"a":1}"#, broker)
        let pollers = try (0..<5).map { _ in try broker.http() }
        for poller in pollers {
            let fields = ["If-None-Match: \(tag)", "Prefer: wait=60"]
            try poller.send(HTTPPeer.text("GET", "/v1/values/o", fields: fields))
            #expect(try poller.read() == nil)
        }
        let writer = try broker.http()
        writer.peer.send(HTTPPeer.text("PUT", "/v1/values/o", #"{"a":2}"#).utf8)
        var counts: [Int] = []
        for _ in 0..<10 {
            try broker.nodes[0].turn()
            counts.append(
                try pollers.count { try $0.read().map { $0.text == #"{"a":2}"# } == true })
        }
        #expect(counts.reduce(0, +) == 5)
        #expect(counts.allSatisfy { $0 <= 1 })
        #expect(broker.nodes[0].server.host.values.count == 0)
    }

    @Test(
        "one of those that wait goes before its turn comes, and holds up no other", .withinOneTurn)
    func gone() throws {
        let broker = try Self.busyBroker()
        let observer = try broker.request("POST", "/v1/observers", #"{"name":"a"}"#)
        let token = try #require(observer.json["token"].text)
        let lookers = try (0..<3).map { _ in try broker.http() }
        for looker in lookers {
            let fields = ["Prefer: wait=60"]
            let target = "/v1/observers/\(token)/notifications"
            looker.peer.send(HTTPPeer.text("GET", target, fields: fields).utf8)
        }
        // All wait for room; then the last one goes, and reads no mailbox.
        try broker.nodes[0].turn()
        lookers[2].peer.close()
        try broker.crank()
        #expect(try lookers[0].read()?.status == 409)
        #expect(try lookers[1].read() == nil)
        try broker.post(name: "a")
        try broker.crank()
        #expect(try lookers[1].read()?.status == 200)
    }

    @Test(
        "a call that may answer much waits, and the next frame of its client behind it",
        .withinOneTurn)
    func calls() throws {
        let broker = try Self.busyBroker()
        let sockets = try (0..<3).map { _ in try broker.webSocket() }
        for socket in sockets {
            socket.put(socket.call("observers", #"{"limit":1}"#))
            socket.put(socket.call("ping", "{}"))
        }
        var answers = sockets.map { _ in [Value]() }
        var counts: [Int] = []
        for _ in 0..<10 {
            try broker.nodes[0].turn()
            for place in sockets.indices { answers[place] += try sockets[place].takeMessages() }
            counts.append(answers.count { !$0.isEmpty })
        }
        #expect(counts.last == 3)
        #expect(counts.first.map { $0 < 3 } == true)
        for answer in answers {
            #expect(answer.count == 2)
            #expect(answer.first?["result"].has("observers") == true)
        }
    }

    @Test("a page ends by the bytes of what its responders implement")
    func pages() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        let selector = String(repeating: "s", count: 100)
        for number in 0..<60 {
            let names = (0..<64).map { "\"\(selector)\($0)\"" }.joined(separator: ",")
            try socket.result(
                "addObserver", #"{"object":"o\#(number)","implements":[\#(names)]}"#)
        }
        var seen = 0
        var target = "/v1/responders?limit=1000"
        var pageCount = 0
        while pageCount < 20 {
            let page = try broker.get(target)
            #expect(page.text.utf8.count < 256 << 10)
            seen += page.json["responders"].elements.count
            pageCount += 1
            guard let next = page.json["next"].text else { break }
            target = "/v1/responders?limit=1000&cursor=\(next)"
        }
        #expect(seen == 60)
        #expect(pageCount > 2)
    }
}
