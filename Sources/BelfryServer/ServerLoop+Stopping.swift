import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWebSocket
import BelfryWire
import Synchronization

// The clean stop (decision 54): the loops take nothing new, their centers stop and are sealed, the store
// commits and gives the data up; then clients are told to come back, and closed spread over the drain
// period.

extension ServerLoop {
    /// The signals that the first loop listens to.
    static let stopSignals: [Int32] = [2, 15]
    static let reloadSignal: Int32 = 1
    mutating func handleSignal(_ signal: Int32) {
        if signal == Self.reloadSignal {
            shared.askForReload(log: log)
            return
        }
        guard Self.stopSignals.contains(signal) else { return }
        if shared.lifecycle.load(ordering: .relaxed) > .ready {
            log.write(.warning, "stopping at once")
            tellAllLoops(.stop)
            finish()
        } else if configuration.drainDelay > .zero {
            shared.lifecycle.store(.lame, ordering: .relaxed)
            log.write(.info, "not ready any more", ("stopping in", "\(configuration.drainDelay)"))
            _ = loop.schedule(
                at: loop.now + configuration.drainDelay, LoopTimer.drainDelay.rawValue)
        } else {
            drain()
        }
    }

    /// Begins to stop all loops.
    mutating func drain() {
        shared.lifecycle.store(.draining, ordering: .relaxed)
        log.write(.info, "stopping", ("within", "\(configuration.drainPeriod)"))
        tellAllLoops(.drain)
        beginStopping()
    }

    private func tellAllLoops(_ message: LoopMessage) {
        for target in shared.mailboxes.indices where target != number {
            _ = shared.mailboxes[target].post(message)
        }
    }

    /// Takes no more connections, and stops the centers.
    mutating func beginStopping() {
        guard !stop.isStopping else { return }
        stop.isStopping = true
        takesNothing = true
        loop.stopListening()
        stop.deadline = loop.now + configuration.drainPeriod
        stop.sealDeadline = loop.now + min(StopSequence.patience, configuration.drainPeriod / 2)
        if postponed.count > 0 { doPostponed() }
        terminateCenters()
        polls.endAll()
        answerPolls()
        // What these centers posted last must find the connections of its observers open.
        if configuration.loopCount > 1 { sendToOtherLoops() }
        settle()
    }

    /// Says that this loop has nothing more for centers, once what its clients had begun is done.
    mutating func settle() {
        if !stop.isSettled {
            guard !hasBegunRequests || loop.now >= stop.sealDeadline else {
                return armStop(at: loop.now + StopSequence.interval)
            }
            stop.isSettled = true
            if configuration.loopCount > 1 { sendToOtherLoops() }
            tellAllLoops(.settled)
        }
        seal()
    }

    /// Ends the life of this loop's centers, once no loop has anything more for them.
    mutating func seal() {
        guard stop.isSettled, !stop.isSealed else { return }
        let isQuiet = stop.settledCount == configuration.loopCount - 1 && waitingReplies.isEmpty
        guard isQuiet || loop.now >= stop.sealDeadline else {
            return armStop(at: loop.now + StopSequence.interval)
        }
        terminateCenters()
        handOver()
        if shared.store == nil { countDiscarded() }
        stop.isSealed = true
        centers.close()
        // A store that cannot be ended holds nobody up for longer than this.
        armStop(at: stop.deadline)
        if number == 0 { return noteSealed() }
        // What these centers said last leaves before the loops let their clients go.
        sendToOtherLoops()
        _ = shared.mailboxes[0].post(.sealed)
    }

    /// One loop more is sealed; when all are, the store is given up.
    mutating func noteSealed() {
        stop.sealedCount += 1
        guard stop.sealedCount == configuration.loopCount else { return }
        if let store = shared.store {
            store.end(telling: shared.mailboxes)
        } else {
            tellAllLoops(.released)
            takeRelease()
        }
    }

    /// The store is given up, and this loop knows of all its commits: the answers that waited for them
    /// are told to other loops before these let their clients go.
    mutating func takeRelease() {
        guard stop.isSealed, !stop.isReleased else { return }
        stop.isReleased = true
        shared.lifecycle.store(.released, ordering: .relaxed)
        if configuration.loopCount > 1 { sendToOtherLoops() }
        tellAllLoops(.answered)
        noteAnswered(by: 0)
    }

    /// So many loops more have no answer for connections of this one.
    mutating func noteAnswered(by count: Int) {
        stop.answeredCount += count
        let isLast = stop.answeredCount == configuration.loopCount - 1
        if isLast, stop.isReleased { letClientsGo() }
    }

    /// Whether a request is on its way here, or was accepted, that has no answer.
    private var hasBegunRequests: Bool {
        (0..<connections.slotCount).contains { slot in
            guard let connection = connections[slot], !connection.isClosing,
                connection.kind == .http
            else { return false }
            if connection.isAwaiting { return true }
            guard let exchange = connection.unfinished?.exchange else { return false }
            return exchange.isInContent && exchange.refusal == nil
        }
    }

    /// Tells clients that they may come back, and closes what waits for nothing.
    mutating func letClientsGo() {
        guard stop.isStopping, !stop.isLeaving else { return }
        stop.isLeaving = true
        for slot in 0..<connections.slotCount {
            guard let connection = connections[slot], !connection.isClosing else { continue }
            switch connection.kind {
            case .http
            where connection.isAwaiting || connection.unfinished?.isSending == true:
                connections[connection.id].closesAfterAnswer = true
            case .http:
                if connection.deadline == .idle || connection.unfinished == nil {
                    closeIdle(connection.id)
                }
            case .webSocket, .events, .debugWebSocket:
                tellDraining(connection)
                stop.waiting.append(Int(connection.id.index))
            }
        }
        let turns = max(1, configuration.drainPeriod / StopSequence.interval / 2)
        stop.groupCount = max(
            StopSequence.quickGroupCount, Int(Double(stop.waiting.count) / turns) + 1)
        continueStopping()
    }

    /// Closes a connection on which nothing was begun.
    ///
    /// Its last answer left before: there is nothing that unread input could destroy, so nobody waits
    /// until its other end closes it too.
    private mutating func closeIdle(_ id: ConnectionID) {
        connections[id].isClosing = true
        connections[id].unfinished = nil
        loop.closeAfterFlush(id, lingering: false)
    }

    private mutating func tellDraining(_ connection: Connection) {
        frameText.removeAll(keepingCapacity: true)
        let reconnectAfter = Duration.milliseconds(
            Int64(random.next() % UInt64(StopSequence.reconnectSpread / .milliseconds(1))))
        var bytes: [UInt8] = []
        switch connection.kind {
        case .webSocket:
            RPC.append(
                drainingUntil: (loop.wallNow + configuration.drainPeriod).milliseconds,
                reconnectAfter: reconnectAfter, to: &frameText)
            FrameWriter.append(.text, payload: frameText.span, to: &bytes)
        case .events:
            EventStream.append(
                retryMilliseconds: Int(reconnectAfter / .milliseconds(1)), to: &bytes)
        case .http, .debugWebSocket:
            return
        }
        sendFrame(bytes, to: connection.id, closes: false)
    }

    /// Goes on with the stop: closes the next group of clients, and ends the loop when nobody is left,
    /// or when the time is over.
    mutating func continueStopping() {
        guard stop.isStopping else { return }
        guard stop.isLeaving else {
            settle()
            if stop.isSealed, loop.now >= stop.deadline { letClientsGo() }
            return
        }
        let hasClients = !stop.waiting.isEmpty
        for _ in 0..<min(stop.groupCount, stop.waiting.count) {
            guard let slot = stop.waiting.popLast(), let connection = connections[slot] else {
                continue
            }
            switch connection.kind {
            case .webSocket, .debugWebSocket:
                closeWebSocket(connection.id, .serviceRestart, reason: "the broker stops")
            case .http, .events:
                closeSoon(connection.id)
            }
        }
        // What was sent to the last group leaves with this turn, so the end is in a later one.
        let isLate = !hasClients && loop.now >= stop.deadline && !loop.isAmidFlush
        if isLate || loop.connectionCount == 0 && hasNoConnectionElsewhere {
            counters.connectionsOpen = UInt64(loop.connectionCount)
            shared.counters[number].publish(counters)
            log.write(
                .debug, "a loop has stopped", ("loop", "\(number)"),
                ("connections", "\(loop.connectionCount)"))
            finish()
            return
        }
        armStop(at: loop.now + StopSequence.interval)
    }

    /// Sets the one timer of the stop; the last one may have come already.
    private mutating func armStop(at time: MonotonicTime) {
        if let timer = stop.timer { loop.cancel(timer) }
        stop.timer = loop.schedule(at: time, LoopTimer.stop.rawValue)
    }

    /// The centers stop: asap entries of the current mode are posted (rule Q23).
    private mutating func terminateCenters() {
        for position in 0..<centers.count {
            submitCommand(.terminate, to: position, isPromise: false)
            fanOut()
        }
    }

    /// Ends the loop with this event: its centers tell the store what only they knew.
    mutating func finish() {
        guard !stop.isOver else { return }
        stop.isOver = true
        // What another loop had for these centers before its last connection closed.
        readMail()
        if stop.isSealed { return }
        terminateCenters()
        handOver()
        if shared.store == nil { countDiscarded() }
    }

    /// Tells how many queue entries nobody will post.
    private func countDiscarded() {
        let discarded = (0..<centers.count).reduce(0) { $0 + centers[$1].queueCount }
        if discarded > 0 {
            log.write(
                .warning, "queue entries are discarded: nothing lasts without a data directory",
                ("entries", "\(discarded)"))
        }
    }

    /// Whether no other loop has a connection left, which this loop's centers would answer.
    private var hasNoConnectionElsewhere: Bool {
        shared.counters.indices.allSatisfy {
            $0 == number || shared.counters[$0].read().connectionsOpen == 0
        }
    }
}
