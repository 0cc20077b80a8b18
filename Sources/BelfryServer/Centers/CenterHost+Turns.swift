import BelfryCenter
import BelfryLoop
import BelfrySystem
import Synchronization

// Work that centers do by themselves: at the end of a turn, in idle moments, and when time has
// passed.

extension CenterHost {
    /// Posts the asap entries after the callouts of the turn (rule Q10).
    ///
    /// Each center posts those that are there now (rule Q11), a share at a time, in turn with the
    /// others, as long as the turn has time. The next turn continues behind the last center, once
    /// the output of this one has been written.
    ///
    /// - Returns: whether a center had something to do.
    mutating func endTurnOfCenters(_ outbox: inout Outbox) -> Bool {
        guard centers.touched.contains(where: { centers.needsTurnEnd(at: $0) }) else {
            return false
        }
        // An entry of a log is a turn of its own.
        if centers.log != nil { return false }
        let isAmidFlush = outbox.loop.isAmidFlush
        let line = centers.touched.filter {
            centers.needsTurnEnd(at: $0) && !(isAmidFlush && centers.turnGoesOn(at: $0))
        }
        schedule.lastTurnEnd = share(.turnEnd, among: line, behind: schedule.lastTurnEnd, &outbox)
        return !line.isEmpty
    }

    /// The work that centers do in shares.
    private enum CenterTask {
        /// Posts the asap entries of the turn.
        case turnEnd
        /// Performs the due work.
        case time
        /// Posts one idle entry in each center.
        case idle
    }

    /// Gives centers a share of work at a time, in turn, as long as the turn has time.
    ///
    /// - positions: the centers that have work.
    /// - last: the center that had the last share before; the first share is of the one behind it.
    ///   - last: the center that had the last share before; it begins behind that one.
    /// - Returns: the center that had the last share.
    private mutating func share(
        _ task: CenterTask, among positions: [Int], behind last: Int, _ outbox: inout Outbox
    ) -> Int {
        var line = positions.sorted { ($0 <= last ? 1 : 0, $0) < ($1 <= last ? 1 : 0, $1) }
        var place = 0
        while place < line.count {  // Share: asap, time, idle
            let position = line[place]
            let goesOn: Bool
            switch task {
            case .turnEnd:
                tell(.endTurn(workLimit: Self.shareWorkLimit), to: position, &outbox)
                goesOn = centers.turnGoesOn(at: position)
            case .time:
                let due = centers[position].dueFarewells(at: outbox.commandTime)
                takeOutForbidden(due, of: position, &outbox)
                tell(.passTime(workLimit: Self.shareWorkLimit), to: position, &outbox)
                goesOn = centers.timeGoesOn(at: position, outbox.commandTime)
            case .idle:
                tell(.idle, to: position, &outbox)
                goesOn = false
            }
            place += 1
            if goesOn { line.append(position) }
            if outbox.turnIsFull { return position }
            if task == .time, storeIsBehind { return position }
        }
        return line.last ?? last
    }

    /// The work of one share, in deliveries, about; after it the time of the turn is checked.
    static let shareWorkLimit = 2_048

    /// Hands the changes and messages of the turn to the store and to other loops.
    mutating func handOver(_ outbox: inout Outbox) {
        let end = centers.endTurn(at: outbox.commandTime, shared.totals)
        if shared.hasStore { promises.hand(end.changes, &outbox) }
        if end.heldGrowth != 0 { kept.noteHeld(end.heldGrowth, &outbox) }
        kept.account(for: &centers, &outbox)
        if end.queueGrowth != 0 {
            shared.totals.queueByteCount.add(end.queueGrowth, ordering: .relaxed)
        }
        if let losses = end.losses { shared.figures.noteLosses(losses) }
        outbox.counters.heldNotifications = UInt64(
            Int(outbox.counters.heldNotifications) + end.heldCountGrowth)
        outbox.counters.queueEntries = UInt64(Int(outbox.counters.queueEntries) + end.entryGrowth)
        if centers.log == nil { schedule.arm(at: end.deadline, &outbox) }
        // A loop that is about to end is never idle (rules Q12, Q23).
        let needsIdle = centers.idleCount > 0 && !outbox.life.isStopping
        if needsIdle != outbox.loop.reportsIdle { outbox.loop.reportsIdle = needsIdle }
        if !centers.touched.isEmpty { outbox.loop.takeAnotherTurn() }
        if outbox.configuration.loopCount > 1 { outbox.sendToOtherLoops() }
    }

    // MARK: Idle moments

    /// Posts one idle entry in each center that waits for an idle moment (rule Q13).
    ///
    /// It posts as many as the turn has time for.
    mutating func meetIdle(_ outbox: inout Outbox) {
        if outbox.life.isStopping { return }
        schedule.lastIdle = share(
            .idle, among: centers.idlePositions, behind: schedule.lastIdle, &outbox)
        // The assignment requests the next idle moment, which comes after another look at the
        // input.
        if centers.idleCount > 0 { outbox.loop.reportsIdle = true }
    }

    // MARK: Time

    /// Performs the due work of centers, in shares.
    ///
    /// While much waits for the store, there is a rest between two shares, so that no request is
    /// refused for the sake of things that only end.
    mutating func meetCenterDeadline(_ outbox: inout Outbox) {
        schedule.timer = nil
        schedule.armedDeadline = .max
        if outbox.life.isSealed || centers.log != nil { return }
        let due = centers.positionsDue(at: outbox.commandTime)
        schedule.lastTimePassed = share(.time, among: due, behind: schedule.lastTimePassed, &outbox)
        schedule.restUntil =
            storeIsBehind ? outbox.loop.attendedNanoseconds + CenterSchedule.storeRest : .min
        if let deadline = centers.earliestDeadline(at: outbox.commandTime) {
            schedule.arm(at: deadline, &outbox)
        }
    }

    /// Removes farewells whose posters lost the right to post them (rule L10).
    mutating func takeOutForbidden(
        _ farewells: [NotificationCenter.DueFarewell], of position: Int, _ outbox: inout Outbox
    ) {
        for farewell in farewells  // Bound: farewells
        where !outbox.mayGo(farewell, center: centers[position].name) {
            tell(.dequeueEntry(farewell.id, scope: .everything), to: position, &outbox)
        }
    }

    /// Whether so much waits for the store that other work should wait.
    var storeIsBehind: Bool { shared.store?.isBehind ?? false }
}
