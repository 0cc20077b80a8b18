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
        if postponed.count > 0 { doPostponed() }
        // The answer to one may let a request be read that ends, or completes, another.
        while polls.hasEnded || !completions.isEmpty {
            answerPolls()
            answerCompletions()
        }
        if !trims.isEmpty { trimKept() }
        if loop.unsentByteTotal > unsentWatch.share {
            closeSlowest()
            boundUnsentShares()
        }
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
        let line = centers.touched.filter {
            centers.needsTurnEnd(at: $0) && !(isAmidFlush && centers.turnGoesOn(at: $0))
        }
        lastTurnEnd = share(.turnEnd, among: line, behind: lastTurnEnd)
    }

    /// What centers do by shares.
    private enum CenterTask {
        /// They post the asap entries of the turn.
        case turnEnd
        /// They let happen what is due.
        case time
    }

    /// Gives centers a share of work at a time, in turn with each other, as long as the turn has time.
    ///
    /// - Parameters:
    ///   - positions: those that have something to do.
    ///   - last: the center that had the last share before; it begins behind that one.
    /// - Returns: the center that had the last share.
    private mutating func share(
        _ task: CenterTask, among positions: [Int], behind last: Int
    ) -> Int {
        var line = positions.sorted { ($0 <= last ? 1 : 0, $0) < ($1 <= last ? 1 : 0, $1) }
        var place = 0
        while place < line.count {
            let position = line[place]
            let goesOn: Bool
            switch task {
            case .turnEnd:
                submitCommand(
                    .endTurn(workLimit: Self.shareWorkLimit), to: position, isPromise: false)
                goesOn = centers.turnGoesOn(at: position)
            case .time:
                submitCommand(
                    .passTime(workLimit: Self.shareWorkLimit), to: position, isPromise: false)
                goesOn = centers.isDue(position, at: loop.attendedNanoseconds)
            }
            fanOut()
            place += 1
            if goesOn { line.append(position) }
            if turnIsFull { return position }
            if task == .time, storeIsBehind { return position }
        }
        return line.last ?? last
    }

    /// Whether what can wait for the next turn should: so much is to be written, or so long it took.
    var turnIsFull: Bool {
        loop.outputByteCount > Self.shareOutputByteLimit || loop.turnIsLong
    }

    /// The work that one center does, in deliveries, about, before it is looked how long the turn has
    /// taken.
    static let shareWorkLimit = 2_048
    /// The output of a turn behind which such work waits for the next one, in bytes.
    static let shareOutputByteLimit = 1 << 20

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
        let deadline = max(deadline, centersRestUntil)
        guard deadline < armedDeadline else { return }
        if let timer = centerTimer { loop.cancel(timer) }
        armedDeadline = deadline
        centerTimer = loop.schedule(
            at: MonotonicTime(nanoseconds: deadline) + .nanoseconds(loop.missedNanoseconds),
            LoopTimer.centers.rawValue)
    }

    /// A deadline of some center may have come.
    ///
    /// What is due happens in shares. While much waits for the store, one share comes after the other
    /// with a rest between them, so that nobody is refused for what only ends.
    mutating func meetCenterDeadline() {
        centerTimer = nil
        armedDeadline = .max
        if stop.isSealed { return }
        let due = centers.positionsDue(at: loop.attendedNanoseconds)
        lastTimePassed = share(.time, among: due, behind: lastTimePassed)
        centersRestUntil = storeIsBehind ? loop.attendedNanoseconds + Self.storeRest : .min
        if let deadline = centers.earliestDeadline { arm(at: deadline) }
    }

    /// Whether so much waits for the store that what can wait should.
    var storeIsBehind: Bool { shared.store?.isBehind ?? false }

    /// How long that rests which the store would have to note, in nanoseconds.
    static let storeRest: Int64 = 5_000_000
}
