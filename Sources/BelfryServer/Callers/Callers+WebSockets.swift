import BelfryBytes
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import BelfryWire

// WebSockets: the opening, messages, control frames and the close (RFC 6455).

extension Callers {
    /// Decides the opening handshake, and asks for a client.
    mutating func openWebSocket(_ id: ConnectionID, _ outbox: inout Outbox) throws(Problem)
        -> CenterRequest
    {
        try exchange.openWebSocket(allowsDeflate: outbox.configuration.compressesMessages)
        connections[id].encoding = exchange.reply.encoding
        return .connect(.webSocket, observers: [], since: nil)
    }

    /// The opening of the echo, which needs no center.
    mutating func openDebugWebSocket(_ id: ConnectionID, _ outbox: inout Outbox) throws(Problem) {
        try exchange.openDebugWebSocket(allowsDeflate: outbox.configuration.compressesMessages)
        connections[id].encoding = exchange.reply.encoding
        let start = outbox.loop.output.count
        var bytes: [UInt8] = []
        outbox.appendOpening(exchange.reply, to: &bytes)
        outbox.loop.output.append(contentsOf: bytes)
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        connections[id].kind = .debugWebSocket
        connections.setDeadline(id, .ping, &outbox)
    }

    // MARK: Messages

    /// Takes up the message that is unfinished on a connection; false when what has arrived must wait.
    mutating func takeUpReader(
        of id: ConnectionID, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> Bool {
        let (deadline, credentialDeadline, encoding) = connections.silence(of: id)
        if deadline != .slow {
            let time = connections.timeouts.deadline(.ping, from: outbox.loop.now)
            outbox.loop.setDeadline(id, at: min(time, credentialDeadline))
            if deadline == .pong { connections[id].deadline = .ping }
        }
        if encoding != .plain, outbox.compression.hasInflatedEnough {
            connections.throttle(id, &outbox)
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
            connections.closeWebSocket(id, error.closeCode, reason: "", &outbox)
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
        if pass.hasEnough(of: bytes.count, &outbox)
            || outbox.compression.hasInflatedEnough
        {
            connections.throttle(id, &outbox)
        }
        if connections.takesMessages(id) { return true }
        keepReader(id, isDebug: isDebug, &outbox)
        if pass.cursor < bytes.count {
            keepWaiting(id, bytes.extracting(pass.cursor..<bytes.count), &outbox)
        }
        return false
    }

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
        connections.unfinished(of: id).reader = reader
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
            connections.closeWebSocket(
                id, .unsupportedData, reason: "only text is understood", &outbox)
        case .ping: echo(.pong, reader.control, to: id, &outbox)
        case .pong: break
        case .close(let code):
            // The answer repeats the code (RFC 6455 §5.5.1).
            connections.closeWebSocket(id, code, reason: "", &outbox)
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
            address: askerAddress(of: id, connections[id].address, &outbox))
    }

    private mutating func echo(
        _ opcode: Opcode, _ payload: [UInt8], to id: ConnectionID, _ outbox: inout Outbox
    ) {
        if !opcode.isControl, payload.count >= outbox.configuration.compressionThreshold,
            let deflater = outbox.compression.deflater(
                connections.connection(id)?.encoding ?? .plain),
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
}
