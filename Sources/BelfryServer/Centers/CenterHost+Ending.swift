import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

// Centers end: those that have nothing and were left for a while, and those that an admin removes
// (decision 47).  The end is posted to nobody, for nobody is there.

extension CenterHost {
    /// How many centers one turn looks at, and how many of them it ends.
    private static let turnLookLimit = 4_096

    private static let turnEndLimit = 256

    /// Ends centers that have nothing and were left for long enough, a share of them in a turn.
    mutating func endLeftCenters(_ outbox: inout Outbox) {
        schedule.isEndTimerSet = false
        if outbox.life.isStopping { return }
        let timeout = outbox.configuration.centerIdleTimeout / .nanoseconds(1)
        let lastUse = outbox.commandTime.monotonicNanoseconds - Int64(timeout)
        var position = min(schedule.endCursor ?? .max, centers.count)
        let end = max(0, position - Self.turnLookLimit)
        var names: [String] = []
        // Backwards: what takes the place of one that ends was looked at before.
        while position > end, names.count < Self.turnEndLimit {  // Share: left centers
            position -= 1
            guard centers.isLeft(position, since: lastUse) else { continue }
            names.append(String(decoding: centers[position].name, as: UTF8.self))
            submitEnd(of: position, &outbox)
            fanOut(&outbox)
        }
        if !names.isEmpty {
            outbox.log.write(
                .info, "unused centers have ended",
                ("count", names.count), ("first", names[0]), ("loop", outbox.number))
            // Bound: left centers
            for name in names { outbox.log.write(.debug, "a center has ended", ("center", name)) }
        }
        schedule.endCursor = position > 0 ? position : nil
        guard schedule.endCursor != nil else { return schedule.watch(centers, &outbox) }
        schedule.isEndTimerSet = true
        _ = outbox.loop.schedule(at: outbox.loop.now, LoopTimer.leftCenters.rawValue)
    }

    /// Ends a center that has nothing, or lets the sequencer have the command that ends it.
    mutating func submitEnd(of position: Int, _ outbox: inout Outbox) {
        let name = centers[position].name
        guard centers.hasSequencer else { return endCenter(name, &outbox) }
        applied.id = centers.hand(.endCenter(name), at: outbox.commandTime)
        outbox.loop.takeAnotherTurn()
    }

    /// A center ends now, unless it has something.
    mutating func endCenter(_ name: [UInt8], _ outbox: inout Outbox) {
        effects.reset()
        applied.isUnspread = true
        guard let position = centers.position(of: name), centers[position].use.isNone
        else { return }
        noteEnd(isStored: centers.end(position, shared.totals))
    }

    /// A center has ended.
    mutating func noteEnd(isStored: Bool) {
        if isStored {
            promises.noteChanges()
            promises.awaitTurn()
        }
        kept.releaseCenter()
    }
}
