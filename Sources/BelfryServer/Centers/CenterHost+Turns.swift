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
    mutating func endTurnOfCenters(_ context: inout LoopContext) -> Bool {
        guard centers.touched.contains(where: { centers.needsTurnEnd(at: $0) }) else {
            return false
        }
        // An entry of a log is a turn of its own.
        if centers.log != nil { return false }
        let isAmidFlush = context.loop.isAmidFlush
        let line = centers.touched.filter {
            centers.needsTurnEnd(at: $0) && !(isAmidFlush && centers.turnGoesOn(at: $0))
        }
        schedule.lastTurnEnd = share(.turnEnd, among: line, behind: schedule.lastTurnEnd, &context)
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
        _ task: CenterTask, among positions: [Int], behind last: Int, _ context: inout LoopContext
    ) -> Int {
        var line = positions.sorted { ($0 <= last ? 1 : 0, $0) < ($1 <= last ? 1 : 0, $1) }
        var place = 0
        while place < line.count {  // Share: asap, time, idle
            let position = line[place]
            let goesOn: Bool
            switch task {
            case .turnEnd:
                tell(.endTurn(workLimit: Self.shareWorkLimit), to: position, &context)
                goesOn = centers.turnGoesOn(at: position)
            case .time:
                let due = centers[position].dueFarewells(at: context.commandTime)
                takeOutForbidden(due, of: position, &context)
                tell(.passTime(workLimit: Self.shareWorkLimit), to: position, &context)
                goesOn = centers.timeGoesOn(at: position, context.commandTime)
            case .idle:
                tell(.idle, to: position, &context)
                goesOn = false
            }
            place += 1
            if goesOn { line.append(position) }
            if context.turnIsFull { return position }
            if task == .time, storeIsBehind { return position }
        }
        return line.last ?? last
    }

    /// The work of one share, in deliveries, about; after it the time of the turn is checked.
    static let shareWorkLimit = 2_048

    /// Hands the changes and messages of the turn to the store and to other loops.
    mutating func handOver(_ context: inout LoopContext) {
        let end = centers.endTurn(at: context.commandTime, shared.totals)
        if shared.hasStore { promises.hand(end.changes, &context) }
        if end.heldGrowth != 0 { kept.noteHeld(end.heldGrowth, &context) }
        kept.account(for: &centers, &context)
        if end.queueGrowth != 0 {
            shared.totals.queueByteCount.add(end.queueGrowth, ordering: .relaxed)
        }
        if let losses = end.losses { shared.figures.noteLosses(losses) }
        context.counters.heldNotifications = UInt64(
            Int(context.counters.heldNotifications) + end.heldCountGrowth)
        context.counters.queueEntries = UInt64(Int(context.counters.queueEntries) + end.entryGrowth)
        if centers.log == nil { schedule.arm(at: end.deadline, &context) }
        // A loop that is about to end is never idle (rules Q12, Q23).
        let needsIdle = centers.idleCount > 0 && !context.life.isStopping
        if needsIdle != context.loop.reportsIdle { context.loop.reportsIdle = needsIdle }
        if !centers.touched.isEmpty { context.loop.takeAnotherTurn() }
        if context.configuration.loopCount > 1 { context.sendToOtherLoops() }
    }

    // MARK: Idle moments

    /// Posts one idle entry in each center that waits for an idle moment (rule Q13).
    ///
    /// It posts as many as the turn has time for.
    mutating func meetIdle(_ context: inout LoopContext) {
        if context.life.isStopping { return }
        schedule.lastIdle = share(
            .idle, among: centers.idlePositions, behind: schedule.lastIdle, &context)
        // The assignment requests the next idle moment, which comes after another look at the
        // input.
        if centers.idleCount > 0 { context.loop.reportsIdle = true }
    }

    // MARK: Time

    /// Performs the due work of centers, in shares.
    ///
    /// While much waits for the store, there is a rest between two shares, so that no request is
    /// refused for the sake of things that only end.
    mutating func meetCenterDeadline(_ context: inout LoopContext) {
        schedule.timer = nil
        schedule.armedDeadline = .max
        if context.life.isSealed || centers.log != nil { return }
        let due = centers.positionsDue(at: context.commandTime)
        schedule.lastTimePassed = share(
            .time, among: due, behind: schedule.lastTimePassed, &context)
        schedule.restUntil =
            storeIsBehind ? context.loop.attendedNanoseconds + CenterSchedule.storeRest : .min
        if let deadline = centers.earliestDeadline(at: context.commandTime) {
            schedule.arm(at: deadline, &context)
        }
    }

    /// Removes farewells whose posters lost the right to post them (rule L10).
    mutating func takeOutForbidden(
        _ farewells: [NotificationCenter.DueFarewell], of position: Int,
        _ context: inout LoopContext
    ) {
        for farewell in farewells  // Bound: farewells
        where !context.mayGo(farewell, center: centers[position].name) {
            tell(.dequeueEntry(farewell.id, scope: .everything), to: position, &context)
        }
    }

    /// Whether so much waits for the store that other work should wait.
    var storeIsBehind: Bool { shared.store?.isBehind ?? false }
}
