import BelfryLoop

// Answers that promise something leave when that is stored: until then their connection is corked.

extension Callers {
    /// Keeps back what a connection is sent, and what it asks in later turns.
    ///
    /// Requests of this turn share the ticket, so they are still read. Later ones would have a later
    /// ticket, and a client that never stops asking would never be answered.
    mutating func cork(_ id: ConnectionID, until ticket: UInt64) {
        guard connections.has(id), connections[id].corkTicket < ticket else { return }
        connections[id].corkTicket = ticket
        corked.append((ticket, id))
    }

    /// Everything up to a ticket is stored: the answers that waited for it leave.
    mutating func uncork(through ticket: UInt64, _ outbox: inout Outbox) {
        while let first = corked.first, first.ticket <= ticket {
            let id = corked.removeFirst().connection
            guard connections.has(id), connections[id].corkTicket <= ticket else { continue }
            connections[id].corkTicket = 0
            outbox.loop.uncork(id)
            // What it asks next may cork it again, so it is read when this has been written.
            connections[id].isThrottled = true
            outbox.loop.tellWhenDrained(id)
        }
    }
}
