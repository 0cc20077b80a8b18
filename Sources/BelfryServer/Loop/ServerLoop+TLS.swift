import BelfryLoop
import BelfryTLS

// TLS is between the event loop and the protocol of a connection: input goes through its session,
// and the event loop has its output sealed at the flush.

extension ServerLoop {
    /// Decrypts input, and hands the plaintext to the protocol of the connection.
    ///
    /// Input of a handshake waits for a share of the turn.
    mutating func receiveSealed(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        guard let tls = callers.entrance.tls, let session = tls.session(of: id) else {
            return receive(id, bytes)
        }
        if session.isOpen {
            openSealed(id, session, tls, bytes)
            if session.partByteCount > 0 { callers.boundUnfinished(&outbox) }
            return react()
        }
        guard callers.connections.kind(of: id) != nil else { return }
        tls.lineUp(id, bytes)
        outbox.loop.pauseReading(id)
        callers.boundUnfinished(&outbox)
        react()
    }

    private mutating func openSealed(
        _ id: ConnectionID, _ session: TLSSession, _ tls: TLSTable, _ bytes: Span<UInt8>
    ) {
        var room: [UInt8] = []
        swap(&room, &tls.room)
        defer { swap(&room, &tls.room) }
        defer { tls.recount(id) }
        var cursor = 0
        while callers.connections.kind(of: id) != nil {
            var own: [UInt8] = []
            let event: TLSEvent?
            do throws(TLSError) {
                event = try session.nextEvent(in: bytes, at: &cursor, into: &room, output: &own)
            } catch {
                outbox.loop.send(sealed: own.span, to: id)
                callers.entrance.noteFailure(of: id, error, wasOpen: session.isOpen, &outbox)
                return callers.connections.closeSoon(id, &outbox)
            }
            outbox.loop.send(sealed: own.span, to: id)
            // Answers to key updates wait for the socket as others do.
            if session.isOpen, !own.isEmpty { callers.connections.throttleIfFull(id, &outbox) }
            switch event {
            case nil: return
            case .handshakeDone:
                outbox.counters.tlsHandshakes += 1
                if session.isResumed { outbox.counters.tlsResumptions += 1 }
            case .received(let byteCount):
                receive(id, room.span.extracting(0..<byteCount))
            case .closed:
                callers.connections.endInput(id, &outbox)
                react()
            }
        }
    }

    // MARK: Handshakes

    /// Continues waiting handshakes, as far as the turn has time, and at least one.
    ///
    /// A signature takes from 0.1 to several ms, so many in one turn would delay all clients.
    mutating func continueHandshakes() {
        guard let tls = callers.entrance.tls, tls.hasLine else { return }
        repeat {
            guard let (id, bytes) = tls.takeNextInLine(), let session = tls.session(of: id) else {
                return
            }
            outbox.loop.resumeReading(id)
            if session.stage == .waiting, callers.entrance.isFull(forSession: true, &outbox) {
                callers.connections[Int(id.index)] = nil
                callers.entrance.refuse(id, isSecure: true, &outbox)
                continue
            }
            openSealed(id, session, tls, bytes.span)
            callers.boundUnfinished(&outbox)
        } while !outbox.loop.turnIsLong
        if tls.hasLine { outbox.loop.takeAnotherTurn() }
    }
}
