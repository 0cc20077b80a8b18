import BelfryHTTP
import BelfryLoop
import Testing

/// A response that a peer has read.
struct Response {
    let head: ResponseHead
    let body: [UInt8]

    var status: Int { head.status }
    var text: String { String(decoding: body, as: UTF8.self) }
    var json: Value { (try? Value(body)) ?? .null }

    /// The value of a field, whose name is given in lower case.
    func field(_ name: String) -> String? {
        guard let range = head.values(of: name).first else { return nil }
        let value = head.value(in: range)
        return String(decoding: value.indices.map { value[$0] }, as: UTF8.self)
    }

    /// The last part of the problem's type; nil when it is no problem document.
    var problem: String? {
        guard field("content-type") == "application/problem+json",
            json["status"].int == status, let type = json["type"].text
        else { return nil }
        return type.split(separator: "/").last.map(String.init)
    }

    /// The place of the first field error of a problem.
    var place: String? {
        json["errors"][0]["pointer"].text ?? json["errors"][0]["parameter"].text
            ?? json["errors"][0]["header"].text
    }
}

/// A peer that speaks HTTP/1.1 with a broker.
final class HTTPPeer {
    let broker: Broker
    let peer: EmbeddedPeer
    private var parser = ResponseParser(limits: HTTPLimits())
    private var bytes: [UInt8] = []
    private var cursor = 0
    private var body: [UInt8] = []

    init(broker: Broker, peer: EmbeddedPeer) {
        self.broker = broker
        self.peer = peer
    }

    /// The bytes of a request; one with content tells its length.
    static func text(
        _ method: String, _ target: String, _ body: String? = nil, fields: [String] = []
    ) -> String {
        var lines = ["\(method) \(target) HTTP/1.1"]
        if !fields.contains(where: { $0.hasPrefix("Host:") }) { lines.append("Host: localhost") }
        lines += fields
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
    }

    /// Sends text as it is.
    func send(_ text: String) throws {
        peer.send(text.utf8)
        try broker.crank()
    }

    /// Makes a request and reads its response.
    func request(
        _ method: String, _ target: String, _ body: String? = nil, fields: [String] = []
    ) throws -> Response {
        if method == "HEAD" { parser.requestMethod = .head }
        defer { parser.requestMethod = .get }
        try send(Self.text(method, target, body, fields: fields))
        let response = try read()
        return try #require(response)
    }

    /// Takes the next response; nil when none has arrived whole.
    func read() throws -> Response? {
        bytes += peer.takeReceived()
        let bytes = bytes
        while let event = try parser.nextEvent(in: bytes.span, at: &cursor) {
            switch event {
            case .head: body = []
            case .body(let range): body += bytes[range]
            case .end: return takeResponse()
            }
        }
        if peer.sawEndOfOutput, try parser.finish() == .end { return takeResponse() }
        return nil
    }

    /// Takes the head of a response whose content does not end.
    func readHead() throws -> ResponseHead? {
        parser.bodyByteLimit = nil
        bytes += peer.takeReceived()
        let bytes = bytes
        return try parser.nextEvent(in: bytes.span, at: &cursor) == .head ? parser.head : nil
    }

    /// The bytes behind the last response that was read.
    func takeRest() -> [UInt8] {
        bytes += peer.takeReceived()
        defer {
            bytes = []
            cursor = 0
        }
        return Array(bytes[cursor...])
    }

    private func takeResponse() -> Response {
        Response(head: parser.head, body: body)
    }
}
