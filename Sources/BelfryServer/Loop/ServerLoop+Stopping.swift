import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWebSocket
import BelfryWire
import Synchronization

// The clean stop (decision 54): the loops take nothing new, their centers stop and are sealed, the
// store commits and gives the data up; then clients are told to come back, and closed spread over
// the drain period.

extension ServerLoop {
    /// The signals that stop the broker; the first loop reads them.
    static let stopSignals: [Int32] = [2, 15]

    static let reloadSignal: Int32 = 1

    mutating func handleSignal(_ signal: Int32) {
        if signal == Self.reloadSignal {
            outbox.shared.askForReload(log: outbox.log)
            return
        }
        guard Self.stopSignals.contains(signal) else { return }
        if outbox.shared.lifecycle.load(ordering: .relaxed) > .ready {
            outbox.log.write(.warning, "stopping at once")
            outbox.tellOthers(.stop)
            finish()
        } else if outbox.configuration.drainDelay > .zero {
            outbox.shared.lifecycle.store(.lame, ordering: .relaxed)
            outbox.log.write(
                .info, "not ready any more", ("stopping in", "\(outbox.configuration.drainDelay)"))
            _ = outbox.loop.schedule(
                at: outbox.loop.now + outbox.configuration.drainDelay, LoopTimer.drainDelay.rawValue
            )
        } else {
            drain()
        }
    }

    /// Begins to stop all loops.
    mutating func drain() {
        outbox.shared.lifecycle.store(.draining, ordering: .relaxed)
        outbox.log.write(.info, "stopping", ("within", "\(outbox.configuration.drainPeriod)"))
        outbox.tellOthers(.drain)
        beginStopping()
    }

    /// Stops accepting connections, and stops the centers.
    mutating func beginStopping() {
        guard !outbox.life.isStopping else { return }
        outbox.life = .draining
        outbox.loop.stopListening()
        stop.deadline = outbox.loop.now + outbox.configuration.drainPeriod
        stop.sealDeadline =
            outbox.loop.now + min(StopSequence.patience, outbox.configuration.drainPeriod / 2)
        if !host.postponed.isEmpty { host.doPostponed(&outbox) }
        terminateCenters()
        host.polls.endAll()
        host.answerPolls(&outbox)
        host.asks.endPolls()
        host.answerFates(&outbox)
        host.values.endPolls()
        host.answerValues(&outbox)
        // A store without hope of a commit would hold up the answers, and the loops that wait for
        // them.
        if outbox.shared.store?.keepsNothing == true { host.promises.giveUpAll(&outbox) }
        react()
        // The last posts of these centers must find the connections of their observers open.
        if outbox.configuration.loopCount > 1 { outbox.sendToOtherLoops() }
        settle()
    }

    /// Reports that this loop has no more commands, once its clients' begun requests are done.
    mutating func settle() {
        if outbox.life < .settled {
            guard !hasBegunRequests || outbox.loop.now >= stop.sealDeadline else {
                return armStop(at: outbox.loop.now + StopSequence.interval)
            }
            outbox.life = .settled
            if outbox.configuration.loopCount > 1 { outbox.sendToOtherLoops() }
            outbox.tellOthers(.settled)
        }
        seal()
    }

    /// Seals this loop's centers, once no loop has commands for them.
    mutating func seal() {
        guard outbox.life == .settled else { return }
        let isQuiet =
            stop.settledCount == outbox.configuration.loopCount - 1
            && host.completions.waiting.isEmpty
        guard isQuiet || outbox.loop.now >= stop.sealDeadline else {
            return armStop(at: outbox.loop.now + StopSequence.interval)
        }
        if host.centers.log != nil { return sealLog() }
        if !stop.hasTerminated { terminateCenters() }
        stop.hasTerminated = true
        // Commands under way are applied before the centers close.
        if host.centers.isWaiting { return outbox.loop.takeAnotherTurn() }
        refuseAsks()
        host.handOver(&outbox)
        if outbox.shared.store == nil { countDiscarded() }
        outbox.life = .sealed
        host.centers.close()
        // A store that cannot end holds up the stop for no longer than this.
        if outbox.shared.store?.keepsNothing == true {
            stop.deadline = min(stop.deadline, outbox.loop.now + StopSequence.patienceWithNothing)
        }
        armStop(at: stop.deadline)
        if outbox.number == 0 { return noteSealed() }
        // The last messages of these centers leave before the loops close their clients.
        outbox.sendToOtherLoops()
        _ = outbox.shared.mailboxes[0].post(.sealed)
    }

    /// Refuses the requests that wait for answers of responders.
    private mutating func refuseAsks() {
        // Asks that survive the restart have just been answered so.
        host.answerCompletions(&outbox)
        host.refuse(host.completions.takeAsks(), .isStopping, &outbox)
    }

    /// Counts a sealed loop; when all are, gives the store up.
    mutating func noteSealed() {
        stop.sealedCount += 1
        guard stop.sealedCount == outbox.configuration.loopCount else { return }
        if let store = outbox.shared.store {
            store.end(telling: outbox.shared.mailboxes)
        } else {
            outbox.tellOthers(.released)
            takeRelease()
        }
    }

    /// Gives up uncommitted answers, after the store's release and all commits for this loop.
    ///
    /// Answers for connections of other loops are sent before these close their clients.
    mutating func takeRelease() {
        guard outbox.life.isSealed, !stop.isReleased else { return }
        stop.isReleased = true
        host.promises.giveUpAll(&outbox)
        react()
        outbox.shared.lifecycle.store(.released, ordering: .relaxed)
        if outbox.configuration.loopCount > 1 { outbox.sendToOtherLoops() }
        outbox.tellOthers(.answered)
        noteAnswered(by: 0)
    }

    /// Counts loops that have no more answers for connections of this one.
    mutating func noteAnswered(by count: Int) {
        stop.answeredCount += count
        let isLast = stop.answeredCount == outbox.configuration.loopCount - 1
        if isLast, stop.isReleased { letClientsGo() }
    }

    /// Whether a request of this loop is incomplete, or accepted and not answered.
    private var hasBegunRequests: Bool {
        (0..<callers.connections.slotCount).contains { slot in
            guard let connection = callers.connections[slot], !connection.isClosing,
                connection.kind == .http
            else { return false }
            if connection.isAwaiting { return true }
            guard let exchange = connection.unfinished?.exchange else { return false }
            return exchange.isInContent && exchange.refusal == nil
        }
    }

    /// Tells clients to come back, and closes connections that wait for nothing.
    mutating func letClientsGo() {
        guard outbox.life.isStopping, outbox.life < .leaving else { return }
        // A store that is not released in time keeps no more promises.
        host.promises.giveUpAll(&outbox)
        react()
        outbox.life = .leaving
        for slot in 0..<callers.connections.slotCount {
            guard let connection = callers.connections[slot], !connection.isClosing else {
                continue
            }
            if connection.kind != .http {
                tellDraining(connection)
                stop.waiting.append(Int(connection.id.index))
            } else if connection.isAwaiting || connection.unfinished?.isSending == true {
                callers.connections.move(connection.id, .isLast, &outbox)
            } else if connection.deadline == .idle || connection.unfinished == nil {
                closeIdle(connection.id)
            }
        }
        let turns = max(1, outbox.configuration.drainPeriod / StopSequence.interval / 2)
        stop.groupCount = max(
            StopSequence.quickGroupCount, Int(Double(stop.waiting.count) / turns) + 1)
        continueStopping()
    }

    /// Closes a connection without a begun request.
    ///
    /// Its last answer left before: unread input cannot destroy it, so the close does not wait for
    /// the other end.
    private mutating func closeIdle(_ id: ConnectionID) {
        callers.connections.move(id, .closes(lingering: false), &outbox)
    }

    private mutating func tellDraining(_ connection: Connection) {
        guard let words = connection.kind.words else { return }
        let reconnectAfter = Duration.milliseconds(
            Int64(outbox.random.next() % UInt64(StopSequence.reconnectSpread / .milliseconds(1))))
        var bytes: [UInt8] = []
        words.appendDraining(
            untilMilliseconds: (outbox.loop.wallNow + outbox.configuration.drainPeriod)
                .milliseconds,
            reconnectAfter: reconnectAfter, to: &bytes)
        if bytes.isEmpty { return }
        outbox.send(
            bytes, .notice, to: ConnectionNumber(loop: outbox.number, connection: connection.id))
    }

    /// Continues the stop: closes the next group of clients.
    ///
    /// It ends the loop when all clients have gone, or when the time is over.
    mutating func continueStopping() {
        guard outbox.life.isStopping else { return }
        guard outbox.life >= .leaving else {
            settle()
            if outbox.life.isSealed, outbox.loop.now >= stop.deadline { letClientsGo() }
            return
        }
        let hasClients = !stop.waiting.isEmpty
        for _ in 0..<min(stop.groupCount, stop.waiting.count) {
            guard let slot = stop.waiting.popLast(), let connection = callers.connections[slot]
            else {
                continue
            }
            callers.connections.dismiss(connection.id, .stopping, &outbox)
        }
        // The output for the last group leaves with this turn, so the end is in a later one.
        let isLate = !hasClients && outbox.loop.now >= stop.deadline && !outbox.loop.isAmidFlush
        let isAlone = clientConnectionCount == 0 && hasNoConnectionElsewhere
        if isLate || isAlone, hasLeftLog() {
            outbox.counters.connectionsOpen = UInt64(outbox.loop.connectionCount)
            outbox.shared.counters[outbox.number].publish(&outbox.counters)
            outbox.log.write(
                .debug, "a loop has stopped", ("loop", outbox.number),
                ("connections", outbox.loop.connectionCount))
            finish()
            return
        }
        armStop(at: outbox.loop.now + StopSequence.interval)
    }

    /// Sets the one timer of the stop; the last one may have fired already.
    mutating func armStop(at time: MonotonicTime) {
        if let timer = stop.timer { outbox.loop.cancel(timer) }
        stop.timer = outbox.loop.schedule(at: time, LoopTimer.stop.rawValue)
    }

    /// Stops the centers: asap entries of the current mode are posted (rule Q23).
    private mutating func terminateCenters() {
        // The other brokers continue them.
        if host.centers.log != nil { return }
        for position in 0..<host.centers.count {
            host.tell(.terminate, to: position, &outbox)
        }
    }

    /// Ends the loop with this event: its centers hand the store their last changes.
    mutating func finish() {
        guard outbox.life < .over else { return }
        let isSealed = outbox.life.isSealed
        // Messages of other loops for these centers came before the last connection closed.
        readMail()
        if outbox.life == .over { return }
        outbox.life = .over
        if isSealed { return }
        terminateCenters()
        host.handOver(&outbox)
        if outbox.shared.store == nil { countDiscarded() }
    }

    /// Logs how many queue entries are lost.
    private func countDiscarded() {
        let discarded = (0..<host.centers.count).reduce(0) { $0 + host.centers[$1].queueCount }
        if discarded > 0 {
            outbox.log.write(
                .warning, "queue entries are discarded: nothing lasts without a data directory",
                ("entries", discarded))
        }
    }

    /// Whether no other loop has a connection left that this loop's centers would answer.
    private var hasNoConnectionElsewhere: Bool {
        outbox.shared.counters.indices.allSatisfy {
            $0 == outbox.number || outbox.shared.counters[$0].read().connectionsOpen == 0
        }
    }
}
