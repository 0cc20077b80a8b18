import BelfrySystem
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import BelfryWire

// WebSockets: the opening, messages, control frames and the close (RFC 6455).

extension ServerLoop {
    /// The subprotocol of the broker.
    static let subprotocol = Array("belfry.v1".utf8)

    /// Decides the opening handshake, and asks for a client.
    mutating func openWebSocket(_ id: ConnectionID) throws(Problem) -> CenterRequest {
        if let (key, hasSubprotocol) = usualOpening() {
            noteOpening(key, hasSubprotocol ? Self.subprotocol : nil, nil, on: id)
            return .connect(.webSocket, observers: [], since: nil)
        }
        let decision = openingRequest().decide(
            subprotocols: [Self.subprotocol], unknown: .refused,
            allowsDeflate: configuration.compressesMessages)
        switch decision {
        case .refuse(let refusal):
            throw refuseOpening(refusal)
        case .accept(let key, let subprotocol, let deflate):
            noteOpening(key, subprotocol, deflate, on: id)
            return .connect(.webSocket, observers: [], since: nil)
        }
    }

    /// The opening of the echo, which needs no center.
    mutating func openDebugWebSocket(_ id: ConnectionID) throws(Problem) {
        let decision = openingRequest().decide(
            subprotocols: [], unknown: .ignored, allowsDeflate: configuration.compressesMessages)
        switch decision {
        case .refuse(let refusal):
            throw refuseOpening(refusal)
        case .accept(let key, let subprotocol, let deflate):
            noteOpening(key, subprotocol, deflate, on: id)
            let start = loop.output.count
            var bytes: [UInt8] = []
            appendOpening(exchange.reply, to: &bytes)
            loop.output.append(contentsOf: bytes)
            loop.send(start..<loop.output.count, to: id, as: .answer)
            connections[id].kind = .debugWebSocket
            setDeadline(id, .ping)
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

    /// Appends the 101 response.
    mutating func appendOpening(_ reply: HTTPReply, to bytes: inout [UInt8]) {
        renewDate()
        let details = reply.details
        OpeningAnswer.append(
            acceptKey: details.acceptKey, subprotocol: details.subprotocol,
            extensions: details.extensions, date: date.text, to: &bytes)
    }

    /// Appends the first frame of a client.
    mutating func appendWelcome(
        _ client: UInt64, session: [UInt8], _ position: Int, to bytes: inout [UInt8]
    ) {
        frameText.removeAll(keepingCapacity: true)
        let welcome = Welcome(
            client: client, session: session, center: centers[position].name,
            epoch: centers[position].epoch, sequence: centers[position].sequence)
        RPC.append(welcome: welcome, to: &frameText)
        FrameWriter.append(.text, payload: frameText.span, to: &bytes)
    }

    // MARK: Messages

    /// Reads all messages that have arrived.
    mutating func receiveMessages(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        guard connections.has(id) else { return }
        if connections[id].deadline != .slow {
            let time = timeouts.deadline(.ping, from: loop.now)
            loop.setDeadline(id, at: min(time, connections[id].credentialDeadline))
            if connections[id].deadline == .pong { connections[id].deadline = .ping }
        }
        let encoding = connections[id].encoding
        if hasInflatedEnough, encoding != .plain {
            throttle(id)
            return keepWaiting(id, bytes)
        }
        let isDebug = connections[id].kind == .debugWebSocket
        if let unfinished = connections[id].unfinished, let begun = unfinished.reader {
            reader = begun
            unfinished.reader = nil
            unfinished.recount()
        } else if isDebug {
            reader = MessageReader(role: .server, limits: Self.debugMessageLimits)
        }
        if encoding != .plain || reader.inflater != nil {
            reader.inflater = compression.inflater(encoding)
        }
        var cursor = 0
        let outputStart = loop.outputByteCount
        do throws(WebSocketError) {
            while let event = try reader.nextEvent(in: bytes, at: &cursor) {
                handle(event, on: id, isDebug: isDebug)
                guard connections.kind(of: id) != nil else {
                    renewReader(isDebug: isDebug)
                    return
                }
                if isEnough(from: outputStart, inputByteCount: bytes.count) || hasInflatedEnough {
                    throttle(id)
                }
                if connections[id].isAwaiting || throttled.last == id {
                    keepReader(id, isDebug: isDebug)
                    if cursor < bytes.count {
                        keepWaiting(id, bytes.extracting(cursor..<bytes.count))
                    }
                    return
                }
            }
        } catch {
            if log.level <= .debug {
                log.write(
                    .debug, "a WebSocket broke the protocol", ("reason", "\(error)"),
                    ("client", "c\(connections[id].client)"))
            }
            closeWebSocket(id, error.closeCode, reason: "")
            renewReader(isDebug: isDebug)
            return
        }
        keepReader(id, isDebug: isDebug)
    }

    /// Whether this turn has inflated so much that what is compressed waits for the next one.
    var hasInflatedEnough: Bool {
        compression.inflatedByteCount - inflatedBeforeTurn > Self.turnInflatedByteLimit
    }

    /// The limits of the echo: 16 MiB and 100,000 fragments.
    private static var debugMessageLimits: MessageLimits {
        MessageLimits(messageByteLimit: 16 << 20, fragmentLimit: 100_000)
    }

    /// Lets the connection keep a message that has not fully arrived.
    private mutating func keepReader(_ id: ConnectionID, isDebug: Bool) {
        if reader.isBetweenMessages {
            if isDebug { renewReader(isDebug: true) }
            if let unfinished = connections[id].unfinished, unfinished.waitingBytes.isEmpty {
                connections[id].unfinished = nil
            }
            return
        }
        // The last message may have been that of another connection.
        reader.forgetLast()
        unfinished(of: id).reader = reader
        renewReader(isDebug: true)
        countUnfinished(of: id)
    }

    mutating func renewReader(isDebug: Bool) {
        guard isDebug || !reader.isBetweenMessages else { return }
        reader = MessageReader(
            role: .server,
            limits: MessageLimits(messageByteLimit: configuration.messageByteLimit))
    }

    private mutating func handle(_ event: WebSocketEvent, on id: ConnectionID, isDebug: Bool) {
        switch event {
        case .text where isDebug: echo(.text, reader.message, to: id)
        case .binary where isDebug: echo(.binary, reader.message, to: id)
        case .text: receiveCalls(id)
        case .binary: closeWebSocket(id, .unsupportedData, reason: "only text is understood")
        case .ping: echo(.pong, reader.control, to: id)
        case .pong: break
        case .close(let code):
            // The answer repeats the code (RFC 6455 §5.5.1).
            closeWebSocket(id, code, reason: "")
        }
    }

    private mutating func echo(_ opcode: Opcode, _ payload: [UInt8], to id: ConnectionID) {
        if !opcode.isControl, payload.count >= configuration.compressionThreshold,
            let deflater = compression.deflater(connection(id)?.encoding ?? .plain),
            let frame = FrameWriter.append(
                opcode, compressing: payload.span, by: deflater, to: &loop.output)
        {
            return loop.send(frame, to: id, as: .answer)
        }
        let start = loop.output.count
        FrameWriter.append(opcode, payload: payload.span, to: &loop.output)
        loop.send(start..<loop.output.count, to: id, as: opcode == .pong ? .urgent : .answer)
    }

    /// Asks a silent client whether it is still there.
    mutating func sendPing(_ id: ConnectionID) {
        let start = loop.output.count
        let empty: [UInt8] = []
        FrameWriter.append(.ping, payload: empty.span, to: &loop.output)
        loop.send(start..<loop.output.count, to: id, as: .delivery)
    }

    /// Sends a Close frame as the last frame, and lets the connection go.
    ///
    /// The client is no client any more at once: its center sends nothing behind the Close frame.
    mutating func closeWebSocket(_ id: ConnectionID, _ code: CloseCode?, reason: String) {
        guard connections.kind(of: id) != nil else { return }
        leave(id)
        let start = loop.output.count
        FrameWriter.appendClose(code, reason: Array(reason.utf8), to: &loop.output)
        loop.send(start..<loop.output.count, to: id, as: .answer)
        closeSoon(id)
    }
}
