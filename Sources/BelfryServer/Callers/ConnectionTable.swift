import BelfryLoop
import BelfrySystem

/// The connections of one loop by slot, and the lines in which they wait.
///
/// Reading an optional element of an array copies all of the element and counts its references. So
/// a slot without a connection has one that no id names, and connections are read and changed in
/// place.
struct ConnectionTable {
    /// A placeholder, and then the connections: the one of slot 0 is at index 1.
    private var places: [Connection] = [.free]
    var timeouts: Timeouts
    /// The unfinished input of all connections.
    let unfinishedTotal: ByteTotal
    var unsentWatch: ShareWatch
    var throttled = ThrottledLine()
    /// The ticket of this turn: input of a connection that was corked in it is still read.
    var ticket: UInt64 = 1
    /// Connections whose input has waited and can be read now.
    var ready = Line<ConnectionID>()
    /// The notes of connections for their centers, which have no answer.
    var departing: [Submission] = []

    init(_ timeouts: Timeouts, unfinishedTotal: ByteTotal, unsentShare: Int) {
        unsentWatch = ShareWatch(share: unsentShare)
        self.timeouts = timeouts
        self.unfinishedTotal = unfinishedTotal
    }

    /// One past the greatest slot that was ever used.
    var slotCount: Int { places.count - 1 }

    /// The connection in a slot, if there is one; an id may name another one.
    subscript(slot: Int) -> Connection? {
        get { places[slot + 1].id.index == .max ? nil : places[slot + 1] }
        set { places[slot + 1] = newValue ?? .free }
    }

    /// The connection of an id, read and changed in place.
    ///
    /// If it is gone, this is a placeholder, and changes have no effect.
    subscript(id: ConnectionID) -> Connection {
        @inline(__always) _read {
            yield places.span[place(of: id)]
        }
        @inline(__always) _modify {
            let place = place(of: id)
            yield &places[place]
            if place == 0 { places[0] = .free }
        }
    }

    /// A copy of the connection of an id, if it is present.
    @inline(__always)
    func connection(_ id: ConnectionID) -> Connection? {
        has(id) ? self[id] : nil
    }

    /// Changes several properties of a connection at once.
    @inline(__always)
    mutating func change(_ id: ConnectionID, _ body: (inout Connection) -> Void) {
        body(&self[id])
    }

    /// Puts a new connection into its slot.
    mutating func insert(_ connection: Connection) {
        let place = Int(connection.id.index) + 1
        while places.count <= place { places.append(.free) }
        places[place] = connection
    }

    /// The index of a connection; 0 is the placeholder.
    @inline(__always)
    private func place(of id: ConnectionID) -> Int {
        let place = Int(id.index) + 1
        return place < places.count && places.span[place].id == id ? place : 0
    }

    /// Whether the connection of an id is present.
    @inline(__always)
    func has(_ id: ConnectionID) -> Bool { place(of: id) != 0 }

    /// Whether a connection is present, and its next request can be read at once.
    ///
    /// That is true for nearly every request.
    @inline(__always)
    func takesRequests(_ id: ConnectionID) -> Bool {
        let place = place(of: id)
        let places = places.span
        return place != 0 && places[place].kind == .http && places[place].reading.ignoresAnswer
    }

    /// Whether the other end of a present connection lets its callers count as local.
    @inline(__always)
    func hasOwnNeighbor(_ id: ConnectionID) -> Bool {
        places.span[Int(id.index) + 1].neighbor.isOwn
    }

    /// Whether the next message of a present connection can be read at once.
    @inline(__always)
    func takesMessages(_ id: ConnectionID) -> Bool {
        places.span[Int(id.index) + 1].reading.state == .open
    }

    /// The kind of deadline, the expiry and the encoding of a present connection.
    @inline(__always)
    func silence(
        of id: ConnectionID
    ) -> (deadline: Connection.DeadlineKind, credentials: MonotonicTime, FrameEncoding) {
        let place = Int(id.index) + 1
        let places = places.span
        return (places[place].deadline, places[place].credentialDeadline, places[place].encoding)
    }

    /// The protocol of a connection, if it is present and not closing.
    @inline(__always)
    func kind(of id: ConnectionID) -> Connection.Kind? {
        let place = place(of: id)
        return place == 0 || places.span[place].reading.isClosing ? nil : places.span[place].kind
    }

    /// Whether the input of a present connection must wait.
    @inline(__always)
    func mustWait(_ id: ConnectionID) -> Bool {
        places.span[Int(id.index) + 1].reading.mustWait(inTurnOf: ticket)
    }

    /// Whether a present connection has unfinished work.
    @inline(__always)
    func hasUnfinished(_ id: ConnectionID) -> Bool {
        places.span[Int(id.index) + 1].unfinished != nil
    }

    /// Drops the unfinished work of a present connection.
    @inline(__always)
    mutating func dropUnfinished(_ id: ConnectionID) {
        if hasUnfinished(id) { places[Int(id.index) + 1].unfinished = nil }
    }

    /// The box for the unfinished work of a connection.
    mutating func unfinished(of id: ConnectionID) -> Unfinished {
        if let unfinished = self[id].unfinished { return unfinished }
        let unfinished = Unfinished(unfinishedTotal)
        self[id].unfinished = unfinished
        return unfinished
    }

    /// Sets the next deadline of a connection, and its meaning.
    mutating func setDeadline(
        _ id: ConnectionID, _ kind: Connection.DeadlineKind, _ outbox: inout Outbox
    ) {
        let place = place(of: id)
        if place != 0 { places[place].deadline = kind }
        let time = timeouts.deadline(kind, from: outbox.loop.now)
        switch kind {
        case .ping, .pong, .slow, .comment:
            // A stream ends with the credentials that opened it.
            outbox.loop.setDeadline(id, at: min(time, places.span[place].credentialDeadline))
        case .head, .body, .idle, .drain, .answer, .copy:
            outbox.loop.setDeadline(id, at: time)
        }
    }
}
