import BelfryCenter
import BelfryCluster
import BelfryHistory
import SimulatedLog

// The faults: brokers die, pause and are cut off, the engine loses its leader and its room, clocks
// jump.

extension ClusterWorld {
    func disturb() throws(Violation) {
        for node in nodes where node.cutSince != nil && node.healsAt <= now { heal(node) }
        guard now >= stillUntil, dice.oneIn(5), let node = dice.pick(nodes) else { return }
        let duration = Int64(dice.below(dice.oneIn(3) ? 6_000 : 700)) * 1_000_000
        switch dice.below(15) {
        case 0, 1:
            guard let process = node.process else { return }
            tell("n\(node.number) dies")
            end(node, process, isOrderly: false)
        case 2, 3:
            tell("n\(node.number) stands still for \(duration / 1_000_000) ms")
            node.standsStillUntil = now + duration
            // Less than a key is remembered: an entry may be believed that says so much.
            if !hasWildClock, dice.oneIn(4) {
                node.clockOffset += Int64(dice.below(200_000)) * 1_000_000
                hasWildClock = true
            }
        case 4, 5:
            tell("n\(node.number) is cut off for \(duration / 1_000_000) ms")
            cut(node, until: now + duration)
        case 6:
            guard let other = dice.pick(nodes), other !== node else { return }
            tell("n\(node.number) and n\(other.number) lose each other")
            node.process?.journal.cutPeers.insert(other.number)
            other.process?.journal.cutPeers.insert(node.number)
        case 7:
            // An election of JetStream may take nine seconds.
            let election =
                dice.oneIn(3) ? Int64(dice.number(in: 6_000...9_500)) * 1_000_000 : duration
            tell("the engine loses its leader for \(election / 1_000_000) ms")
            engine.loseLeader(for: election)
        case 8, 9:
            tell("n\(node.number) is to leave")
            if let process = node.process { leave(node, process) }
        case 10:
            tell("the engine is full for \(duration / 1_000_000) ms")
            // Attempts from before that may be in the log come late, are not heard of, or are known
            // no more.
            if dice.oneIn(2) { try appendUnheard(node) }
            engine.fill(for: max(duration, 600_000_000))
            if dice.oneIn(2) { engine.loseLeader(for: duration / 2) }
        case 11:
            tell("n\(node.number) dies again and again for \(duration / 1_000_000) ms")
            node.crashesUntil = now + duration
        case 12, 13: unplug(node)
        default:
            guard let process = node.process else { return }
            askedLevel = Self.latestLevel
            submit(.level(askedLevel), process)
        }
    }

    /// A broker appends, but hears neither the engine nor the others.
    ///
    /// The engine's next leader may not know the names of these entries.
    private func appendUnheard(_ node: ClusterNode) throws(Violation) {
        for other in nodes where other !== node {
            node.process?.journal.cutPeers.insert(other.number)
        }
        for _ in 0..<3 { post(at: node) }
        try pass(engine.faults.delay)
        node.process?.journal.drop()
        engine.loseLeader(for: 0)
    }

    /// Lets a broker close all connections in order, log how far each was written, and leave.
    private func leave(_ node: ClusterNode, _ process: ClusterProcess) {
        for number in process.connections.keys.sorted() {
            guard let connection = process.connections[number], connection.endedAt == nil else {
                continue
            }
            if isThere(connection.program, at: number, of: node) {
                receive(connection.written, connection.program)
                process.connections[number]?.written = []
                leavePlace(connection.program)
            }
            disconnect(number, endedAt: process.shard.logIndex, process)
        }
        process.sequencer.leave()
    }

    /// A broker loses all programs at once, while it has much to write, and perhaps dies soon.
    private func unplug(_ node: ClusterNode) {
        guard let process = node.process else { return }
        tell("n\(node.number) loses its programs")
        for _ in 0..<dice.below(12) { post(at: node) }
        for place in programs.indices where programs[place].place?.node == node.number {
            leave(place, isNoticed: true)
        }
        if dice.oneIn(2) { process.restOfLife = dice.below(30) }
    }

    private func cut(_ node: ClusterNode, until time: Int64) {
        node.cutSince = now
        node.healsAt = time
        if dice.oneIn(3) {
            // No other fault happens until each program must have been let go.
            stillUntil = now + Int64(dice.number(in: 3_000...5_000)) * 1_000_000
            node.healsAt = stillUntil
        }
        node.process?.journal.isCut = true
        node.process?.journal.hearsItself = dice.oneIn(2)
        node.process?.journal.drop()
        // A late report about a connection must not hold for the next one, at another broker.
        for place in programs.indices
        where programs[place].place?.node == node.number && dice.oneIn(3) {
            suspend(place)
            leave(place, isNoticed: false)
            connect(place)
        }
    }

    func heal(_ node: ClusterNode) {
        if let process = node.process, let cutSince = node.cutSince {
            // The connection lasts where a part of the engine was cut off with the broker.
            let lasts =
                process.journal.hearsItself && now - cutSince > process.sequencer.options.fenceAfter
            process.journal.heal(isReconnected: !lasts)
        }
        node.cutSince = nil
        if !isDisturbed { node.process?.journal.cutPeers = [] }
    }
}
