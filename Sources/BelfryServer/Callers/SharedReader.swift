import BelfryBytes
import BelfryLoop
import BelfryWebSocket

/// The reader of messages; one serves all WebSockets of a loop in turn.
///
/// A connection keeps it only when a message is unfinished at the end of the input.
struct SharedReader {
    private(set) var reader: MessageReader

    init(_ configuration: ServerConfiguration) {
        reader = MessageReader(
            role: .server,
            limits: MessageLimits(messageByteLimit: configuration.messageByteLimit))
    }

    /// Takes up the unfinished message of a connection; false when its input must wait.
    mutating func takeUp(
        of id: ConnectionID, _ bytes: Span<UInt8>, _ connections: inout ConnectionTable,
        _ outbox: inout Outbox
    ) -> Bool {
        let (deadline, credentialDeadline, encoding) = connections.silence(of: id)
        if deadline != .slow {
            let time = connections.timeouts.deadline(.ping, from: outbox.loop.now)
            outbox.loop.setDeadline(id, at: min(time, credentialDeadline))
            if deadline == .pong { connections[id].deadline = .ping }
        }
        if encoding != .plain, outbox.compression.hasInflatedEnough {
            connections.throttle(id, &outbox)
            connections.keepWaiting(id, bytes, &outbox)
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

    /// Reads on to the next text message of a client; false when the rest waits, or there is none.
    mutating func next(
        _ pass: inout ReadingPass, _ bytes: Span<UInt8>, _ connections: inout ConnectionTable,
        _ outbox: inout Outbox
    ) -> Bool {
        let id = pass.id
        let isDebug = pass.kind == .debugWebSocket
        do throws(WebSocketError) {
            while true {
                if pass.hasAsked {
                    pass.hasAsked = false
                    guard speaksOn(pass, bytes, &connections, &outbox) else { return false }
                }
                guard let event = try reader.nextEvent(in: bytes, at: &pass.cursor) else { break }
                pass.hasAsked = true
                if handle(event, on: id, isDebug: isDebug, &connections, &outbox) { return true }
            }
        } catch {
            if outbox.log.level <= .debug {
                outbox.log.write(
                    .debug, "a WebSocket broke the protocol", ("reason", "\(error)"),
                    ("client", "c\(connections[id].client)"))
            }
            connections.closeWebSocket(id, error.closeCode, reason: "", &outbox)
            renew(isDebug: isDebug, &outbox)
            return false
        }
        keep(for: id, isDebug: isDebug, &connections, &outbox)
        return false
    }

    /// Whether the bytes behind a message are read in this pass.
    private mutating func speaksOn(
        _ pass: ReadingPass, _ bytes: Span<UInt8>, _ connections: inout ConnectionTable,
        _ outbox: inout Outbox
    ) -> Bool {
        let id = pass.id
        let isDebug = pass.kind == .debugWebSocket
        guard connections.kind(of: id) != nil else {
            renew(isDebug: isDebug, &outbox)
            return false
        }
        if pass.hasEnough(of: bytes.count, &outbox)
            || outbox.compression.hasInflatedEnough
        {
            connections.throttle(id, &outbox)
        }
        if connections.takesMessages(id) { return true }
        keep(for: id, isDebug: isDebug, &connections, &outbox)
        if pass.cursor < bytes.count {
            connections.keepWaiting(id, bytes.extracting(pass.cursor..<bytes.count), &outbox)
        }
        return false
    }

    /// The limits of the echo: 16 MiB and 100,000 fragments.
    private static var debugMessageLimits: MessageLimits {
        MessageLimits(messageByteLimit: 16 << 20, fragmentLimit: 100_000)
    }

    /// Keeps a message that has not fully arrived in its connection.
    private mutating func keep(
        for id: ConnectionID, isDebug: Bool, _ connections: inout ConnectionTable,
        _ outbox: inout Outbox
    ) {
        if reader.isBetweenMessages {
            if isDebug { renew(isDebug: true, &outbox) }
            if let unfinished = connections[id].unfinished, unfinished.waitingBytes.isEmpty {
                connections[id].unfinished = nil
            }
            return
        }
        // The last message may have been of another connection.
        reader.forgetLast()
        connections.unfinished(of: id).reader = reader
        renew(isDebug: true, &outbox)
        connections[id].unfinished?.recount()
    }

    private mutating func renew(isDebug: Bool, _ outbox: inout Outbox) {
        guard isDebug || !reader.isBetweenMessages else { return }
        self = SharedReader(outbox.configuration)
    }

    private mutating func handle(
        _ event: WebSocketEvent, on id: ConnectionID, isDebug: Bool,
        _ connections: inout ConnectionTable, _ outbox: inout Outbox
    ) -> Bool {
        switch event {
        case .text where isDebug:
            echo(.text, reader.message, to: id, connections[id].encoding, &outbox)
        case .binary where isDebug:
            echo(.binary, reader.message, to: id, connections[id].encoding, &outbox)
        case .text: return true
        case .binary:
            connections.closeWebSocket(
                id, .unsupportedData, reason: "binary messages are not supported", &outbox)
        case .ping: echo(.pong, reader.control, to: id, .plain, &outbox)
        case .pong: break
        case .close(let code):
            // The answer repeats the code (RFC 6455 §5.5.1).
            connections.closeWebSocket(id, code, reason: "", isAnswer: true, &outbox)
        }
        return false
    }

    private mutating func echo(
        _ opcode: Opcode, _ payload: [UInt8], to id: ConnectionID, _ encoding: FrameEncoding,
        _ outbox: inout Outbox
    ) {
        if !opcode.isControl, payload.count >= outbox.configuration.compressionThreshold,
            let deflater = outbox.compression.deflater(encoding),
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
