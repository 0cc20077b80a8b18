import BelfryLoop

// The limits of one connection in a turn: the rest of its input waits.

extension ConnectionTable {
    /// Throttles a connection that has requested enough in this turn.
    mutating func throttle(_ id: ConnectionID, _ context: inout LoopContext) {
        guard let kind = kind(of: id) else { return }
        move(id, .throttled, &context)
        // A client that does not read its answers must begin within the time for a request's
        // content.
        if kind == .http { setDeadline(id, .drain, &context) }
        throttled.append(id, &context)
    }

    /// Releases the next connection with room, as far as the turn has time, and one in any case.
    ///
    /// - Returns: false when there is none left.
    mutating func releaseNext(_ pass: inout ReleasePass, _ context: inout LoopContext) -> Bool {
        while pass.place < pass.waiting.count {
            let id = pass.waiting[pass.place]
            pass.place += 1
            if context.outbox.compression.hasInflatedEnough, self[id].encoding != .plain {
                throttled.keep(id)
                pass.goesOnSoon = true
            } else if context.loop.mustBeWrittenFirst(id) {
                throttled.keep(id)
                pass.goesOnSoon = true
            } else if context.loop.unsentByteCount(of: id) > Self.roomByteCount {
                throttled.keep(id)
            } else if context.turnIsFull, pass.hasReleased {
                throttled.keep(pass.waiting[(pass.place - 1)...])
                pass.goesOnSoon = true
                break
            } else {
                pass.hasReleased = true
                guard sendPiece(to: id, &context) else {
                    noteRoom(of: id, &context)
                    return true
                }
                throttled.keep(id)
                pass.goesOnSoon = true
            }
        }
        throttled.endPass(pass, &context)
        return false
    }

    /// Notes that a throttled connection has room, unless its answer still continues.
    mutating func noteRoom(of id: ConnectionID, _ context: inout LoopContext) {
        guard let kind = kind(of: id), self[id].reading.isThrottled,
            self[id].unfinished?.isSending != true
        else { return }
        if self[id].deadline == .drain {
            setDeadline(id, kind.silence, &context)
        }
        move(id, .hasRoom, &context)
    }

    /// The unsent bytes of a throttled connection up to which it is released.
    static let roomByteCount = 16 << 10
}
