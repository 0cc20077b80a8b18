import BelfryCenter
import BelfryLoop
import BelfrySystem
import Synchronization

// What centers do by themselves: at the end of a turn, in idle moments, and when time has passed.

extension ServerLoop {
    /// The end of a turn: what it brings about leaves in the same flush.
    mutating func endTurn() {
        continueHandshakes()
        endTurnOfCenters()
        // The answer to one may let a request be read that ends, or completes, another.
        while polls.hasEnded || !completions.isEmpty {
            answerPolls()
            answerCompletions()
        }
        if !trims.isEmpty { trimKept() }
        closeSlowest()
        if loop.unsentByteTotal > unsentWatch.share { boundUnsentShares() }
        if unfinishedTotal.count > unfinishedWatch.share { boundUnfinishedShares() }
        if stop.isStopping, !stop.isSealed { settle() }
        handOver()
        inflatedBeforeTurn = compression.inflatedByteCount
        counters.turns += 1
        scanBudget = Self.turnScanLimit
        if !metricsText.isEmpty { metricsText = [] }
        counters.connectionsOpen = UInt64(loop.connectionCount)
        counters.waitingAnswers = UInt64(promises.waitingCount)
        counters.unsentBytes = UInt64(loop.unsentByteTotal)
        counters.unfinishedBytes = UInt64(unfinishedTotal.count)
        if let tls { counters.sessionBytes = UInt64(tls.sessionByteCount) }
        if counters.descriptorsExhausted != loop.exhaustionCount { meet(.descriptors) }
        counters.descriptorsExhausted = UInt64(loop.exhaustionCount)
        counters.connectionsPastRefusal = UInt64(loop.directRefusalCount)
        shared.counters[number].publish(counters)
        if peakWatch.hasFallen(to: keptByteCount) { shared.trimmer.ask() }
    }

    /// The callouts of the turn are over: asap entries are posted (rule Q10).
    ///
    /// Each center posts those that are there now (rule Q11), a share at a time, in turn with the others,
    /// as long as the turn has time. The next turn goes on behind the center that was the last, and not
    /// before what is posted here has been written.
    private mutating func endTurnOfCenters() {
        guard centers.touched.contains(where: { centers.needsTurnEnd(at: $0) }) else { return }
        let isAmidFlush = loop.isAmidFlush
        var line = centers.touched.filter {
            centers.needsTurnEnd(at: $0) && !(isAmidFlush && centers.turnGoesOn(at: $0))
        }
        if line.isEmpty { return }
        line.sort { ($0 <= lastTurnEnd ? 1 : 0, $0) < ($1 <= lastTurnEnd ? 1 : 0, $1) }
        var place = 0
        while place < line.count {
            let position = line[place]
            submitCommand(
                .endTurn(workLimit: Self.turnEndWorkLimit), to: position, isPromise: false)
            fanOut()
            lastTurnEnd = position
            place += 1
            if centers.turnGoesOn(at: position) { line.append(position) }
            if loop.outputByteCount > Self.turnEndOutputByteLimit || loop.turnIsLong { return }
        }
    }

    /// The deliveries that one center makes of its asap entries before it is looked how long the turn
    /// has taken, about.
    static let turnEndWorkLimit = 2_048
    /// The output of a turn behind which asap entries wait for the next one, in bytes.
    static let turnEndOutputByteLimit = 1 << 20

    /// Hands on what the turn has for the store and for other loops.
    mutating func handOver() {
        let end = centers.endTurn()
        if shared.hasStore { handToStore(end.changes) }
        if end.heldGrowth != 0 { noteHeld(end.heldGrowth) }
        accountForKept()
        if end.queueGrowth != 0 { shared.queueByteCount.add(end.queueGrowth, ordering: .relaxed) }
        if let losses = end.losses { shared.noteLosses(losses) }
        counters.heldNotifications = UInt64(Int(counters.heldNotifications) + end.heldCountGrowth)
        counters.queueEntries = UInt64(Int(counters.queueEntries) + end.entryGrowth)
        arm(at: end.deadline)
        // A loop that is about to end is never idle (rules Q12, Q23).
        let needsIdle = centers.idleCount > 0 && !stop.isStopping
        if needsIdle != loop.reportsIdle { loop.reportsIdle = needsIdle }
        if !centers.touched.isEmpty { loop.takeAnotherTurn() }
        if configuration.loopCount > 1 { sendToOtherLoops() }
    }

    /// Whether something was done after the end of the turn that needs an end of its own.
    var hasTurnWork: Bool {
        if !centers.touched.isEmpty || !completions.isEmpty || polls.hasEnded { return true }
        return outbound.contains { !$0.submissions.isEmpty || !$0.output.isEmpty }
    }

    // MARK: Idle moments

    /// Nothing is to be done: each center that waits for that posts one entry (rule Q13).
    mutating func meetIdle() {
        if stop.isStopping { return }
        for position in centers.idlePositions {
            submitCommand(.idle, to: position, isPromise: false)
            fanOut()
        }
        // Setting it asks for the next idle moment, which comes after another look at the input.
        if centers.idleCount > 0 { loop.reportsIdle = true }
    }

    // MARK: Time

    /// Arms the timer of the centers, unless it comes early enough.
    ///
    /// A deadline that has moved away costs one timer for nothing, and no search in each turn. So does
    /// one before which the loop pauses.
    private mutating func arm(at deadline: Int64) {
        guard deadline < armedDeadline else { return }
        if let timer = centerTimer { loop.cancel(timer) }
        armedDeadline = deadline
        centerTimer = loop.schedule(
            at: MonotonicTime(nanoseconds: deadline) + .nanoseconds(loop.missedNanoseconds),
            LoopTimer.centers.rawValue)
    }

    /// A deadline of some center may have come.
    mutating func meetCenterDeadline() {
        centerTimer = nil
        armedDeadline = .max
        if stop.isSealed { return }
        for position in centers.positionsDue(at: loop.attendedNanoseconds) {
            submitCommand(.passTime, to: position, isPromise: false)
            fanOut()
        }
        if let deadline = centers.earliestDeadline { arm(at: deadline) }
    }
}
