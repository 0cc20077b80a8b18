import BelfryHTTP
import BelfryLoop
import BelfryTLS
import BelfryWire

/// The admission of connections: seats, refusals, and TLS.
///
/// TLS is between the loop and the protocol of a connection: input goes through the session of its
/// connection, and the loop has its output sealed at the flush.
struct Entrance {
    /// The TLS sessions; nil where no listener speaks TLS.
    private(set) var tls: TLSTable?
    /// Listeners from this number on speak TLS.
    private var firstSecureListener = Int.max
    /// The loop that gets the next connection of the listeners that all loops share.
    var nextSeat = 0

    // MARK: Seats

    /// Admits a connection that the loop has accepted, if there is a seat for it.
    ///
    /// - Parameters:
    ///   - asker: the address that it counts for; nil where addresses are not counted.
    mutating func accept(
        _ id: ConnectionID, listener: Int, of asker: Asker?,
        into connections: inout ConnectionTable,
        _ outbox: inout Outbox
    ) {
        let isSecure = listener >= firstSecureListener
        if isFull(forSession: isSecure, &outbox) {
            return refuse(id, isSecure: isSecure, &outbox)
        }
        connections.insert(Connection(id: id))
        outbox.counters.connectionsAccepted += 1
        if let asker {
            guard let seat = takeSeat(for: asker, isSecure: isSecure, &outbox) else {
                connections[Int(id.index)] = nil
                return refuseSeat(id, isSecure: isSecure, &outbox)
            }
            connections[id].seat = seat
        }
        connections.setDeadline(id, .head, &outbox)
        // The deadline of the first head covers the handshake.
        if isSecure, let tls {
            tls.admit(id)
            outbox.loop.filterOutput(of: id)
        }
    }

    /// Gives a connection of the shared listeners to the next loop in turn.
    ///
    /// The listeners are the first loop's: a port that several listeners share could be shared with
    /// another broker, too, and a listener that several loops watch gives nearly all to one of
    /// them.
    ///
    /// - Returns: a connection for this loop itself.
    mutating func placeArrival(_ outbox: inout Outbox) -> Arrival? {
        guard let arrival = outbox.loop.takeArrival() else { return nil }
        let target = nextSeat
        nextSeat = (nextSeat + 1) % outbox.configuration.loopCount
        if target == outbox.number { return arrival }
        if !outbox.shared.mailboxes[target].post(.arrived(arrival)) { arrival.close() }
        return nil
    }

    /// Refuses a connection: the loop has as many as it may have.
    mutating func refuse(_ id: ConnectionID, listener: Int, _ outbox: inout Outbox) {
        refuse(id, isSecure: listener >= firstSecureListener, &outbox)
    }

    /// Refuses and closes one connection too many; an answer over TLS would cost too much.
    mutating func refuse(_ id: ConnectionID, isSecure: Bool, _ outbox: inout Outbox) {
        outbox.counters.connectionsRefused += 1
        outbox.meet(.connections)
        tellAndClose(id, isSecure: isSecure, &outbox) { $0.refusalBytes() }
    }

    private func takeSeat(for asker: Asker, isSecure: Bool, _ outbox: inout Outbox) -> Seat? {
        var limit =
            outbox.shares.limit(of: asker)?.seats ?? SeatTable.Seats(count: .max, byteCount: .max)
        limit.count = min(limit.count, outbox.configuration.addressConnectionLimit ?? .max)
        let byteCount = SeatTable.byteCount(isSecure: isSecure)
        return outbox.shared.askers.seats.take(for: asker, byteCount: byteCount, limit: limit)
    }

    /// Refuses and closes a connection that is one too many for its address.
    private mutating func refuseSeat(_ id: ConnectionID, isSecure: Bool, _ outbox: inout Outbox) {
        outbox.counters.connectionsRefused += 1
        outbox.meet(.addressConnections)
        let problem = Problem(
            .tooManyConnections,
            """
            Your address has reached its limit of connections (--max-connections-per-address, \
            --address-share).
            """)
        tellAndClose(id, isSecure: isSecure, &outbox) { $0.closingBytes(problem) }
    }

    private func tellAndClose(
        _ id: ConnectionID, isSecure: Bool, _ outbox: inout Outbox,
        _ bytes: (inout Outbox) -> [UInt8]
    ) {
        if isSecure { return outbox.loop.close(id) }
        let start = outbox.loop.output.count
        outbox.loop.output.append(contentsOf: bytes(&outbox))
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        outbox.loop.closeAfterFlush(id, lingering: true)
    }

    /// Whether sessions of TLS and connections take all of their memory.
    ///
    /// Without TLS the limit of connections fits the memory.
    func isFull(forSession isSecure: Bool, _ outbox: inout Outbox) -> Bool {
        guard let tls else { return false }
        let byteCount =
            outbox.loop.connectionCount * ServerConfiguration.connectionByteCount
            + tls.sessionByteCount
            + (isSecure ? TLSSession.Stage.open.byteCount : 0)
        return byteCount > outbox.configuration.memory.connections / outbox.configuration.loopCount
    }

    // MARK: TLS

    /// Uses TLS on the connections of the listeners that are added from now on.
    mutating func speakSecurely(
        with context: TLSContext, unfinishedTotal: ByteTotal, _ outbox: inout Outbox
    ) {
        let table = TLSTable(context, unfinishedTotal: unfinishedTotal)
        tls = table
        outbox.loop.filter = table
        firstSecureListener = outbox.configuration.listenAddresses.count
    }

    /// Adopts a certificate for later connections.
    mutating func take(_ context: TLSContext) {
        tls?.context = context
    }

    /// Whether a connection uses TLS.
    @inline(__always)
    func isSecure(_ id: ConnectionID) -> Bool {
        tls?.session(of: id) != nil
    }

    /// Closes the oldest handshake, when all connections together have too much unfinished input.
    mutating func refuseHandshake(
        _ id: ConnectionID, in connections: inout ConnectionTable, _ outbox: inout Outbox
    ) {
        outbox.counters.inputsRefused += 1
        outbox.counters.tlsFailures += 1
        outbox.log.write(.debug, "a TLS handshake was ended: too many have begun and not ended")
        connections[Int(id.index)] = nil
        outbox.loop.close(id)
    }

    /// Counts a handshake that took longer than the head may.
    mutating func noteLateHandshake(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let session = tls?.session(of: id), !session.isOpen else { return }
        outbox.counters.tlsFailures += 1
        outbox.log.write(
            .debug, "a TLS connection failed", ("reason", "its handshake took too long"))
    }

    /// Answers on a connection whose session has failed, if it can; the alert was sent before.
    mutating func noteFailure(
        of id: ConnectionID, _ error: TLSError, wasOpen: Bool, _ outbox: inout Outbox
    ) {
        if !wasOpen { outbox.counters.tlsFailures += 1 }
        outbox.log.write(.debug, "a TLS connection failed", ("reason", "\(error)"))
        guard error == .plainHTTP else { return }
        outbox.content.removeAll(keepingCapacity: true)
        let answer = outbox.problemAnswer(
            Problem(.malformedRequest, "This port serves TLS only; use https."))
        var bytes: [UInt8] = []
        outbox.appendResponse(answer, HTTPReply(context: .closing), to: &bytes)
        outbox.loop.send(sealed: bytes.span, to: id)
    }
}
