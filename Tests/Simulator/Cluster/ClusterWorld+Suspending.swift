import BelfryCenter
import BelfryCluster
import BelfryHistory

// Clients are suspended and go on: what their connections have said must not hold for later ones.

extension ClusterWorld {
    /// A program asks for suspension, or its broker finds that it does not read.
    ///
    /// - Parameter place: which program; nil is any.
    func suspend(_ place: Int? = nil) {
        guard let place = place ?? dice.pick(programs)?.number, programs[place].isReady else {
            return
        }
        if dice.oneIn(2) {
            tell("program \(place) asks for suspension")
            count("suspensions asked for")
            programs[place].suspensionCount += 1
            submit(onConnectionOf: place, { .setSuspended(client: $0, true) })
        } else if let at = programs[place].place, let process = nodes[at.node].process {
            tell("program \(place) is slow")
            count("slow connections")
            process.connections[at.connection]?.isSlow = true
            submit(onConnectionOf: place, { .becomeSlow(client: $0) })
        }
    }

    /// Some programs want to go on; some sockets have room again.
    func goOn() {
        for place in programs.indices where programs[place].isReady && dice.oneIn(2) {
            guard let at = programs[place].place, let process = nodes[at.node].process else {
                continue
            }
            let count = programs[place].suspensionCount
            if programs[place].endedSuspensionCount < count {
                submit(
                    onConnectionOf: place, { .setSuspended(client: $0, false) },
                    for: .goOn(connection: at.connection, suspensionCount: count))
            }
            if process.connections[at.connection]?.isSlow == true {
                process.connections[at.connection]?.isSlow = false
                submit(onConnectionOf: place, { .drain(client: $0) })
            }
        }
    }

    /// Submits what counts only while the connection of a program is that of its client.
    private func submit(
        onConnectionOf place: Int, _ action: (_ client: UInt64) -> Command.Action,
        for request: ClusterRequest = .other
    ) {
        guard let at = programs[place].place, let process = nodes[at.node].process,
            let client = process.connections[at.connection]?.client,
            process.shard.level >= Shard.levelThree
        else { return }
        let connection = ConnectionName(node: process.sequencer.seat, number: at.connection)
        submit(
            .tell(
                center: programs[place].center,
                .onConnection(
                    ClientConnection(client: client, connection: connection), action(client))),
            process, for: request)
    }

    /// Notes in the log that a suspension of a program has ended.
    func noteGoingOn(
        _ connection: UInt64, suspensionCount: Int, _ node: ClusterNode,
        _ process: ClusterProcess
    ) {
        guard case .done = process.effects.outcome,
            let place = process.connections[connection]?.program,
            isThere(place, at: connection, of: node)
        else { return }
        programs[place].endedSuspensionCount = max(
            programs[place].endedSuspensionCount, suspensionCount)
    }
}
