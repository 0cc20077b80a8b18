import BelfryHTTP
import BelfryLoop
import Testing

@testable import BelfryServer

/// The center `default` lives on the first loop; these clients are on the second.
@Suite("Two loops: what crosses between them (Architecture.md section 4)")
struct CrossLoopTests {
    @Test("C11: a frame that is still in a mailbox at the 204 is not written")
    func removedInMailbox() throws {
        let broker = try Broker(loopCount: 2)
        let socket = try broker.webSocket(loop: 1)
        let token = try socket.observe("a")["token"].text ?? ""
        let peer = try broker.http()
        peer.peer.send(HTTPPeer.text("POST", "/v1/channels/a", "").utf8)
        peer.peer.send(HTTPPeer.text("DELETE", "/v1/observers/\(token)").utf8)
        _ = try broker.nodes[0].crank()
        #expect(try peer.read()?.status == 200)
        let isAnswered = try peer.read()?.status == 204
        try broker.crank()
        if !isAnswered { #expect(try peer.read()?.status == 204) }
        let names = try socket.takeNames()
        #expect(!isAnswered || names.isEmpty)
        #expect(try broker.post(name: "a")["matched"] == 0)
    }

    @Test("one mailbox entry carries all deliveries of a turn, each frame once", .withinOneTurn)
    func oneEntry() throws {
        let broker = try Broker(loopCount: 2)
        let sockets = try (0..<50).map { _ in try broker.webSocket(loop: 1) }
        for socket in sockets { try socket.observe("a") }
        let posters = try (0..<3).map { _ in try broker.http() }
        let content = #"{"k":""# + String(repeating: "x", count: 1_000) + #""}"#
        for poster in posters {
            poster.peer.send(HTTPPeer.text("POST", "/v1/channels/a", content).utf8)
        }
        _ = try broker.nodes[0].crank()
        var messages: [LoopMessage] = []
        broker.shared.mailboxes[1].drain(into: &messages)
        #expect(messages.count == 1)
        guard case .output(let output) = try #require(messages.first) else {
            Issue.record("the entry is no output")
            return
        }
        // All three go to the same observers: one item, the frames side by side.
        #expect(output.items.count == 1)
        #expect(output.connections.count == 50 && output.observers.count == 50)
        #expect((3_000..<4_500).contains(output.frames.count) && output.bytes.isEmpty)
        #expect(broker.shared.mailboxes[1].post(.output(output)))
        try broker.crank()
        for socket in sockets { #expect(try socket.takeNames().count == 3) }
    }

    @Test("notifications for different observers of another loop keep the order of each of them")
    func differentRows() throws {
        let broker = try Broker(loopCount: 2)
        let sockets = try (0..<6).map { try broker.webSocket(loop: $0 % 2) }
        for (place, socket) in sockets.enumerated() {
            try socket.observe("a")
            if place.isMultiple(of: 3) { try socket.observe("b", selector: "other:") }
        }
        let poster = try broker.http()
        let names = ["a", "a", "b", "a", "b", "b", "a"]
        let requests = names.map { HTTPPeer.text("POST", "/v1/channels/\($0)", "{}") }
        try poster.send(requests.joined())
        for _ in names { #expect(try poster.read()?.status == 200) }
        for (place, socket) in sockets.enumerated() {
            let expected = place.isMultiple(of: 3) ? names : names.filter { $0 == "a" }
            #expect(try socket.takeNames() == expected)
        }
    }

    @Test("a client that is gone before its opening is answered leaves nothing behind")
    func goneBeforeAnswer() throws {
        let broker = try Broker(loopCount: 2)
        for target in ["/v1/ws", "/v1/events?name=a"] {
            let peer = try broker.http(loop: 1)
            let fields = target.hasSuffix("ws") ? SocketPeer.openingFields : []
            peer.peer.send(HTTPPeer.text("GET", target, fields: fields).utf8)
            _ = try broker.nodes[1].crank()
            _ = try broker.nodes[0].crank()
            peer.peer.reset()
            try broker.crank()
            #expect(try broker.get("/v1/clients").json["clients"] == [])
            #expect(try broker.get("/v1/observers").json["observers"] == [])
        }
    }

    @Test("an answer for a connection that is gone reaches nobody else")
    func staleAnswer() throws {
        let broker = try Broker(loopCount: 2)
        let first = try broker.http(loop: 1)
        first.peer.send(HTTPPeer.text("POST", "/v1/channels/a", "").utf8)
        _ = try broker.nodes[1].crank()
        first.peer.reset()
        _ = try broker.nodes[1].crank()
        let second = try broker.http(loop: 1)
        try broker.crank()
        #expect(second.peer.received.isEmpty)
        #expect(try second.request("GET", "/livez").text == "ok\n")
    }

    @Test("a client that shuts down its half gets the answers that it waits for")
    func halfClose() throws {
        let broker = try Broker(loopCount: 2)
        for count in [1, 3] {
            let peer = try broker.http(loop: 1)
            for _ in 0..<count {
                peer.peer.send(HTTPPeer.text("POST", "/v1/channels/a", "{}").utf8)
            }
            peer.peer.halfClose()
            try broker.crank()
            for _ in 0..<count { #expect(try peer.read()?.status == 200) }
            #expect(peer.peer.isClosed)
        }
    }

    @Test("requests behind one that travels wait for its answer, and keep their order")
    func mixedCenters() throws {
        let broker = try Broker(loopCount: 2)
        var local = "local"
        var number = 0
        while broker.shared.home(of: Array(local.utf8)) != 1 {
            number += 1
            local = "local\(number)"
        }
        let peer = try broker.http(loop: 1)
        let targets = ["/v1/channels/a", "/v1/centers/\(local)/channels/b", "/v1/channels/c"]
        try peer.send(targets.map { HTTPPeer.text("POST", $0, "{}") }.joined())
        #expect(try (0..<3).map { _ in try peer.read()?.json["seq"].int } == [1, 1, 2])
        try peer.send(
            HTTPPeer.text("POST", targets[0], "{}") + HTTPPeer.text("GET", "/livez")
                + HTTPPeer.text("GET", "/v1/centers"))
        #expect(try peer.read()?.json["seq"] == 3)
        #expect(try peer.read()?.text == "ok\n")
        #expect(try peer.read()?.json["centers"].elements.count == 2)
    }

    @Test("half a request behind one that travels is answered once it is whole")
    func halfBehindTravelling() throws {
        let broker = try Broker(loopCount: 2)
        let peer = try broker.http(loop: 1)
        let request = HTTPPeer.text("POST", "/v1/channels/a", #"{"k":1}"#)
        for cut in [1, 20, request.utf8.count - 3] {
            try peer.send(request + String(request.prefix(cut)))
            try peer.send(String(request.dropFirst(cut)))
            #expect(try peer.read()?.status == 200)
            #expect(try peer.read()?.status == 200)
            #expect(try peer.read() == nil)
        }
    }

    @Test("a WebSocket and a request of one loop do not mix their answers")
    func interleaved() throws {
        let broker = try Broker(loopCount: 2)
        let socket = try broker.webSocket(loop: 1)
        let peer = try broker.http(loop: 1)
        try socket.observe("a")
        for _ in 0..<10 {
            socket.put(socket.call("post", #"{"name":"a"}"#))
            peer.peer.send(HTTPPeer.text("POST", "/v1/channels/a", "").utf8)
        }
        try broker.crank()
        let numbers = try socket.takeNotifications().compactMap { $0["seq"].int }
        #expect(numbers == Array(1...20))
        for _ in 0..<10 { #expect(try peer.read()?.status == 200) }
    }
}
