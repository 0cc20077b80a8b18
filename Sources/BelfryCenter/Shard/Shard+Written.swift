// How far a connection that ends was written: only the shard knows which entries its broker had applied (law 3).

extension Shard {
    /// Puts into a command with which a connection ends how far that was written, as the marks tell it: what stands there
    /// already is not believed.
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
                // That its broker has not heard of its end says nothing: it may have come meanwhile.
                resumption.written = written(
                    to: connection, through: resumption.appliedIndex, isCertain: false,
                    at: position, work)
            }
            return .resume(resumption)
        default: return action
        }
    }

    /// The same for the end of a connection of a life that is over.
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

    /// How far a connection was written; nil where it was written everything, or its own broker does not say it.
    ///
    /// - Parameters:
    ///   - index: the index that the writer of the entry had applied, by its word; another broker's connection was
    ///     written what that has told the log.
    ///   - isCertain: whether the writer would know of more.
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
