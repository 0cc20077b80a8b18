internal import BelfryHTTP
internal import BelfryWebSocket

/// One connection to a broker as bytes: the opening, then frames, then the closing handshake.
///
/// It does no I/O: bytes that arrived go in, events and bytes to send come out (RFC 6455 §4.1).
struct BrokerSession {
    enum Event: Equatable {
        /// The connection was upgraded; the broker's welcome comes next.
        case opened
        /// A whole text message.
        case text([UInt8])
        /// The connection is over; bytes that wait should still be sent.
        case over(ClientError)
    }

    private enum State {
        case opening
        case refused
        case open
        case over
    }

    private static let subprotocol = Array("belfry.v1".utf8)
    /// The largest problem document that is read from a refusal.
    private static let refusalByteLimit = 65_536

    private let opening: ClientOpening
    private var state = State.opening
    private var response: ResponseParser
    private var refusal: [UInt8] = []
    private var reader: MessageReader
    private var closing = ClosingHandshake(role: .client)
    private var random: any RandomNumberGenerator

    /// Prepares an opening with random bytes of this generator, which also masks the frames.
    init(_ options: ClientOptions, random: some RandomNumberGenerator) {
        var random = random
        opening = ClientOpening(using: &random)
        var limits = HTTPLimits()
        limits.bodyByteLimit = Self.refusalByteLimit
        response = ResponseParser(limits: limits)
        reader = MessageReader(
            role: .client, limits: MessageLimits(messageByteLimit: options.messageByteLimit))
        self.random = random
    }

    /// Whether messages can be sent.
    var isOpen: Bool {
        switch state {
        case .open: closing.maySend
        case .opening, .refused, .over: false
        }
    }

    /// Appends the request that opens the connection.
    func appendOpening(_ url: BrokerURL, to output: inout [UInt8]) {
        RequestWriter.append(
            method: .get, target: url.target("ws"), host: url.authority,
            fields: [
                HTTPField("Upgrade", "websocket"), HTTPField("Connection", "Upgrade"),
                HTTPField("Sec-WebSocket-Key", opening.key),
                HTTPField("Sec-WebSocket-Version", "13"),
                HTTPField("Sec-WebSocket-Protocol", Self.subprotocol),
                HTTPField("Sec-WebSocket-Extensions", DeflateAgreement.clientFieldValue),
            ] + url.credentialFields, content: [UInt8]().span, to: &output)
    }

    /// Appends one text message.
    mutating func append(_ message: [UInt8], to output: inout [UInt8]) {
        guard isOpen else { return }
        frame(.text, message, to: &output)
    }

    /// Appends a ping, which any live broker answers.
    mutating func appendPing(to output: inout [UInt8]) {
        guard isOpen else { return }
        frame(.ping, [], to: &output)
    }

    /// Appends a Close; the broker answers with one and ends the connection.
    mutating func appendClose(to output: inout [UInt8]) {
        guard state == .open else { return }
        act(closing.close(.normalClosure), to: &output)
    }

    /// Reads bytes that arrived.
    mutating func receive(
        _ bytes: Span<UInt8>, output: inout [UInt8]
    ) -> [Event] {
        var events: [Event] = []
        var cursor = 0
        if state == .opening || state == .refused {
            readResponse(bytes, at: &cursor, events: &events)
        }
        while state == .open, let event = nextMessage(bytes, at: &cursor, output: &output) {
            events.append(event)
        }
        return events
    }

    /// The broker sends no more.
    mutating func endOfInput() -> Event? {
        switch state {
        case .opening, .open:
            state = .over
            return .over(.connectionLost)
        case .refused:
            return refuse()
        case .over:
            return nil
        }
    }

    // MARK: The opening

    private mutating func readResponse(
        _ bytes: Span<UInt8>, at cursor: inout Int, events: inout [Event]
    ) {
        do throws(HTTPError) {
            while let event = try response.nextEvent(in: bytes, at: &cursor) {
                switch event {
                case .head:
                    if response.head.status != 101 { state = .refused }
                case .body(let range):
                    for index in range { refusal.append(bytes[index]) }
                case .end:
                    events.append(state == .refused ? refuse() : finishOpening())
                    return
                }
            }
        } catch {
            state = .over
            events.append(.over(.http(error)))
        }
    }

    private mutating func finishOpening() -> Event {
        var answer = OpeningResponse(status: response.head.status)
        answer.upgrade = values(of: "upgrade")
        answer.connection = values(of: "connection")
        answer.accept = values(of: "sec-websocket-accept")
        answer.subprotocols = values(of: "sec-websocket-protocol")
        answer.extensions = values(of: "sec-websocket-extensions")
        let outcome = answer.outcome(
            of: opening, subprotocols: [Self.subprotocol], offersDeflate: true)
        switch outcome {
        case .open(_, let mayInflate):
            if mayInflate { reader.inflater = Inflater() }
            state = .open
            return .opened
        case .refused:
            return refuse()
        case .invalid(let fault):
            state = .over
            return .over(.invalidOpening(fault))
        }
    }

    private mutating func refuse() -> Event {
        state = .over
        let head = AnswerHead(response.head)
        return .over(head.problem(refusal).map { .openingRefused($0) } ?? head.foreign)
    }

    private func values(of name: String) -> [[UInt8]] {
        response.head.values(of: name).map { range in
            let value = response.head.value(in: range)
            return value.indices.map { value[$0] }
        }
    }

    // MARK: Frames

    private mutating func nextMessage(
        _ bytes: Span<UInt8>, at cursor: inout Int, output: inout [UInt8]
    ) -> Event? {
        do throws(WebSocketError) {
            while let event = try reader.nextEvent(in: bytes, at: &cursor) {
                switch event {
                case .text: return .text(reader.message)
                case .binary: return fail(.notUnderstood, .unsupportedData, to: &output)
                case .ping: if isOpen { frame(.pong, reader.control, to: &output) }
                case .pong: break
                case .close(let code):
                    act(closing.receiveClose(code), to: &output)
                    state = .over
                    let reason = String(decoding: reader.control, as: UTF8.self)
                    return .over(.closed(code: closing.outcome.rawValue, reason: reason))
                }
            }
            return nil
        } catch {
            act(closing.fail(error), to: &output)
            state = .over
            return .over(.webSocket(error))
        }
    }

    /// Ends a connection whose broker does not speak the protocol.
    mutating func fail(
        _ error: ClientError, _ code: CloseCode, to output: inout [UInt8]
    ) -> Event {
        act(closing.close(code), to: &output)
        state = .over
        return .over(error)
    }

    private mutating func act(_ action: ClosingHandshake.Action, to output: inout [UInt8]) {
        switch action {
        case .sendClose(let code), .sendCloseThenEnd(let code):
            FrameWriter.appendClose(code, maskingKey: MaskingKey(using: &random), to: &output)
        case .none, .endTransport:
            break
        }
    }

    private mutating func frame(_ opcode: Opcode, _ payload: [UInt8], to output: inout [UInt8]) {
        FrameWriter.append(
            opcode, payload: payload.span, maskingKey: MaskingKey(using: &random), to: &output)
    }
}
