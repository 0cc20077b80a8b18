import BelfryLoop
import BelfrySystem

// The limits of one connection in a turn: the rest of its input waits.

extension ConnectionTable {
    /// Throttles a connection that has requested enough in this turn.
    mutating func throttle(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let kind = kind(of: id) else { return }
        move(id, .throttled, &outbox)
        // A client that does not read its answers must begin within the time for a request's
        // content.
        if kind == .http { setDeadline(id, .drain, &outbox) }
        throttled.connections.append(id)
        throttled.turn = outbox.counters.turns
        setThrottleTimer(isSoon: true, &outbox)
    }

    private mutating func setThrottleTimer(isSoon: Bool, _ outbox: inout Outbox) {
        guard !throttled.isTimerSet else { return }
        throttled.isTimerSet = true
        let time = isSoon ? outbox.loop.now : outbox.loop.now + .milliseconds(5)
        _ = outbox.loop.schedule(at: time, LoopTimer.throttle.rawValue)
    }

    /// Takes the line of throttled connections, after the sockets were written.
    ///
    /// - Returns: nil in the turn in which the last of them came.
    mutating func takeThrottled(_ outbox: inout Outbox) -> ReleasePass? {
        throttled.isTimerSet = false
        // A timer that was set before the timers of its turn fires in the same one.
        if throttled.turn == outbox.counters.turns {
            setThrottleTimer(isSoon: true, &outbox)
            return nil
        }
        var pass = ReleasePass()
        swap(&pass.waiting, &throttled.connections)
        return pass
    }

    /// Releases the next connection with room, as far as the turn has time, and one in any case.
    ///
    /// - Returns: false when there is none left.
    mutating func releaseNext(_ pass: inout ReleasePass, _ outbox: inout Outbox) -> Bool {
        while pass.place < pass.waiting.count {
            let id = pass.waiting[pass.place]
            pass.place += 1
            if outbox.compression.hasInflatedEnough, self[id].encoding != .plain {
                throttled.connections.append(id)
                pass.goesOnSoon = true
            } else if outbox.loop.mustBeWrittenFirst(id) {
                throttled.connections.append(id)
                pass.goesOnSoon = true
            } else if outbox.loop.unsentByteCount(of: id) > Self.roomByteCount {
                throttled.connections.append(id)
            } else if outbox.turnIsFull, pass.hasReleased {
                throttled.connections += pass.waiting[(pass.place - 1)...]
                pass.goesOnSoon = true
                break
            } else {
                pass.hasReleased = true
                guard sendPiece(to: id, &outbox) else {
                    noteRoom(of: id, &outbox)
                    return true
                }
                throttled.connections.append(id)
                pass.goesOnSoon = true
            }
        }
        if !throttled.connections.isEmpty { setThrottleTimer(isSoon: pass.goesOnSoon, &outbox) }
        return false
    }

    /// Notes that a throttled connection has room, unless its answer still continues.
    mutating func noteRoom(of id: ConnectionID, _ outbox: inout Outbox) {
        guard let kind = kind(of: id), self[id].reading.isThrottled,
            self[id].unfinished?.isSending != true
        else { return }
        if self[id].deadline == .drain {
            setDeadline(id, kind.silence, &outbox)
        }
        move(id, .hasRoom, &outbox)
    }

    /// The unsent bytes of a throttled connection up to which it is released.
    static let roomByteCount = 16 << 10
}

/// One pass over the connections whose input waits.
struct ReleasePass {
    var waiting: [ConnectionID] = []
    var place = 0
    var goesOnSoon = false
    var hasReleased = false
}
