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
        _ context: inout LoopContext
    ) {
        let isSecure = listener >= firstSecureListener
        if isFull(forSession: isSecure, &context) {
            return refuse(id, isSecure: isSecure, &context)
        }
        connections.insert(Connection(id: id))
        context.counters.connectionsAccepted += 1
        if let asker {
            guard let seat = takeSeat(for: asker, isSecure: isSecure, &context) else {
                connections[Int(id.index)] = nil
                return refuseSeat(id, isSecure: isSecure, &context)
            }
            connections[id].seat = seat
        }
        connections.setDeadline(id, .head, &context)
        // The deadline of the first head covers the handshake.
        if isSecure, let tls {
            tls.admit(id)
            context.loop.filterOutput(of: id)
        }
    }

    /// Gives a connection of the shared listeners to the next loop in turn.
    ///
    /// The listeners are the first loop's: a port that several listeners share could be shared with
    /// another broker, too, and a listener that several loops watch gives nearly all to one of
    /// them.
    ///
    /// - Returns: a connection for this loop itself.
    mutating func placeArrival(_ context: inout LoopContext) -> Arrival? {
        guard let arrival = context.loop.takeArrival() else { return nil }
        let target = nextSeat
        nextSeat = (nextSeat + 1) % context.configuration.loopCount
        if target == context.number { return arrival }
        if !context.shared.mailboxes[target].post(.arrived(arrival)) { arrival.close() }
        return nil
    }

    /// Refuses a connection: the loop has as many as it may have.
    mutating func refuse(_ id: ConnectionID, listener: Int, _ context: inout LoopContext) {
        refuse(id, isSecure: listener >= firstSecureListener, &context)
    }

    /// Refuses and closes one connection too many; an answer over TLS would cost too much.
    mutating func refuse(_ id: ConnectionID, isSecure: Bool, _ context: inout LoopContext) {
        context.counters.connectionsRefused += 1
        context.meet(.connections)
        tellAndClose(id, isSecure: isSecure, &context) { $0.refusalBytes() }
    }

    private func takeSeat(for asker: Asker, isSecure: Bool, _ context: inout LoopContext) -> Seat? {
        var limit =
            context.shares.limit(of: asker)?.seats ?? SeatTable.Seats(count: .max, byteCount: .max)
        limit.count = min(limit.count, context.configuration.addressConnectionLimit ?? .max)
        let byteCount = SeatTable.byteCount(isSecure: isSecure)
        return context.shared.askers.seats.take(for: asker, byteCount: byteCount, limit: limit)
    }

    /// Refuses and closes a connection that is one too many for its address.
    private mutating func refuseSeat(
        _ id: ConnectionID, isSecure: Bool, _ context: inout LoopContext
    ) {
        context.counters.connectionsRefused += 1
        context.meet(.addressConnections)
        let problem = Problem(
            .tooManyConnections,
            """
            Your address has reached its limit of connections (--max-connections-per-address, \
            --address-share).
            """)
        tellAndClose(id, isSecure: isSecure, &context) { $0.closingBytes(problem) }
    }

    private func tellAndClose(
        _ id: ConnectionID, isSecure: Bool, _ context: inout LoopContext,
        _ bytes: (inout LoopContext) -> [UInt8]
    ) {
        if isSecure { return context.loop.close(id) }
        let start = context.loop.output.count
        context.loop.output.append(contentsOf: bytes(&context))
        context.loop.send(start..<context.loop.output.count, to: id, as: .answer)
        context.loop.closeAfterFlush(id, lingering: true)
    }

    /// Whether sessions of TLS and connections take all of their memory.
    ///
    /// Without TLS the limit of connections fits the memory.
    func isFull(forSession isSecure: Bool, _ context: inout LoopContext) -> Bool {
        guard let tls else { return false }
        let byteCount =
            context.loop.connectionCount * ServerConfiguration.connectionByteCount
            + tls.sessionByteCount
            + (isSecure ? TLSSession.Stage.open.byteCount : 0)
        return byteCount > context.configuration.memory.connections
            / context.configuration.loopCount
    }

    // MARK: TLS

    /// Uses TLS on the connections of the listeners that are added from now on.
    mutating func speakSecurely(
        with certificate: TLSContext, unfinishedTotal: ByteTotal, _ context: inout LoopContext
    ) {
        let table = TLSTable(certificate, unfinishedTotal: unfinishedTotal)
        tls = table
        context.loop.filter = table
        firstSecureListener = context.configuration.listenAddresses.count
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
        _ id: ConnectionID, in connections: inout ConnectionTable, _ context: inout LoopContext
    ) {
        context.counters.inputsRefused += 1
        context.counters.tlsFailures += 1
        context.log.write(.debug, "a TLS handshake was ended: too many have begun and not ended")
        connections[Int(id.index)] = nil
        context.loop.close(id)
    }

    /// Counts a handshake that took longer than the head may.
    mutating func noteLateHandshake(_ id: ConnectionID, _ context: inout LoopContext) {
        guard let session = tls?.session(of: id), !session.isOpen else { return }
        context.counters.tlsFailures += 1
        context.log.write(
            .debug, "a TLS connection failed", ("reason", "its handshake took too long"))
    }

    /// Answers on a connection whose session has failed, if it can; the alert was sent before.
    mutating func noteFailure(
        of id: ConnectionID, _ error: TLSError, wasOpen: Bool, _ context: inout LoopContext
    ) {
        if !wasOpen { context.counters.tlsFailures += 1 }
        context.log.write(.debug, "a TLS connection failed", ("reason", "\(error)"))
        guard error == .plainHTTP else { return }
        let answer = context.problemAnswer(
            Problem(.malformedRequest, "This port serves TLS only; use https."))
        var bytes: [UInt8] = []
        context.appendResponse(answer, HTTPReply(context: .closing), to: &bytes)
        context.loop.send(sealed: bytes.span, to: id)
    }
}
