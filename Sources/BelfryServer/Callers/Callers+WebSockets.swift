import BelfryBytes
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import BelfryWire

// WebSockets: the opening, messages, control frames and the close (RFC 6455).

extension Callers {
    /// The subprotocol of the broker.
    static let subprotocol = Array("belfry.v1".utf8)

    /// Decides the opening handshake.
    mutating func openWebSocket(_ id: ConnectionID, _ outbox: inout Outbox) throws(Problem) {
        if let (key, hasSubprotocol) = usualOpening() {
            return noteOpening(key, hasSubprotocol ? Self.subprotocol : nil, nil, on: id)
        }
        let decision = openingRequest().decide(
            subprotocols: [Self.subprotocol], unknown: .refused,
            allowsDeflate: outbox.configuration.compressesMessages)
        switch decision {
        case .refuse(let refusal):
            throw refuseOpening(refusal)
        case .accept(let key, let subprotocol, let deflate):
            noteOpening(key, subprotocol, deflate, on: id)
        }
    }

    /// The opening of the echo, which needs no center.
    mutating func openDebugWebSocket(_ id: ConnectionID, _ outbox: inout Outbox) throws(Problem) {
        let decision = openingRequest().decide(
            subprotocols: [], unknown: .ignored,
            allowsDeflate: outbox.configuration.compressesMessages)
        switch decision {
        case .refuse(let refusal):
            throw refuseOpening(refusal)
        case .accept(let key, let subprotocol, let deflate):
            noteOpening(key, subprotocol, deflate, on: id)
            let start = outbox.loop.output.count
            var bytes: [UInt8] = []
            outbox.appendOpening(exchange.reply, to: &bytes)
            outbox.loop.output.append(contentsOf: bytes)
            outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
            connections[id].kind = .debugWebSocket
            setDeadline(id, .ping, &outbox)
        }
    }

    /// Keeps what was agreed on: for the answer, for the center, and for what arrives.
    private mutating func noteOpening(
        _ key: [UInt8], _ subprotocol: [UInt8]?, _ deflate: DeflateAgreement?, on id: ConnectionID
    ) {
        var details = exchange.reply.details
        details.acceptKey = key
        details.subprotocol = subprotocol
        details.extensions = deflate?.fieldValue
        exchange.reply.details = details
        exchange.reply.encoding = FrameEncoding(deflate)
        connections[id].encoding = exchange.reply.encoding
    }

    /// The answer to an opening as nearly every client sends it: `openingRequest` would get the same.
    private mutating func usualOpening() -> (acceptKey: [UInt8], hasSubprotocol: Bool)? {
        guard exchange.parser.head.method == .get, exchange.parser.head.minorVersion >= 1,
            !exchange.parser.head.hasContent
        else { return nil }
        var opening = UsualOpening()
        for index in 0..<exchange.parser.head.fieldCount {
            opening.read(
                exchange.parser.head.name(at: index), exchange.parser.head.value(at: index),
                subprotocol: Self.subprotocol.span)
        }
        return opening.answer
    }

    private func openingRequest() -> OpeningRequest {
        let head = exchange.parser.head
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
            exchange.refusalFields = [
                HTTPField("Upgrade", "websocket"), HTTPField("Connection", "Upgrade"),
                HTTPField("Sec-WebSocket-Version", "13"),
            ]
        }
        return Problem(kind, "This request does not open a WebSocket: \(refusal.reason).")
    }

    // MARK: Messages

    /// Takes up the message that is unfinished on a connection; false when what has arrived must wait.
    mutating func takeUpReader(
        of id: ConnectionID, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> Bool {
        let (deadline, credentialDeadline, encoding) = connections.silence(of: id)
        if deadline != .slow {
            let time = timeouts.deadline(.ping, from: outbox.loop.now)
            outbox.loop.setDeadline(id, at: min(time, credentialDeadline))
            if deadline == .pong { connections[id].deadline = .ping }
        }
        if encoding != .plain, hasInflatedEnough(&outbox) {
            throttle(id, &outbox)
            keepWaiting(id, bytes, &outbox)
            return false
        }
        if let unfinished = connections[id].unfinished, let begun = unfinished.reader {
            reader = begun
            unfinished.reader = nil
            unfinished.recount()
        } else if connections[id].kind == .debugWebSocket {
            reader = MessageReader(role: .server, limits: Self.debugMessageLimits)
        }
        if encoding != .plain || reader.inflater != nil {
            reader.inflater = outbox.compression.inflater(encoding)
        }
        return true
    }

    /// Reads on to the next text message of a client.
    mutating func nextMessage(
        _ pass: inout ReadingPass, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> CallerStep? {
        let id = pass.id
        let isDebug = pass.kind == .debugWebSocket
        do throws(WebSocketError) {
            while true {
                if pass.hasAsked {
                    pass.hasAsked = false
                    guard speaksOn(pass, bytes, &outbox) else { return nil }
                }
                guard let event = try reader.nextEvent(in: bytes, at: &pass.cursor) else { break }
                pass.hasAsked = true
                if let step = handle(event, on: id, isDebug: isDebug, &outbox) { return step }
            }
        } catch {
            if outbox.log.level <= .debug {
                outbox.log.write(
                    .debug, "a WebSocket broke the protocol", ("reason", "\(error)"),
                    ("client", "c\(connections[id].client)"))
            }
            closeWebSocket(id, error.closeCode, reason: "", &outbox)
            renewReader(isDebug: isDebug, &outbox)
            return nil
        }
        keepReader(id, isDebug: isDebug, &outbox)
        return nil
    }

    /// Whether the bytes behind a message are read in this pass.
    private mutating func speaksOn(
        _ pass: ReadingPass, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> Bool {
        let id = pass.id
        let isDebug = pass.kind == .debugWebSocket
        guard connections.kind(of: id) != nil else {
            renewReader(isDebug: isDebug, &outbox)
            return false
        }
        if isEnough(from: pass.outputStart, inputByteCount: bytes.count, &outbox)
            || hasInflatedEnough(&outbox)
        {
            throttle(id, &outbox)
        }
        if connections.takesMessages(id) { return true }
        keepReader(id, isDebug: isDebug, &outbox)
        if pass.cursor < bytes.count {
            keepWaiting(id, bytes.extracting(pass.cursor..<bytes.count), &outbox)
        }
        return false
    }

    /// Whether this turn has inflated so much that what is compressed waits for the next one.
    func hasInflatedEnough(_ outbox: inout Outbox) -> Bool {
        outbox.compression.inflatedByteCount - inflatedBeforeTurn > Self.turnInflatedByteLimit
    }

    /// The bytes that all messages of a turn may become before the rest waits for the next turn:
    /// that is 20 ms of work, and what other connections wait for it.
    private static let turnInflatedByteLimit = 4 << 20

    /// The limits of the echo: 16 MiB and 100,000 fragments.
    private static var debugMessageLimits: MessageLimits {
        MessageLimits(messageByteLimit: 16 << 20, fragmentLimit: 100_000)
    }

    /// Lets the connection keep a message that has not fully arrived.
    private mutating func keepReader(_ id: ConnectionID, isDebug: Bool, _ outbox: inout Outbox) {
        if reader.isBetweenMessages {
            if isDebug { renewReader(isDebug: true, &outbox) }
            if let unfinished = connections[id].unfinished, unfinished.waitingBytes.isEmpty {
                connections[id].unfinished = nil
            }
            return
        }
        // The last message may have been that of another connection.
        reader.forgetLast()
        unfinished(of: id).reader = reader
        renewReader(isDebug: true, &outbox)
        countUnfinished(of: id, &outbox)
    }

    mutating func renewReader(isDebug: Bool, _ outbox: inout Outbox) {
        guard isDebug || !reader.isBetweenMessages else { return }
        reader = MessageReader(
            role: .server,
            limits: MessageLimits(messageByteLimit: outbox.configuration.messageByteLimit))
    }

    private mutating func handle(
        _ event: WebSocketEvent, on id: ConnectionID, isDebug: Bool, _ outbox: inout Outbox
    ) -> CallerStep? {
        switch event {
        case .text where isDebug: echo(.text, reader.message, to: id, &outbox)
        case .binary where isDebug: echo(.binary, reader.message, to: id, &outbox)
        case .text: return .calls
        case .binary:
            closeWebSocket(id, .unsupportedData, reason: "only text is understood", &outbox)
        case .ping: echo(.pong, reader.control, to: id, &outbox)
        case .pong: break
        case .close(let code):
            // The answer repeats the code (RFC 6455 §5.5.1).
            closeWebSocket(id, code, reason: "", &outbox)
        }
        return nil
    }

    /// The calls of a message, which are performed where the client's center lives.
    mutating func calls(from id: ConnectionID, _ outbox: inout Outbox) -> Submission {
        Submission(
            center: connections[id].center,
            request: .calls(
                text: reader.message,
                CallingClient(number: connections[id].client, session: connections[id].session)),
            caller: connections[id].caller ?? outbox.anonymous,
            reply: Reply(loop: outbox.number, connection: id, form: .webSocket),
            address: gate.askerAddress(of: id, connections[id].address, &outbox))
    }

    private mutating func echo(
        _ opcode: Opcode, _ payload: [UInt8], to id: ConnectionID, _ outbox: inout Outbox
    ) {
        if !opcode.isControl, payload.count >= outbox.configuration.compressionThreshold,
            let deflater = outbox.compression.deflater(connection(id)?.encoding ?? .plain),
            let frame = FrameWriter.append(
                opcode, compressing: payload.span, by: deflater, to: &outbox.loop.output)
        {
            return outbox.loop.send(frame, to: id, as: .answer)
        }
        let start = outbox.loop.output.count
        FrameWriter.append(opcode, payload: payload.span, to: &outbox.loop.output)
        outbox.loop.send(
            start..<outbox.loop.output.count, to: id, as: opcode == .pong ? .urgent : .answer)
    }

    /// Asks a silent client whether it is still there.
    mutating func sendPing(_ id: ConnectionID, _ outbox: inout Outbox) {
        let start = outbox.loop.output.count
        let empty: [UInt8] = []
        FrameWriter.append(.ping, payload: empty.span, to: &outbox.loop.output)
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .delivery)
    }

    /// Sends a Close frame as the last frame, and lets the connection go.
    ///
    /// The client is no client any more at once: its center sends nothing behind the Close frame.
    mutating func closeWebSocket(
        _ id: ConnectionID, _ code: CloseCode?, reason: String, _ outbox: inout Outbox
    ) {
        guard connections.kind(of: id) != nil else { return }
        leave(id, &outbox)
        let start = outbox.loop.output.count
        FrameWriter.appendClose(code, reason: Array(reason.utf8), to: &outbox.loop.output)
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        closeSoon(id, &outbox)
    }
}
