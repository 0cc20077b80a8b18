import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWebSocket
import BelfryWire
import Synchronization

// The clean stop: no new connections, clients are told, and closed spread over the drain period.

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
        if shared.isDraining.exchange(true, ordering: .relaxed) {
            log.write(.warning, "stopping at once")
            tellAllLoops(.stop)
            finish()
        } else {
            log.write(.info, "stopping", ("within", "\(configuration.drainPeriod)"))
            tellAllLoops(.drain)
            beginStopping()
        }
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
        loop.stopListening()
        stop.deadline = loop.now + configuration.drainPeriod
        terminateCenters()
        if configuration.loopCount > 1 {
            // What these centers posted last must find the connections of its observers open.
            sendToOtherLoops()
            tellAllLoops(.settled)
            // A loop that never says so holds nobody up for longer than this.
            _ = loop.schedule(at: stop.deadline, 0)
        }
        letClientsGo()
    }

    /// Tells clients, and closes what waits for nothing, once no center has anything more for them.
    mutating func letClientsGo() {
        guard stop.isStopping, stop.settledCount == configuration.loopCount - 1 else { return }
        for slot in 0..<connections.slotCount {
            guard let connection = connections[slot], !connection.isClosing else { continue }
            switch connection.kind {
            case .http
            where connection.isAwaiting || connection.unfinished?.content.isEmpty == false:
                connections[connection.id].closesAfterAnswer = true
            case .http:
                if connection.deadline == .idle || connection.unfinished == nil {
                    closeSoon(connection.id)
                }
            case .webSocket, .events, .debugWebSocket:
                tellDraining(connection)
                stop.waiting.append(Int(connection.id.index))
            }
        }
        polls.endAll()
        answerPolls()
        let turns = max(1, configuration.drainPeriod / StopSequence.interval / 2)
        stop.groupCount = max(
            StopSequence.quickGroupCount, Int(Double(stop.waiting.count) / turns) + 1)
        continueStopping()
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

    /// Closes the next group of clients; the loop ends when nobody is left, or the time is over.
    mutating func continueStopping() {
        guard stop.isStopping else { return }
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
        _ = loop.schedule(at: loop.now + StopSequence.interval, 0)
    }

    /// The centers stop: asap entries of the current mode are posted (rule Q23).
    private mutating func terminateCenters() {
        for position in 0..<centers.count {
            submitCommand(.terminate, to: position, isPromise: false)
            fanOut()
        }
    }

    /// Ends the loop with this event: its centers tell the store what only they knew.
    ///
    /// They stop a second time here: what clients did since the first time is told now.
    mutating func finish() {
        guard !stop.isOver else { return }
        stop.isOver = true
        // What another loop had for these centers before its last connection closed.
        readMail()
        terminateCenters()
        handOver()
        guard shared.store == nil else { return }
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
