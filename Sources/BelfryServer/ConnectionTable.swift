import BelfryLoop

/// The connections of one loop, by slot.
///
/// A look at an optional element of an array copies all of the element and counts its references.
/// So a slot without a connection has one that no id names, and what each request asks is read
/// where it lies.
struct ConnectionTable {
    private var slots: [Connection] = []

    /// One past the greatest slot that was ever used.
    var slotCount: Int { slots.count }

    /// The connection in a slot, if there is one; it may be another one than an id names.
    subscript(slot: Int) -> Connection? {
        get { slots[slot].id.index == .max ? nil : slots[slot] }
        set { slots[slot] = newValue ?? .free }
    }

    /// The connection of this name, to change it where it lies; where there is none, nothing comes of it.
    subscript(id: ConnectionID) -> Connection {
        _read {
            if has(id) {
                yield slots[Int(id.index)]
            } else {
                yield Connection.free
            }
        }
        _modify {
            if has(id) {
                yield &slots[Int(id.index)]
            } else {
                var nobody = Connection.free
                yield &nobody
            }
        }
    }

    /// Puts a new connection into its slot.
    mutating func insert(_ connection: Connection) {
        let slot = Int(connection.id.index)
        while slots.count <= slot { slots.append(.free) }
        slots[slot] = connection
    }

    /// Whether the connection with this name still is.
    @inline(__always)
    func has(_ id: ConnectionID) -> Bool {
        let slot = Int(id.index)
        return slot < slots.count && slots[slot].id == id
    }

    /// Whether a connection is there, and its next request can be read at once: so it is for nearly
    /// every request.
    ///
    /// The fields are looked at one by one, for a property of the whole would copy it.
    @inline(__always)
    func takesRequests(_ id: ConnectionID) -> Bool {
        let slot = Int(id.index)
        return has(id) && slots[slot].kind == .http && !slots[slot].isClosing
            && !slots[slot].isAwaiting && !slots[slot].isThrottled
            && !slots[slot].closesAfterAnswer
    }

    /// What is spoken on a connection, if it is there and was not closed.
    @inline(__always)
    func kind(of id: ConnectionID) -> Connection.Kind? {
        guard has(id), !slots[Int(id.index)].isClosing else { return nil }
        return slots[Int(id.index)].kind
    }

    /// Whether what arrives on a connection, which is there, must wait; `ticket` is that of this turn.
    @inline(__always)
    func mustWait(_ id: ConnectionID, ticket: UInt64) -> Bool {
        let slot = Int(id.index)
        return slots[slot].isAwaiting || slots[slot].isThrottled
            || (slots[slot].corkTicket != 0 && slots[slot].corkTicket < ticket)
    }

    /// Whether something is unfinished on a connection, which is there.
    @inline(__always)
    func hasUnfinished(_ id: ConnectionID) -> Bool { slots[Int(id.index)].unfinished != nil }

    /// Forgets what was unfinished on a connection, which is there.
    @inline(__always)
    mutating func dropUnfinished(_ id: ConnectionID) {
        if hasUnfinished(id) { slots[Int(id.index)].unfinished = nil }
    }

    /// Notes what the next deadline of a connection means, if it is there.
    @inline(__always)
    mutating func setDeadline(_ id: ConnectionID, _ kind: Connection.DeadlineKind) {
        if has(id) { slots[Int(id.index)].deadline = kind }
    }
}
