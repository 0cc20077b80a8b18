import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryTLS
import BelfryWire

// TLS lies between the loop and what is spoken on a connection: bytes that are read go through its
// session, and the loop has its output sealed at the flush.

extension ServerLoop {
    /// Speaks TLS on the connections of the listeners that come now.
    mutating func speakSecurely(with context: TLSContext) {
        let table = TLSTable(context, unfinishedTotal: unfinishedTotal)
        tls = table
        loop.filter = table
        firstSecureListener = configuration.listenAddresses.count
    }

    /// Begins the handshake of a connection; the deadline of its first head covers it.
    mutating func admitSecurely(_ id: ConnectionID) {
        tls?.admit(id)
        loop.filterOutput(of: id)
    }

    /// Whether a connection speaks TLS.
    @inline(__always)
    func isSecure(_ id: ConnectionID) -> Bool {
        tls?.session(of: id) != nil
    }

    /// Opens what was read, and hands the plaintext to the protocol of the connection; what belongs
    /// to a handshake waits for a share of the turn.
    mutating func receiveSealed(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        guard let tls, let session = tls.session(of: id) else {
            return receiveAndCount(id, bytes)
        }
        if session.isOpen {
            openSealed(id, session, tls, bytes)
            if session.partByteCount > 0 { boundUnfinished() }
            return
        }
        guard connection(id)?.isClosing == false else { return }
        tls.lineUp(id, bytes)
        loop.pauseReading(id)
        boundUnfinished()
    }

    private mutating func openSealed(
        _ id: ConnectionID, _ session: TLSSession, _ tls: TLSTable, _ bytes: Span<UInt8>
    ) {
        var room: [UInt8] = []
        swap(&room, &tls.room)
        defer { swap(&room, &tls.room) }
        defer { tls.recount(id) }
        var cursor = 0
        while connection(id)?.isClosing == false {
            var own: [UInt8] = []
            let event: TLSEvent?
            do throws(TLSError) {
                event = try session.nextEvent(in: bytes, at: &cursor, into: &room, output: &own)
            } catch {
                loop.send(sealed: own.span, to: id)
                return failSecurely(id, error, wasOpen: session.isOpen)
            }
            loop.send(sealed: own.span, to: id)
            // Answers to requests for new keys wait for the socket as others do.
            if session.isOpen, !own.isEmpty { throttleIfFull(id) }
            switch event {
            case nil: return
            case .handshakeDone:
                counters.tlsHandshakes += 1
                if session.isResumed { counters.tlsResumptions += 1 }
            case .received(let byteCount):
                receiveAndCount(id, room.span.extracting(0..<byteCount))
            case .closed: endInput(id)
            }
        }
    }

    // MARK: Handshakes

    /// Goes on with the handshakes that wait, as far as the turn has time, and with one at least.
    ///
    /// A signature takes from 0.1 to several ms, so many in one turn would hold up everybody.
    mutating func continueHandshakes() {
        guard let tls, tls.hasLine else { return }
        repeat {
            guard let (id, bytes) = tls.takeNextInLine(), let session = tls.session(of: id) else {
                return
            }
            loop.resumeReading(id)
            if session.stage == .waiting, connectionsAreFull(forSession: true) {
                connections[Int(id.index)] = nil
                refuseConnection(id, isSecure: true)
                continue
            }
            openSealed(id, session, tls, bytes.span)
            boundUnfinished()
        } while !loop.turnIsLong
        if tls.hasLine { loop.takeAnotherTurn() }
    }

    /// Closes the handshake that began first, because all connections together have sent too much that is unfinished.
    mutating func refuseHandshake(_ id: ConnectionID) {
        counters.inputsRefused += 1
        counters.tlsFailures += 1
        log.write(.debug, "a TLS handshake was ended: too many have begun and not ended")
        connections[Int(id.index)] = nil
        loop.close(id)
    }

    /// Counts a handshake that the head's time was not enough for.
    mutating func noteLateHandshake(_ id: ConnectionID) {
        guard let session = tls?.session(of: id), !session.isOpen else { return }
        counters.tlsFailures += 1
        log.write(.debug, "a TLS connection failed", ("reason", "its handshake took too long"))
    }

    /// The peer has ended its side of the TCP connection; the end of its TLS session came before it,
    /// or never comes, which is no different: HTTP and WebSocket tell their ends themselves.
    mutating func endSealedInput(_ id: ConnectionID) {
        if tls?.session(of: id)?.inputHasEnded == true { return }
        endInput(id)
    }

    /// Closes a connection whose session has failed; the alert was sent before.
    private mutating func failSecurely(_ id: ConnectionID, _ error: TLSError, wasOpen: Bool) {
        if !wasOpen { counters.tlsFailures += 1 }
        log.write(.debug, "a TLS connection failed", ("reason", "\(error)"))
        if error == .plainHTTP {
            answerContent.removeAll(keepingCapacity: true)
            let answer = problemAnswer(
                Problem(.malformedRequest, "This port speaks TLS: use https."))
            var bytes: [UInt8] = []
            appendResponse(answer, HTTPReply(context: .closing), to: &bytes)
            loop.send(sealed: bytes.span, to: id)
        }
        closeSoon(id)
    }

    /// Takes a certificate for the connections to come.
    mutating func take(_ context: TLSContext) {
        tls?.context = context
    }
}
