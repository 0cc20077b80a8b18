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
            context.shared.askForReload(log: context.log)
            return
        }
        guard Self.stopSignals.contains(signal) else { return }
        if context.shared.life.load(ordering: .relaxed) > .running {
            context.log.write(.warning, "stopping at once")
            context.tellOthers(.stop)
            finish()
        } else if context.configuration.drainDelay > .zero {
            context.shared.life.store(.lame, ordering: .relaxed)
            context.log.write(
                .info, "not ready any more", ("stopping in", "\(context.configuration.drainDelay)"))
            _ = context.loop.schedule(
                at: context.loop.now + context.configuration.drainDelay,
                LoopTimer.drainDelay.rawValue
            )
        } else {
            drain()
        }
    }

    /// Begins to stop all loops.
    mutating func drain() {
        context.shared.life.store(.draining, ordering: .relaxed)
        context.log.write(.info, "stopping", ("within", "\(context.configuration.drainPeriod)"))
        context.tellOthers(.drain)
        beginStopping()
    }

    /// Stops accepting connections, and stops the centers.
    mutating func beginStopping() {
        guard !context.life.isStopping else { return }
        context.life = .draining
        context.loop.stopListening()
        stop.deadline = context.loop.now + context.configuration.drainPeriod
        stop.sealDeadline =
            context.loop.now + min(StopSequence.patience, context.configuration.drainPeriod / 2)
        if !host.postponed.isEmpty { host.doPostponed(&context) }
        terminateCenters()
        host.releaseAllWaits(&context)
        // A store without hope of a commit would hold up the answers, and the loops that wait for
        // them.
        if context.shared.store?.keepsNothing == true { host.promises.giveUpAll(&context) }
        react()
        // The last posts of these centers must find the connections of their observers open.
        if context.configuration.loopCount > 1 { context.sendToOtherLoops() }
        settle()
    }

    /// Reports that this loop has no more commands, once its clients' begun requests are done.
    mutating func settle() {
        if context.life < .settled {
            guard !hasBegunRequests || context.loop.now >= stop.sealDeadline else {
                return stop.armTimer(at: context.loop.now + StopSequence.interval, &context)
            }
            context.life = .settled
            if context.configuration.loopCount > 1 { context.sendToOtherLoops() }
            context.tellOthers(.settled)
        }
        seal()
    }

    /// Seals this loop's centers, once no loop has commands for them.
    mutating func seal() {
        guard context.life == .settled else { return }
        let isQuiet =
            stop.settledCount == context.configuration.loopCount - 1
            && host.completions.waiting.isEmpty
        guard isQuiet || context.loop.now >= stop.sealDeadline else {
            return stop.armTimer(at: context.loop.now + StopSequence.interval, &context)
        }
        if host.centers.log != nil { return sealLog() }
        if !stop.hasTerminated { terminateCenters() }
        stop.hasTerminated = true
        // Commands under way are applied before the centers close.
        if host.centers.isWaiting { return context.loop.takeAnotherTurn() }
        refuseAsks()
        host.handOver(&context)
        if context.shared.store == nil { countDiscarded() }
        context.life = .sealed
        host.centers.close()
        // A store that cannot end holds up the stop for no longer than this.
        if context.shared.store?.keepsNothing == true {
            stop.deadline = min(stop.deadline, context.loop.now + StopSequence.patienceWithNothing)
        }
        stop.armTimer(at: stop.deadline, &context)
        if context.number == 0 { return noteSealed() }
        // The last messages of these centers leave before the loops close their clients.
        context.sendToOtherLoops()
        _ = context.shared.mailboxes[0].post(.sealed)
    }

    /// Refuses the requests that wait for answers of responders.
    private mutating func refuseAsks() {
        // Asks that survive the restart have just been answered so.
        host.answerCompletions(&context)
        host.refuse(host.completions.takeAsks(), .isStopping, &context)
    }

    /// Counts a sealed loop; when all are, gives the store up.
    mutating func noteSealed() {
        stop.sealedCount += 1
        guard stop.sealedCount == context.configuration.loopCount else { return }
        if let store = context.shared.store {
            store.end(telling: context.shared.mailboxes)
        } else {
            context.tellOthers(.released)
            takeRelease()
        }
    }

    /// Gives up uncommitted answers, after the store's release and all commits for this loop.
    ///
    /// Answers for connections of other loops are sent before these close their clients.
    mutating func takeRelease() {
        guard context.life.isSealed, !stop.isReleased else { return }
        stop.isReleased = true
        host.promises.giveUpAll(&context)
        react()
        context.shared.life.store(.released, ordering: .relaxed)
        if context.configuration.loopCount > 1 { context.sendToOtherLoops() }
        context.tellOthers(.answered)
        noteAnswered(by: 0)
    }

    /// Counts loops that have no more answers for connections of this one.
    mutating func noteAnswered(by count: Int) {
        stop.answeredCount += count
        let isLast = stop.answeredCount == context.configuration.loopCount - 1
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
        guard context.life.isStopping, context.life < .leaving else { return }
        // A store that is not released in time keeps no more promises.
        host.promises.giveUpAll(&context)
        react()
        context.life = .leaving
        for slot in 0..<callers.connections.slotCount {
            guard let connection = callers.connections[slot], !connection.isClosing else {
                continue
            }
            if connection.kind != .http {
                tellDraining(connection)
                stop.waiting.append(Int(connection.id.index))
            } else if connection.isAwaiting || connection.unfinished?.isSending == true {
                callers.connections.move(connection.id, .isLast, &context)
            } else if connection.deadline == .idle || connection.unfinished == nil {
                // Its last answer left before: unread input cannot destroy it, so the close waits
                // for no other end.
                callers.connections.move(connection.id, .closes(lingering: false), &context)
            }
        }
        let turns = max(1, context.configuration.drainPeriod / StopSequence.interval / 2)
        stop.groupCount = max(
            StopSequence.quickGroupCount, Int(Double(stop.waiting.count) / turns) + 1)
        continueStopping()
    }

    private mutating func tellDraining(_ connection: Connection) {
        guard let words = connection.kind.words else { return }
        let reconnectAfter = Duration.milliseconds(
            Int64(context.random.next() % UInt64(StopSequence.reconnectSpread / .milliseconds(1))))
        var bytes: [UInt8] = []
        words.appendDraining(
            untilMilliseconds: (context.loop.wallNow + context.configuration.drainPeriod)
                .milliseconds,
            reconnectAfter: reconnectAfter, to: &bytes)
        if bytes.isEmpty { return }
        context.send(
            bytes, .notice, to: ConnectionNumber(loop: context.number, connection: connection.id))
    }

    /// Continues the stop: closes the next group of clients.
    ///
    /// It ends the loop when all clients have gone, or when the time is over.
    mutating func continueStopping() {
        guard context.life.isStopping else { return }
        guard context.life >= .leaving else {
            settle()
            if context.life.isSealed, context.loop.now >= stop.deadline { letClientsGo() }
            return
        }
        let hasClients = !stop.waiting.isEmpty
        for _ in 0..<min(stop.groupCount, stop.waiting.count) {
            guard let slot = stop.waiting.popLast(), let connection = callers.connections[slot]
            else {
                continue
            }
            callers.connections.dismiss(connection.id, .stopping, &context)
        }
        // The output for the last group leaves with this turn, so the end is in a later one.
        let isLate = !hasClients && context.loop.now >= stop.deadline && !context.loop.isAmidFlush
        let isAlone = clientConnectionCount == 0 && hasNoConnectionElsewhere
        if isLate || isAlone, hasLeftLog() {
            context.counters.connectionsOpen = UInt64(context.loop.connectionCount)
            context.shared.counters[context.number].publish(&context.counters)
            context.log.write(
                .debug, "a loop has stopped", ("loop", context.number),
                ("connections", context.loop.connectionCount))
            finish()
            return
        }
        stop.armTimer(at: context.loop.now + StopSequence.interval, &context)
    }

    /// Stops the centers: asap entries of the current mode are posted (rule Q23).
    private mutating func terminateCenters() {
        // The other brokers continue them.
        if host.centers.log != nil { return }
        for position in 0..<host.centers.count {
            host.tell(.terminate, to: position, &context)
        }
    }

    /// Ends the loop with this event: its centers hand the store their last changes.
    mutating func finish() {
        guard context.life < .over else { return }
        let isSealed = context.life.isSealed
        // Messages of other loops for these centers came before the last connection closed.
        readMail()
        if context.life == .over { return }
        context.life = .over
        if isSealed { return }
        terminateCenters()
        host.handOver(&context)
        if context.shared.store == nil { countDiscarded() }
    }

    /// Logs how many queue entries are lost.
    private func countDiscarded() {
        let discarded = (0..<host.centers.count).reduce(0) { $0 + host.centers[$1].queueCount }
        if discarded > 0 {
            context.log.write(
                .warning, "queue entries are discarded: nothing lasts without a data directory",
                ("entries", discarded))
        }
    }

    /// Whether no other loop has a connection left that this loop's centers would answer.
    private var hasNoConnectionElsewhere: Bool {
        context.shared.counters.indices.allSatisfy {
            $0 == context.number || context.shared.counters[$0].read().connectionsOpen == 0
        }
    }
}
