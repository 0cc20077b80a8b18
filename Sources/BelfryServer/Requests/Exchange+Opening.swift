import BelfryBytes
import BelfryHTTP
import BelfryWebSocket
import BelfryWire

// The opening handshake of a WebSocket (RFC 6455 §4.2).

extension Exchange {
    /// The subprotocol of the broker.
    private static let subprotocol = Array("belfry.v1".utf8)

    /// Decides whether a client's WebSocket opens, and notes the agreement.
    mutating func openWebSocket(allowsDeflate: Bool) throws(Problem) {
        if let (key, hasSubprotocol) = usualOpening() {
            return noteOpening(key, hasSubprotocol ? Self.subprotocol : nil, nil)
        }
        try decideOpening(
            subprotocols: [Self.subprotocol], unknown: .refused, allowsDeflate: allowsDeflate)
    }

    /// Decides the same for the echo, which accepts any subprotocol and none.
    mutating func openDebugWebSocket(allowsDeflate: Bool) throws(Problem) {
        try decideOpening(subprotocols: [], unknown: .ignored, allowsDeflate: allowsDeflate)
    }

    private mutating func decideOpening(
        subprotocols: [[UInt8]], unknown: OpeningRequest.UnknownSubprotocols, allowsDeflate: Bool
    ) throws(Problem) {
        let decision = openingRequest().decide(
            subprotocols: subprotocols, unknown: unknown, allowsDeflate: allowsDeflate)
        switch decision {
        case .refuse(let refusal): throw refuseOpening(refusal)
        case .accept(let key, let subprotocol, let deflate):
            noteOpening(key, subprotocol, deflate)
        }
    }

    /// Keeps the agreement for the answer, and for the encoding of messages.
    private mutating func noteOpening(
        _ key: [UInt8], _ subprotocol: [UInt8]?, _ deflate: DeflateAgreement?
    ) {
        var details = reply.details
        details.acceptKey = key
        details.subprotocol = subprotocol
        details.extensions = deflate?.fieldValue
        reply.details = details
        reply.encoding = FrameEncoding(deflate)
    }

    /// The answer to an opening in its usual form; `openingRequest` has the same result.
    private mutating func usualOpening() -> (acceptKey: [UInt8], hasSubprotocol: Bool)? {
        guard parser.head.method == .get, parser.head.minorVersion >= 1,
            !parser.head.hasContent
        else { return nil }
        var opening = UsualOpening()
        for index in 0..<parser.head.fieldCount {
            opening.read(
                parser.head.name(at: index), parser.head.value(at: index),
                subprotocol: Self.subprotocol.span)
        }
        return opening.answer
    }

    private mutating func openingRequest() -> OpeningRequest {
        let head = parser.head
        func lines(_ name: String) -> [[UInt8]] {
            head.values(of: name).map { [UInt8](copying: head.value(in: $0)) }
        }
        var request = OpeningRequest()
        request.isGet = head.method == .get
        request.isHTTP11OrLater = head.minorVersion >= 1
        request.hasContent = head.hasContent
        request.upgrade = lines("upgrade")
        request.connection = lines("connection")
        request.key = lines("sec-websocket-key")
        request.version = lines("sec-websocket-version")
        request.subprotocols = lines("sec-websocket-protocol")
        request.extensions = lines("sec-websocket-extensions")
        return request
    }

    private mutating func refuseOpening(_ refusal: OpeningRefusal) -> Problem {
        let kind: Problem.Kind =
            switch refusal.status {
            case 426: .upgradeRequired
            case 405: .methodNotAllowed
            default: .malformedRequest
            }
        if refusal.namesUpgrade {
            refusalFields = [
                HTTPField("Upgrade", "websocket"), HTTPField("Connection", "Upgrade"),
                HTTPField("Sec-WebSocket-Version", "13"),
            ]
        }
        return Problem(kind, "This request does not open a WebSocket: \(refusal.reason).")
    }
}
