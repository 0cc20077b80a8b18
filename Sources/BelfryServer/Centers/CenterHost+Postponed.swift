import BelfryCenter
import BelfryLoop

// Departures and replays: one client can cause many at a time, and no other client may wait for all
// of them. A turn whose time is over leaves the rest to the next (decision 71).

extension CenterHost {
    /// Performs postponed work while the turn has time; one piece in any case.
    ///
    /// Where centers have done something at the end of the turn, and filled it, all of it may wait
    /// for the next turn: two long things do not meet in one then. In a stop all is done, as there
    /// may be no next turn.
    mutating func doPostponed(behindCenters hasEnded: Bool = false, _ outbox: inout Outbox) {
        if hasEnded, postponed.rests(outbox) { return outbox.loop.takeAnotherTurn() }
        repeat {  // Share: large answers
            doNextPostponed(&outbox)
        } while !postponed.isEmpty && (outbox.life.isStopping || !outbox.turnIsFull)
        if !postponed.isEmpty { outbox.loop.takeAnotherTurn() }
    }

    private mutating func doNextPostponed(_ outbox: inout Outbox) {
        beginAnswer(&outbox)
        switch postponed.next() {
        case .request(let submission): _ = perform(submission, &outbox)
        case .departure(let departure): endConnection(departure, &outbox)
        case .calls(let frame, let place):
            var frame = frame
            frame.goOn(from: place, &self, &outbox)
        }
    }

    /// Tells the center of a client that its connection has ended.
    mutating func endConnection(_ departure: Departure, _ outbox: inout Outbox) {
        let connection = centers.name(of: departure.submission.reply.number)
        if departure.end == .broken {
            lookAtFarewells(
                of: departure.client, center: departure.submission.center, &outbox)
        }
        guard let position = centers.position(of: departure.submission.center) else { return }
        submitCommand(
            .disconnect(
                client: departure.client, connection: connection, end: departure.end,
                appliedIndex: departure.appliedIndex),
            to: position, at: outbox.arrivalTime, &outbox)
        fanOut(&outbox)
    }
}
