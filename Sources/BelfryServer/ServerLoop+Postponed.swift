import BelfryCenter
import BelfryLoop
import BelfryWire

/// What waits for a turn that has time for it.
enum Postponed {
    /// A center is to hear that the connection of a client has ended.
    case departure(_ client: UInt64, Submission)
    /// The calls of a frame are to be performed, from one on.
    case calls(CallFrame, from: Int)
}

// Departures and replays: one client can cause much of them at a time, and nobody is to wait for them
// all. A turn that has had its time leaves the rest to the next (decision 71).

extension ServerLoop {
    /// Does what waits, in the order in which it came, while the turn has time; one of it in any case.
    ///
    /// In a stop all is done, as there may be no next turn.
    mutating func doPostponed() {
        repeat {
            doNextPostponed()
        } while postponed.count > 0 && (stop.isStopping || !turnIsFull)
        if postponed.count > 0 { loop.takeAnotherTurn() }
    }

    private mutating func doNextPostponed() {
        answerContent.removeAll(keepingCapacity: answerContent.capacity <= 1 << 20)
        promises.awaitedTicket = 0
        switch postponed.removeFirst() {
        case .departure(let client, let submission):
            endConnection(of: client, submission)
        case .calls(let frame, let place):
            unfinishedTotal.add(-frame.text.count)
            performBatch(frame, from: place)
        }
        fanOut()
    }

    /// Leaves the calls of a frame, from one on, to another turn.
    ///
    /// - Returns: whether there is room for its text: it counts as unfinished input, of which frames that
    ///   are left have a quarter at most.
    mutating func postpone(_ frame: CallFrame, from place: Int) -> Bool {
        let limit = configuration.unfinishedByteLimit / configuration.loopCount / 4
        guard unfinishedTotal.count + frame.text.count <= limit else { return false }
        unfinishedTotal.add(frame.text.count)
        postpone(.calls(frame, from: place))
        let reply = frame.submission.reply
        if reply.loop == number, connections.has(reply.connection) {
            connections[reply.connection].isAwaiting = true
        }
        return true
    }

    mutating func postpone(_ work: Postponed) {
        postponed.append(work)
        loop.takeAnotherTurn()
    }

    /// Whether a center hears later of a connection that has ended: of the first of a turn it hears at once, of
    /// others while the turn has time.
    var departuresMustWait: Bool {
        mutating get {
            if departureTurn != counters.turns {
                departureTurn = counters.turns
                if postponed.count == 0 { return false }
            }
            return !stop.isStopping && (postponed.count > 0 || turnIsFull)
        }
    }

    /// Tells the center of a client that its connection has ended.
    mutating func endConnection(of client: UInt64, _ submission: Submission) {
        submitInternal(
            .disconnect(client: client, connection: submission.reply.number.name),
            center: submission.center)
    }
}
