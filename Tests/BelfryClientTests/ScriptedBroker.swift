import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWebSocket
import Synchronization
import Testing

@testable import BelfryClient

/// A client on a kernel in memory, and the far end of its connection.
final class ScriptedBroker {
    let kernel = EmbeddedKernel()
    let door: ClientDoor
    /// The states of the connection for its owner.
    let states: AsyncStream<ConnectionState>
    private(set) var peer: EmbeddedPeer?
    /// Whether the next opening is answered with compression, and messages are compressed.
    var compresses = false
    private var loop: ClientLoop
    private var reader = MessageReader(role: .server)
    private var input = [UInt8](repeating: 0, count: 65_536)

    static let welcome =
        #"{"jsonrpc":"2.0","method":"belfry.welcome","params":"#
        + #"{"client":"c4","session":"c4.Qz","center":"default","epoch":"k3","seq":1841}}"#

    init(_ url: String = "http://127.0.0.1:8080", _ options: ClientOptions = .init()) throws {
        door = try ClientDoor()
        let (states, changes) = AsyncStream.makeStream(of: ConnectionState.self)
        self.states = states
        loop = try ClientLoop(
            try BrokerURL(url), options, door: door, states: changes,
            kernel: .embedded(kernel))
        try crank()
    }

    /// Lets the client do all that it can do now.
    func crank() throws {
        while true {
            let event = try loop.nextEvent(into: &input)
            if event == .waiting { return }
        }
    }

    /// Asks the client for something and lets it work.
    @discardableResult
    func submit<Value: Sendable>(
        _ command: (ClientCommand.Reply<Value>) -> ClientCommand
    ) throws -> Answer<Value> {
        let answer = Answer<Value>()
        door.submit(command(ClientCommand.Reply { answer.set($0) }))
        try crank()
        return answer
    }

    /// Takes the connection that the client asked for, and its opening request.
    func acceptAttempt() throws -> String {
        let peer = try #require(kernel.takeAttempt())
        self.peer = peer
        reader = MessageReader(role: .server)
        peer.completeAttempt()
        try crank()
        return String(decoding: peer.takeReceived(), as: UTF8.self)
    }

    /// Answers an opening request with 101.
    func acceptOpening(_ request: String) throws {
        var opening = OpeningRequest()
        opening.upgrade = [Array("websocket".utf8)]
        opening.connection = [Array("Upgrade".utf8)]
        opening.version = [Array("13".utf8)]
        let line = request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }
        opening.key = [Array(try #require(line).utf8.dropFirst("Sec-WebSocket-Key: ".utf8.count))]
        opening.subprotocols = [Array("belfry.v1".utf8)]
        let offer = request.split(separator: "\r\n").first {
            $0.hasPrefix("Sec-WebSocket-Extensions: ")
        }
        opening.extensions = [Array((offer ?? "").utf8.dropFirst(26))]
        let decision = opening.decide(
            subprotocols: opening.subprotocols, unknown: .refused, allowsDeflate: compresses)
        guard case .accept(let key, _, let deflate) = decision else {
            Issue.record("the opening is refused: \(decision)")
            return
        }
        let extensions = deflate.map {
            "Sec-WebSocket-Extensions: \(String(decoding: $0.fieldValue, as: UTF8.self))\r\n"
        }
        try say(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(String(decoding: key, as: UTF8.self))\r\n"
                + "Sec-WebSocket-Protocol: belfry.v1\r\n\(extensions ?? "")\r\n")
    }

    /// Takes the connection, upgrades it and welcomes the client.
    func open() throws {
        try acceptOpening(try acceptAttempt())
        try send(Self.welcome)
    }

    /// Makes a client with an open connection.
    static func opened(_ options: ClientOptions = .init()) throws -> ScriptedBroker {
        let broker = try ScriptedBroker("http://127.0.0.1:8080", options)
        let answer = try broker.submit(ClientCommand.open)
        try broker.open()
        try #require(answer.isSuccess)
        return broker
    }

    /// Answers an opening request with this content.
    func refuse(
        _ status: Int, _ content: String, type: String = "application/problem+json",
        fields: String = ""
    ) throws {
        let typeField = type.isEmpty ? "" : "Content-Type: \(type)\r\n"
        let length = status == 204 ? "" : "Content-Length: \(content.utf8.count)\r\n"
        try say("HTTP/1.1 \(status) No\r\n\(typeField)\(fields)\(length)\r\n\(content)")
    }

    /// Sends bytes to the client.
    func say(_ text: String) throws {
        peer?.send(Array(text.utf8))
        try crank()
    }

    /// Sends a text message to the client.
    func send(_ message: String) throws {
        var bytes: [UInt8] = []
        let payload = Array(message.utf8)
        if compresses,
            let frame = FrameWriter.append(
                .text, compressing: payload.span, by: Deflater(), to: &bytes)
        {
            peer?.send(Array(bytes[frame]))
        } else {
            FrameWriter.append(.text, payload: payload.span, to: &bytes)
            peer?.send(bytes)
        }
        try crank()
    }

    /// Sends a Close to the client.
    func sendClose(_ code: UInt16) throws {
        var bytes: [UInt8] = []
        FrameWriter.appendClose(CloseCode(rawValue: code), to: &bytes)
        peer?.send(bytes)
        try crank()
    }

    /// The frames of the client since the last look: texts as they are, and others by name.
    func heard() throws -> [String] {
        let bytes = peer?.takeReceived() ?? []
        var cursor = 0
        var heard: [String] = []
        while let event = try reader.nextEvent(in: bytes.span, at: &cursor) {
            switch event {
            case .text: heard.append(String(decoding: reader.message, as: UTF8.self))
            case .binary: heard.append("binary")
            case .ping: heard.append("ping")
            case .pong: heard.append("pong")
            case .close(let code): heard.append("close \(code?.rawValue ?? 0)")
            }
        }
        return heard
    }

    /// Moves the clock, and lets the client do what is due.
    func advance(_ duration: Duration) throws {
        kernel.advance(by: duration)
        try crank()
    }

    /// Registers an observer, whose id is `o` and the number of the request.
    func observe(
        name: String? = "A", object: String? = nil, selector: String = "notify",
        options: ClientOptions = .init(), terms: ObserverOptions = .init()
    ) throws -> NotificationBuffer {
        let buffer = NotificationBuffer(options)
        let wish = ObserverWish(
            name: name, object: object, selector: selector, since: nil, options: terms,
            buffer: buffer)
        let answer = try submit { .addObserver(wish, $0) }
        let text = try #require(try heard().last)
        let request = try #require(JSONObject(Array(text.utf8)))
        let id = try #require(request.integer("id"))
        try send(
            #"{"jsonrpc":"2.0","id":\#(id),"result":{"id":"o\#(id)","token":"o\#(id).t","since":5}}"#
        )
        try #require(answer.isSuccess)
        return buffer
    }

    /// Answers the last request, or one that was heard before, with this JSON.
    func answerLast(_ result: String, asked: String? = nil) throws {
        let text = try #require(try asked ?? heard().last)
        let id = try #require(JSONObject(Array(text.utf8))?.integer("id"))
        try send(#"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"#)
    }

    /// Asks an acknowledging observer.
    func ask(
        _ seq: Int, observer: String, selector: String = "notify", more: String = ""
    ) throws {
        try send(
            #"{"jsonrpc":"2.0","id":"\#(observer):\#(seq)","method":"\#(selector)","params":"#
                + #"{"id":"n\#(seq)","seq":\#(seq),"name":"A","postedAt":"t","#
                + #""observer":"\#(observer)"\#(more)}}"#)
    }

    /// Lets the client connect again after its connection was lost, and welcomes it.
    func reopen(epoch: String = "k3", pause: Duration = .seconds(1)) throws {
        try advance(pause)
        try acceptOpening(try acceptAttempt())
        try send(
            #"{"jsonrpc":"2.0","method":"belfry.welcome","params":{"client":"c9","#
                + #""session":"c9.mB","center":"default","epoch":"\#(epoch)","seq":9}}"#)
    }

    /// Answers that the session of the connection before is not known.
    func refuseResume() throws {
        let text = try #require(try heard().last)
        #expect(text.contains(#""method":"resume""#))
        let id = try #require(JSONObject(Array(text.utf8))?.integer("id"))
        try send(
            #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":-32000,"message":"Not found","#
                + #""data":{"status":404}}}"#)
    }

    /// Delivers a notification.
    func deliver(_ seq: Int, to selector: String = "notify", more: String = "") throws {
        try send(
            #"{"jsonrpc":"2.0","method":"\#(selector)","params":{"id":"n\#(seq)","seq":\#(seq),"#
                + #""name":"A","postedAt":"2026-11-21T08:00:00.000Z"\#(more)}}"#)
    }
}

/// The outcome of a command, once it is there.
final class Answer<Value: Sendable>: Sendable {
    private let stored = Mutex<Result<Value, ClientError>?>(nil)

    func set(_ result: Result<Value, ClientError>) {
        stored.withLock { stored in
            precondition(stored == nil, "a reply is called once")
            stored = result
        }
    }

    var value: Value? {
        guard case .success(let value) = stored.withLock({ $0 }) else { return nil }
        return value
    }

    var error: ClientError? {
        guard case .failure(let error) = stored.withLock({ $0 }) else { return nil }
        return error
    }

    var isSuccess: Bool { value != nil }

    var isThere: Bool { stored.withLock { $0 != nil } }
}

extension ClientLoop {
    /// Takes one event and handles it.
    mutating func nextEvent(into input: inout [UInt8]) throws -> LoopEvent {
        let event = try loop.nextEvent(into: &input)
        handle(event, input)
        return event
    }
}
