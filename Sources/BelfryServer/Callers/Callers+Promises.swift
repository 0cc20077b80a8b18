import BelfryLoop

// Answers that promise something leave when that is stored: until then their connection is corked.

extension Callers {
    /// Everything up to a ticket is stored: the answers that waited for it leave.
    mutating func uncork(through ticket: UInt64, _ outbox: inout Outbox) {
        while let first = corked.first, first.ticket <= ticket {
            let id = corked.removeFirst().connection
            move(id, .stored(through: ticket), &outbox)
        }
    }
}
