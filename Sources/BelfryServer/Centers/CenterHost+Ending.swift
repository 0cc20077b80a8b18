import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

// Centers end when they were empty and unused for a while, or when an admin removes them (decision
// 47). The end is not posted, for there is no observer.

extension CenterHost {
    /// The most centers that one turn checks, and the most that it ends.
    private static let turnLookLimit = 4_096

    private static let turnEndLimit = 256

    /// Ends centers that were empty and unused for long enough, a share of them in a turn.
    mutating func endLeftCenters(_ outbox: inout Outbox) {
        schedule.isEndTimerSet = false
        if outbox.life.isStopping { return }
        let timeout = outbox.configuration.centerIdleTimeout / .nanoseconds(1)
        let lastUse = outbox.commandTime.monotonicNanoseconds - Int64(timeout)
        var position = min(schedule.endCursor ?? .max, centers.count)
        let end = max(0, position - Self.turnLookLimit)
        var names: [String] = []
        // Backwards: the center that takes the place of an ended one was checked before.
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

    /// Ends an empty center, or submits the command that ends it.
    mutating func submitEnd(of position: Int, _ outbox: inout Outbox) {
        let name = centers[position].name
        guard centers.hasSequencer else { return endCenter(name, &outbox) }
        applied.id = centers.hand(.endCenter(name), at: outbox.commandTime)
        outbox.loop.takeAnotherTurn()
    }

    /// Ends a center now, unless it has something.
    mutating func endCenter(_ name: [UInt8], _ outbox: inout Outbox) {
        effects.reset()
        applied.isUnspread = true
        guard let position = centers.position(of: name), centers[position].use.isNone
        else { return }
        noteEnd(isStored: centers.end(position, shared.totals))
    }

    /// Counts the end of a center.
    mutating func noteEnd(isStored: Bool) {
        if isStored {
            promises.noteChanges()
            promises.awaitTurn()
        }
        kept.releaseCenter()
    }
}
