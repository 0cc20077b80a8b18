import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import Testing

/// A peer that speaks the broker's JSON-RPC over a WebSocket.
final class SocketPeer {
    let http: HTTPPeer
    let welcome: Value
    let subprotocol: String?
    /// The code of the Close frame, once there was one.
    private(set) var closeCode: UInt16?
    /// The pings that were sent, and have not been answered.
    private(set) var pingCount = 0
    /// The payloads of pongs.
    private(set) var pongs: [String] = []

    /// The agreement on compression.
    let extensions: String?
    /// Everything that has arrived behind the opening.
    private(set) var received: [UInt8] = []

    private var reader: MessageReader
    private var messages: [Value] = []
    private var echoes: [[UInt8]] = []
    private var callNumber = 0

    static let openingFields = [
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]

    init(
        http: HTTPPeer, path: String, subprotocol: String? = "belfry.v1", deflate: String? = nil,
        fields: [String] = []
    ) throws {
        self.http = http
        var offer = subprotocol.map { ["Sec-WebSocket-Protocol: \($0)"] } ?? []
        if let deflate { offer.append("Sec-WebSocket-Extensions: \(deflate)") }
        let response = try http.request("GET", path, fields: Self.openingFields + offer + fields)
        extensions = response.field("sec-websocket-extensions")
        reader = MessageReader(
            role: .client, limits: MessageLimits(messageByteLimit: 1 << 24),
            inflater: extensions == nil ? nil : Inflater())
        try #require(response.status == 101)
        try #require(response.field("sec-websocket-accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        self.subprotocol = response.field("sec-websocket-protocol")
        guard !path.hasPrefix("/debug") else {
            welcome = .null
            return
        }
        let bytes = http.takeRest()
        received = bytes
        var cursor = 0
        let first = try reader.nextEvent(in: bytes.span, at: &cursor)
        try #require(first == .text)
        let message = try Value(reader.message)
        try #require(message["method"] == "belfry.welcome")
        welcome = message["params"]
        let second = try reader.nextEvent(in: bytes.span, at: &cursor)
        try #require(second == nil)
    }

    var broker: Broker { http.broker }
    var peer: EmbeddedPeer { http.peer }
    var client: String { welcome["client"].text ?? "" }
    var session: String { welcome["session"].text ?? "" }

    // MARK: Sending

    /// Puts a frame on its way without running the broker.
    func put(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true) {
        var bytes: [UInt8] = []
        FrameWriter.append(
            opcode, payload: payload.span, isFinal: isFinal,
            maskingKey: MaskingKey([0x37, 0xFA, 0x21, 0x3D]), to: &bytes)
        peer.send(bytes)
    }

    /// Puts a text frame on its way without running the broker.
    func put(_ text: String) { put(.text, Array(text.utf8)) }

    /// Sends a text frame.
    func send(_ text: String) throws {
        put(text)
        try broker.crank()
    }

    func send(_ opcode: Opcode, _ payload: [UInt8]) throws {
        put(opcode, payload)
        try broker.crank()
    }

    /// Puts a frame on its way as it is, compressed or not.
    func put(compressed payload: [UInt8], opcode: UInt8 = 1, isFinal: Bool = true) {
        let count = payload.count
        var bytes: [UInt8] = [(isFinal ? 0xC0 : 0x40) | opcode]
        switch count {
        case ...125: bytes.append(0x80 | UInt8(count))
        case ...0xFFFF: bytes += [0xFE, UInt8(count >> 8), UInt8(count & 0xFF)]
        default: bytes += [0xFF] + (0..<8).reversed().map { UInt8(count >> (8 * $0) & 0xFF) }
        }
        // A mask of zeros changes nothing.
        peer.send(bytes + [0, 0, 0, 0] + payload)
    }

    /// Whether frames with RSV1 have arrived since the last look, by frame.
    func takeCompressedFlags() throws -> [Bool] {
        try read()
        defer { received = [] }
        var flags: [Bool] = []
        var rest = received[...]
        while rest.count >= 2 {
            let (first, code) = (rest[rest.startIndex], Int(rest[rest.startIndex + 1]))
            let lengthBytes = rest.dropFirst(2).prefix(code == 126 ? 2 : code == 127 ? 8 : 0)
            let count = code < 126 ? code : lengthBytes.reduce(0) { $0 << 8 | Int($1) }
            flags.append(first & 0x40 != 0)
            rest = rest.dropFirst(2 + lengthBytes.count + count)
        }
        return flags
    }

    // MARK: Calls

    /// The text of a call, with a fresh id.
    func call(_ method: String, _ params: String) -> String {
        callNumber += 1
        return #"{"jsonrpc":"2.0","id":\#(callNumber),"method":"\#(method)","params":\#(params)}"#
    }

    /// Calls a method, and gives the whole answer; what comes before it is kept.
    func answer(_ method: String, _ params: String = "{}") throws -> Value {
        try send(call(method, params))
        let answer = try takeAnswer(callNumber)
        return try #require(answer, "no answer to \(method)")
    }

    /// Takes the answer with this id from what has arrived.
    func takeAnswer(_ id: Int) throws -> Value? {
        try read()
        let place = messages.firstIndex { $0["id"].int == id && !$0.has("method") }
        return place.map { messages.remove(at: $0) }
    }

    /// Calls a method that must succeed, and gives its result.
    @discardableResult
    func result(_ method: String, _ params: String = "{}") throws -> Value {
        let answer = try answer(method, params)
        try #require(answer.has("result"), "\(answer)")
        return answer["result"]
    }

    /// Calls a method that must be refused, and gives the problem.
    func problem(_ method: String, _ params: String = "{}") throws -> Value {
        let answer = try answer(method, params)
        try #require(answer["error"]["code"] == -32000, "\(answer)")
        return answer["error"]["data"]
    }

    /// Registers an observer, and gives its registration.
    @discardableResult
    func observe(_ name: String?, _ object: String? = nil, selector: String = "notify") throws
        -> Value
    {
        let name = name.map { "\"\($0)\"" } ?? "null"
        let object = object.map { "\"\($0)\"" } ?? "null"
        return try result(
            "addObserver", #"{"name":\#(name),"object":\#(object),"selector":"\#(selector)"}"#)
    }

    // MARK: Receiving

    /// Takes all messages that have arrived and were not taken as answers.
    func takeMessages() throws -> [Value] {
        try read()
        defer { messages = [] }
        return messages
    }

    /// Takes those messages that have arrived and that a test asks for; others are kept.
    func takeMessages(where isWanted: (Value) -> Bool) throws -> [Value] {
        try read()
        let wanted = messages.filter(isWanted)
        messages.removeAll(where: isWanted)
        return wanted
    }

    /// Takes the notifications that have arrived: the params of all messages with a selector.
    func takeNotifications() throws -> [Value] {
        try takeMessages(where: { !($0["method"].text ?? "belfry.").hasPrefix("belfry.") })
            .map { $0["params"] }
    }

    /// Takes the names of the notifications that have arrived, each with its object.
    func takeNames() throws -> [String] {
        try takeNotifications().map { notification in
            let name = notification["name"].text ?? "?"
            return notification["object"].text.map { "\(name)/\($0)" } ?? name
        }
    }

    /// Takes whole messages as bytes, from the debug echo.
    func takeEchoes() throws -> [[UInt8]] {
        try read()
        defer { echoes = [] }
        return echoes
    }

    /// Reads what has arrived.
    func read() throws {
        let bytes = http.takeRest()
        received += bytes
        var cursor = 0
        while let event = try reader.nextEvent(in: bytes.span, at: &cursor) {
            switch event {
            case .text:
                if welcome == .null {
                    echoes.append(reader.message)
                } else {
                    messages.append(try Value(reader.message))
                }
            case .binary: echoes.append(reader.message)
            case .ping: pingCount += 1
            case .pong: pongs.append(String(decoding: reader.control, as: UTF8.self))
            case .close(let code): closeCode = code?.rawValue ?? 1005
            }
        }
    }
}
