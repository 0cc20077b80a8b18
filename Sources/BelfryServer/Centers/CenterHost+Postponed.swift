import BelfryCenter
import BelfryLoop

// Departures and replays: one client can cause much of them at a time, and nobody is to wait for them
// all. A turn that has had its time leaves the rest to the next (decision 71).

extension CenterHost {
    /// Does what waits, in the order in which it came, while the turn has time; one of it in any case.
    ///
    /// In a stop all is done, as there may be no next turn.
    mutating func doPostponed(_ outbox: inout Outbox) {
        repeat {
            doNextPostponed(&outbox)
        } while !postponed.isEmpty && (outbox.life.isStopping || !outbox.turnIsFull)
        if !postponed.isEmpty { outbox.loop.takeAnotherTurn() }
    }

    private mutating func doNextPostponed(_ outbox: inout Outbox) {
        beginAnswer(&outbox)
        switch postponed.line.removeFirst() {
        case .departure(let client, let submission):
            endConnection(of: client, submission, &outbox)
        case .calls(let frame, let place):
            unfinishedTotal.add(-frame.text.count)
            performBatch(frame, from: place, &outbox)
        }
    }

    /// Leaves the calls of a frame, from one on, to another turn.
    ///
    /// - Returns: whether there is room for its text: it counts as unfinished input, of which frames that
    ///   are left have a quarter at most.
    mutating func postpone(_ frame: CallFrame, from place: Int, _ outbox: inout Outbox) -> Bool {
        let limit = outbox.configuration.unfinishedByteLimit / outbox.configuration.loopCount / 4
        guard unfinishedTotal.count + frame.text.count <= limit else { return false }
        unfinishedTotal.add(frame.text.count)
        postpone(.calls(frame, from: place), &outbox)
        return true
    }

    mutating func postpone(_ work: Postponed, _ outbox: inout Outbox) {
        postponed.line.append(work)
        outbox.loop.takeAnotherTurn()
    }

    /// Whether a center hears later of a connection that has ended: of the first of a turn it hears at once, of
    /// others while the turn has time.
    mutating func departuresMustWait(_ outbox: inout Outbox) -> Bool {
        if postponed.departureTurn != outbox.counters.turns {
            postponed.departureTurn = outbox.counters.turns
            if postponed.isEmpty { return false }
        }
        return !outbox.life.isStopping && (!postponed.isEmpty || outbox.turnIsFull)
    }

    /// Tells the center of a client that its connection has ended.
    mutating func endConnection(of client: UInt64, _ submission: Submission, _ outbox: inout Outbox)
    {
        tell(
            .disconnect(client: client, connection: submission.reply.number.name),
            center: submission.center, &outbox)
    }
}
