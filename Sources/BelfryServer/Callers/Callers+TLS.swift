import BelfryHTTP
import BelfryLoop
import BelfryTLS
import BelfryWire

// TLS lies between the loop and what is spoken on a connection: bytes that are read go through its
// session, and the loop has its output sealed at the flush.

extension Callers {
    /// Speaks TLS on the connections of the listeners that come now.
    mutating func speakSecurely(with context: TLSContext, _ outbox: inout Outbox) {
        let table = TLSTable(context, unfinishedTotal: unfinishedTotal)
        tls = table
        outbox.loop.filter = table
        firstSecureListener = outbox.configuration.listenAddresses.count
    }

    /// Begins the handshake of a connection; the deadline of its first head covers it.
    mutating func admitSecurely(_ id: ConnectionID, _ outbox: inout Outbox) {
        tls?.admit(id)
        outbox.loop.filterOutput(of: id)
    }

    /// Whether a connection speaks TLS.
    @inline(__always)
    func isSecure(_ id: ConnectionID) -> Bool {
        tls?.session(of: id) != nil
    }

    /// Closes the handshake that began first, because all connections together have sent too much that is unfinished.
    mutating func refuseHandshake(_ id: ConnectionID, _ outbox: inout Outbox) {
        outbox.counters.inputsRefused += 1
        outbox.counters.tlsFailures += 1
        outbox.log.write(.debug, "a TLS handshake was ended: too many have begun and not ended")
        connections[Int(id.index)] = nil
        outbox.loop.close(id)
    }

    /// Counts a handshake that the head's time was not enough for.
    mutating func noteLateHandshake(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let session = tls?.session(of: id), !session.isOpen else { return }
        outbox.counters.tlsFailures += 1
        outbox.log.write(
            .debug, "a TLS connection failed", ("reason", "its handshake took too long"))
    }

    /// The peer has ended its side of the TCP connection; the end of its TLS session came before it,
    /// or never comes, which is no different: HTTP and WebSocket tell their ends themselves.
    mutating func endSealedInput(_ id: ConnectionID, _ outbox: inout Outbox) {
        if tls?.session(of: id)?.inputHasEnded == true { return }
        endInput(id, &outbox)
    }

    /// Closes a connection whose session has failed; the alert was sent before.
    mutating func failSecurely(
        _ id: ConnectionID, _ error: TLSError, wasOpen: Bool, _ outbox: inout Outbox
    ) {
        if !wasOpen { outbox.counters.tlsFailures += 1 }
        outbox.log.write(.debug, "a TLS connection failed", ("reason", "\(error)"))
        if error == .plainHTTP {
            outbox.content.removeAll(keepingCapacity: true)
            let answer = outbox.problemAnswer(
                Problem(.malformedRequest, "This port speaks TLS: use https."))
            var bytes: [UInt8] = []
            outbox.appendResponse(answer, HTTPReply(context: .closing), to: &bytes)
            outbox.loop.send(sealed: bytes.span, to: id)
        }
        closeSoon(id, &outbox)
    }

    /// Takes a certificate for the connections to come.
    mutating func take(_ context: TLSContext) {
        tls?.context = context
    }
}
