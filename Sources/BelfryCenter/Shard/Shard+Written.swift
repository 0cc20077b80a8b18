// The progress of writing to a connection that ends: only the shard knows which entries its broker
// had applied (law 3).

extension Shard {
    /// Adds the progress of writing to a command with which a connection ends.
    ///
    /// The marks of the shard determine it; a value that the command already has is ignored.
    ///
    /// - Returns: the command as its center gets it.
    mutating func withWritten(
        _ action: Command.Action, at position: Int, _ work: EntryWork
    ) -> Command.Action {
        switch action {
        case .disconnect(let client, let connection, let end, let index, _):
            let written = written(
                to: connection, through: index, isCertain: true, at: position, work)
            return .disconnect(
                client: client, connection: connection, end: end,
                appliedIndex: index, written: written)
        case .resume(var resumption):
            resumption.written = nil
            if let connection = centers[position].connection(of: resumption.client) {
                // That its broker has not heard of its end proves nothing: it may have come
                // meanwhile.
                resumption.written = written(
                    to: connection, through: resumption.appliedIndex, isCertain: false,
                    at: position, work)
            }
            return .resume(resumption)
        default: return action
        }
    }

    /// Adds the progress to the end of a connection of a life that is over.
    mutating func withWritten(_ departure: EntryWork.Departure) -> Command.Action {
        guard case .disconnect(let client, let connection, let end, _, _) = departure.action else {
            return departure.action
        }
        return .disconnect(
            client: client, connection: connection, end: end,
            written: log.marks.written(
                to: connection, through: departure.appliedIndex, at: departure.center,
                sequence: centers[departure.center].sequence, isCertain: false))
    }

    /// The progress of writing to a connection; nil if it got everything, or its broker is silent.
    ///
    /// - Parameters:
    /// - index: The index that the writer of the entry had applied, by its word; for another
    ///   broker's connection the index that the log has of that broker counts.
    ///   - isCertain: Whether the writer would know of more.
    private mutating func written(
        to connection: ConnectionName, through index: UInt64?, isCertain: Bool,
        at position: Int, _ work: EntryWork
    ) -> WrittenThrough? {
        let isOwn = connection.node == work.seat
        guard
            let index = isOwn ? index : log.nodes.appliedIndex(ofSeat: connection.node)
        else { return nil }
        return log.marks.written(
            to: connection, through: min(index, isOwn ? work.entry.appliedIndex : index),
            at: position, sequence: centers[position].sequence, isCertain: isOwn && isCertain)
    }
}
