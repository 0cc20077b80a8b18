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
    mutating func doPostponed(behindCenters hasEnded: Bool = false, _ context: inout LoopContext) {
        if hasEnded, postponed.rests(context) { return context.loop.takeAnotherTurn() }
        repeat {  // Share: large answers
            doNextPostponed(&context)
        } while !postponed.isEmpty && (context.life.isStopping || !context.turnIsFull)
        if !postponed.isEmpty { context.loop.takeAnotherTurn() }
    }

    private mutating func doNextPostponed(_ context: inout LoopContext) {
        switch postponed.next() {
        case .request(let submission): _ = perform(submission, &context)
        case .departure(let departure): endConnection(departure, &context)
        case .calls(let frame, let place):
            var frame = frame
            frame.goOn(from: place, &self, &context)
        }
    }

    /// Tells the center of a client that its connection has ended.
    mutating func endConnection(_ departure: Departure, _ context: inout LoopContext) {
        let connection = centers.name(of: departure.submission.reply.number)
        if departure.end == .broken {
            lookAtFarewells(
                of: departure.client, center: departure.submission.center, &context)
        }
        guard let position = centers.position(of: departure.submission.center) else { return }
        submitCommand(
            .disconnect(
                client: departure.client, connection: connection, end: departure.end,
                appliedIndex: departure.appliedIndex),
            to: position, at: context.arrivalTime, &context)
        fanOut(&context)
    }
}
