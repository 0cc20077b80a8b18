import BelfryCenter
import BelfryCluster
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

// The part of the loop that applies the log of a cluster: it passes the time, and closes clients
// when their broker no longer takes part.

extension ServerLoop {
    /// The interval at which the log checks its deadlines.
    private static let logInterval: Duration = .milliseconds(50)

    /// The number of connections besides those to the engine.
    var clientConnectionCount: Int {
        context.loop.connectionCount - (engine?.connection == nil ? 0 : 1)
            - (monitor?.connection == nil ? 0 : 1)
    }

    /// Begins with the log; the timer repeats itself.
    mutating func beginLog() {
        guard host.centers.log != nil else { return }
        context.shared.cluster.withLock { $0.unavailability = .catchingUp }
        _ = context.loop.schedule(at: context.loop.now, LoopTimer.log.rawValue)
    }

    /// Applies the news of the engine.
    mutating func hearEngine() {
        applyInOrder()
        context.loop.takeAnotherTurn()
    }

    /// Takes an event of the connections to the engine.
    ///
    /// - Returns: whether the event is of one of them.
    mutating func takeFromEngine(_ event: LoopEvent, input: Span<UInt8>) -> Bool {
        if monitor?.take(event, input: input, &context) == true { return true }
        guard engine?.take(event, input: input, &context) == true else { return false }
        hearEngine()
        return true
    }

    /// Passes the time to the log and its connections.
    mutating func tickLog() {
        guard let log = host.centers.log else { return }
        log.now = context.loop.now
        monitor?.tick(&context)
        if let fault = monitorFault { return fail(fault) }
        // A start waits for the first answers of its servers, which takes a moment.
        if monitor?.hasAskedAll ?? true { engine?.tick(&context) }
        if let failure = engine?.failure { return fail("the engine of the cluster: \(failure)") }
        applyInOrder()
        host.centers.tickLog()
        applyInOrder()
        if let conflict = host.part.conflict, host.part.isOver { return fail(conflict) }
        host.tellLimits(&context)
        host.lookAtFarewells(&context)
        noteClusterFigures()
        _ = context.loop.schedule(
            at: context.loop.now + Self.logInterval, LoopTimer.log.rawValue)
    }

    /// Updates the figures of the cluster for the metrics.
    private func noteClusterFigures() {
        guard let log = host.centers.log else { return }
        let shard = host.centers.shard
        context.shared.cluster.withLock { figures in
            figures.isReady = log.unavailability == nil
            figures.index = shard.logIndex
            figures.lag = log.replicated.lag
            figures.level = shard.level
            let upCount = shard.brokers.count { $0.isUp }
            figures.nodes = [.up: upCount, .down: shard.brokers.count - upCount]
            figures.appends = log.appendFigures
            figures.holeCount = log.replicated.holeCount
            figures.logByteCount = engine?.journal.logByteCount ?? 0
            figures.snapshotAge = engine?.snapshotAge(at: context.loop.now) ?? .zero
            figures.configurationDiffers = shard.limits != context.configuration.heldCenterLimits
        }
    }

    /// The reason why the broker cannot begin, by the monitor's findings; nil where it can.
    private var monitorFault: String? {
        guard !host.part.hasBegun, context.configuration.durability == .power,
            let lazy = monitor?.lazyServer
        else { return nil }
        return """
            the engine's server with the monitor \(lazy) answers before it has written to its \
            disk: set sync_interval to "always" there, or say --durability process.
            """
    }

    /// Ends the loop, as an option must be changed first.
    private mutating func fail(_ sentence: String) {
        failure = .cluster(sentence)
        finish()
    }

    /// Makes the log continue with the state of this broker, for an admin; answers with the status.
    mutating func recoverCluster(for id: ConnectionID) {
        guard let log = host.centers.log else { return }
        if let reason = log.unavailability {
            guard log.replicated.recover(at: context.loop.now.nanoseconds) else {
                return callers.refuseRequest(id, Problem(reason), of: nil, &context)
            }
            host.part.isOver = false
            context.log.write(
                .warning, "an admin lets the log go on with the state of this broker",
                ("index", host.centers.shard.logIndex))
        }
        if let status = clusterStatus { callers.send(status, to: id, &context) }
    }

    /// Applies the entries that have come in the order of all brokers.
    mutating func applyInOrder() {
        host.centers.log?.now = context.loop.now
        host.applyInOrder(&context)
        context.logTimeOffset = host.centers.log?.timeOffset
        context.seat = host.centers.log?.seat ?? 0
        if host.part.clientsMustGo { letAllGo() }
    }

    /// Hands the log the collected commands, once all applied effects are on their way.
    mutating func endTurnOfLog() {
        host.centers.endTurnOfLog()
        engine?.send(&context)
        let state = host.centers.log?.unavailability
        guard state != host.part.told else { return }
        host.part.told = state
        context.shared.cluster.withLock { $0.unavailability = state }
    }

    /// Closes all clients of a broker that no longer takes part, and hears no posts.
    ///
    /// Waiting requests are answered; clients of streams find another broker.
    private mutating func letAllGo() {
        host.part.clientsMustGo = false
        host.answerCompletions(&context)
        // The log does not tell a later life what an earlier one waited for.
        host.refuse(host.completions.takeAll(), Problem(CommandFailure.unknownOutcome), &context)
        for slot in 0..<callers.connections.slotCount {
            guard let connection = callers.connections[slot], !connection.isClosing,
                connection.kind != .http
            else { continue }
            callers.connections.dismiss(connection.id, .clusterLost, &context)
        }
        host.releaseAllWaits(&context)
        react()
    }

    /// Seals a broker that shares a log: it takes nothing new, and its clients go before it does.
    ///
    /// The log must hear how far each connection was written.
    mutating func sealLog() {
        guard !host.centers.isWaiting || context.loop.now >= stop.sealDeadline else {
            return stop.armTimer(at: context.loop.now + StopSequence.interval, &context)
        }
        context.life = .sealed
        stop.isReleased = true
        context.shared.life.store(.released, ordering: .relaxed)
        letClientsGo()
    }

    /// Whether the broker has left the log; it begins to leave when its last client has gone.
    mutating func hasLeftLog() -> Bool {
        guard let log = host.centers.log, !host.part.isOver else { return true }
        log.replicated.leave()
        return context.loop.now >= stop.deadline + StopSequence.patience
    }
}
