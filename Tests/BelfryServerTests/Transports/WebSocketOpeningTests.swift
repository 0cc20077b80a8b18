import BelfryLoop
import BelfryWebSocket
import Testing

@testable import BelfryServer

@Suite("WebSocket: the opening (RFC 6455 §4.2)")
struct WebSocketOpeningTests {
    @Test("a client that offers belfry.v1 gets it, one that offers none the same without a name")
    func subprotocols() throws {
        let broker = try Broker()
        for (offer, answer) in [
            ("belfry.v1", "belfry.v1"), ("other, belfry.v1", "belfry.v1"), (nil, nil),
        ] as [(String?, String?)] {
            let socket = try SocketPeer(http: broker.http(), path: "/v1/ws", subprotocol: offer)
            #expect(socket.subprotocol == answer)
            #expect(try socket.observe("a")["name"] == "a")
        }
    }

    @Test("a client that offers only others is refused")
    func foreignSubprotocol() throws {
        let fields = SocketPeer.openingFields + ["Sec-WebSocket-Protocol: mqtt, belfry.v2"]
        let response = try Broker().get("/v1/ws", fields: fields)
        #expect(response.problem == "malformed-request")
    }

    @Test(
        "what is no opening is refused, and told how to do it",
        arguments: [
            ("Upgrade: websocket", 426), ("Connection: Upgrade", 426),
            ("Sec-WebSocket-Version: 13", 426),
            ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", 400),
        ])
    func missingField(missing: String, status: Int) throws {
        let fields = SocketPeer.openingFields.filter { $0 != missing }
        for path in ["/v1/ws", "/v1/centers/team/ws"] {
            let response = try Broker().get(path, fields: fields)
            #expect(response.status == status)
            #expect(response.problem == (status == 426 ? "upgrade-required" : "malformed-request"))
            if status == 426 {
                #expect(response.field("upgrade") == "websocket")
                #expect(response.field("sec-websocket-version") == "13")
            }
        }
    }

    @Test("the welcome names client, session, center, epoch and number", arguments: [1, 2])
    func welcome(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        try broker.post(name: "a")
        let socket = try broker.webSocket(loop: loopCount - 1)
        #expect(
            socket.welcome.keys
                == ["client", "session", "center", "epoch", "seq", "pingInterval"])
        #expect(socket.session.hasPrefix(socket.client + "."))
        #expect(socket.session.count == socket.client.count + 23)
        #expect(socket.welcome["center"] == "default")
        #expect(socket.welcome["seq"] == 1)
    }

    @Test("frames that arrive right behind the opening are answered", arguments: [1, 2])
    func framesBehindOpening(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let peer = try broker.http(loop: loopCount - 1)
        var bytes = Array(
            HTTPPeer.text("GET", "/v1/ws", fields: SocketPeer.openingFields).utf8)
        let call = Array(
            #"{"jsonrpc":"2.0","id":1,"method":"addObserver","params":{"name":"a"}}"#.utf8)
        FrameWriter.append(
            .text, payload: call.span, maskingKey: MaskingKey([1, 2, 3, 4]), to: &bytes)
        peer.peer.send(bytes)
        try broker.crank()
        #expect(try peer.read()?.status == 101)
        let text = String(decoding: peer.takeRest(), as: UTF8.self)
        #expect(text.contains("belfry.welcome"))
        #expect(text.contains(#""id":1,"result":"#))
        #expect(try broker.post(name: "a")["matched"] == 1)
    }
}
