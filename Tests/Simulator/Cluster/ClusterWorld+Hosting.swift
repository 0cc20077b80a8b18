import BelfryCenter
import BelfryCluster
import BelfryHistory
import SimulatedLog

// The reactions of a broker to its sequencer: `BelfryServer` does this for sockets, here it is for
// pipes.

extension ClusterWorld {
    func act(
        on happening: ReplicatedSequencer.Happening, _ node: ClusterNode, _ process: ClusterProcess
    ) throws(Violation) {
        switch happening {
        case .loaded:
            tell("n\(node.number) has loaded \(process.shard.logIndex)")
            count("snapshots loaded")
        case .step(let step): try take(step, node, process)
        case .failed(let id, let failure): take(failure, id, node, process)
        case .began(let seat):
            tell("n\(node.number) is up, seat \(seat)")
            count("lives begun")
            if node.crashesUntil > now { process.restOfLife = dice.below(20) }
        case .broker(let name, let change):
            tell("n\(node.number) hears of \(name): \(change)")
        case .fenced(let reason):
            tell("n\(node.number) is fenced: \(reason)")
            count("lives fenced: \(reason)")
            try judgeFence(reason, node)
            closeAll(node, process)
        case .left: tell("n\(node.number) has left")
        case .stopped(let reason):
            tell("n\(node.number) stops: \(reason)")
            closeAll(node, process)
            try judgeStop(reason, node)
        }
    }

    /// All connections are closed in order: what was written arrives.
    func closeAll(_ node: ClusterNode, _ process: ClusterProcess) {
        for (number, connection) in process.connections {
            let place = connection.program
            programs[place].isInDoubt = true
            guard isThere(place, at: number, of: node) else {
                lose(connection.written)
                continue
            }
            receive(connection.written, place)
            leavePlace(place)
        }
        process.connections = [:]
        process.requests = [:]
    }

    private func take(
        _ step: Shard.Step, _ node: ClusterNode, _ process: ClusterProcess
    ) throws(Violation) {
        let index = process.shard.logIndex
        if process.steppedIndex != index {
            process.steppedIndex = index
            process.stepCount = 0
        }
        process.stepCount += 1
        try note(step, process)
        let seat = process.sequencer.seat
        if let id = step.id, id.node == seat, let request = process.requests[id] {
            process.requests[id] = nil
            // Its center was not made: the command that makes it came to nothing.
            if case .noCenter = step.result {
                process.requests[id] = request
                take(.unavailable(.full), id, node, process)
            } else {
                try answer(request, step, node, process)
            }
        }
        guard seat != 0 else { return }
        process.effects.keepOnly(node: seat)
        for notice in process.effects.notices { tell(notice, process) }
        for delivery in process.effects.deliveries {
            let notification = process.effects.notifications[Int(delivery.notification)]
            write(
                .notification(
                    observer: delivery.observer, sequence: notification.sequence,
                    isRedelivered: delivery.isRedelivered,
                    askedAt: delivery.form == .acknowledged ? index : nil),
                to: delivery.connection.number, process)
        }
    }

    private func write(_ frame: ClusterFrame, to connection: UInt64, _ process: ClusterProcess) {
        // A connection that has ended is written nothing.
        guard process.connections[connection]?.endedAt == nil else { return }
        process.connections[connection]?.written.append(frame)
    }

    private func tell(_ notice: Notice, _ process: ClusterProcess) {
        switch notice {
        case .gap(let connection, _, let gap): write(.gap(gap), to: connection.number, process)
        case .takenOver(let connection, _), .clientRemoved(let connection, _):
            guard let taken = process.connections[connection.number] else { return }
            process.connections[connection.number] = nil
            // It is closed with 4001, and the program comes back.
            if let at = programs[taken.program].place, at.connection == connection.number,
                nodes[at.node].process === process
            {
                receive(taken.written, taken.program)
                leavePlace(taken.program)
            } else {
                lose(taken.written)
            }
            programs[taken.program].isInDoubt = true
        case .flushFollows(let client, let connection), .flushGoesOn(let client, let connection):
            guard let program = process.connections[connection.number]?.program else { return }
            submit(.tell(center: programs[program].center, .drain(client: client)), process)
        case .removed, .readerReplaced, .mailboxFilled, .settled: break
        }
    }

    // MARK: Requests

    @discardableResult
    func submit(
        _ action: ShardCommand.Action, _ process: ClusterProcess,
        for request: ClusterRequest = .other
    ) -> Result<CommandID, Unavailability> {
        commandCount += 1
        guard let node = nodes.first(where: { $0.process === process }) else {
            return .failure(.draining)
        }
        do {
            let id = try process.sequencer.submit(action, at: node.time(at: now))
            process.requests[id] = request
            return .success(id)
        } catch {
            return .failure(error)
        }
    }

    private func answer(
        _ request: ClusterRequest, _ step: Shard.Step, _ node: ClusterNode,
        _ process: ClusterProcess
    ) throws(Violation) {
        switch request {
        case .connect(let number):
            guard let connection = process.connections[number] else { return }
            process.connections[number]?.client = step.number
            if let endedAt = connection.endedAt {
                return disconnect(number, endedAt: endedAt, process)
            }
            let place = connection.program
            guard isThere(place, at: number, of: node) else { return }
            guard let client = programs[place].client else {
                programs[place].client = step.number
                programs[place].isReady = true
                return
            }
            let after = programs[place].saysSeen ? programs[place].lastSeen : nil
            tell(
                "program \(place) resumes as \(client) at n\(node.number), after \(after ?? 0)"
            )
            let result = submit(
                .tell(
                    center: programs[place].center,
                    .resume(
                        Resumption(
                            newcomer: step.number, client: client, after: after,
                            appliedIndex: process.shard.logIndex))),
                process, for: .resume(connection: number))
            if case .success(let id) = result {
                resumes[id] = (place, after)
                process.connections[number]?.isResuming = true
            }
        case .resume(let number): try answerResume(on: number, node, process)
        case .post(let post, _): try noteAnswer(post, process)
        case .makeTicket(let number): try noteTicket(number, step.result, process)
        case .ticket(let number): try noteUse(of: number, step.result, process)
        case .goOn(let number, let count):
            noteGoingOn(number, suspensionCount: count, node, process)
        case .other: break
        }
    }

    /// A client is back on a connection, or the log does not know it.
    private func answerResume(
        on number: UInt64, _ node: ClusterNode, _ process: ClusterProcess
    ) throws(Violation) {
        process.connections[number]?.isResuming = false
        guard let connection = process.connections[number] else { return }
        let place = connection.program
        switch process.effects.outcome {
        case .resumed:
            process.connections[number]?.client = programs[place].client
            // It sees the frames that are written to the connection from now on.
            if connection.endedAt == nil, isThere(place, at: number, of: node) {
                programs[place].isReady = true
            }
        case .refused(.unknownClient):
            // An answer may come late, when the program is another client at another broker.
            guard isThere(place, at: number, of: node) else { break }
            let observers = truth.accounts.values.filter {
                $0.program == place && !$0.isRemoved
            }
            if !isRewound, !observers.isEmpty {
                throw fail("program \(place) cannot come back, and has observers")
            }
            programs[place].client = connection.client
            programs[place].isReady = true
        default:
            if isRewound { return }
            throw fail("a resume of program \(place) ended with \(process.effects.outcome)")
        }
        if let endedAt = connection.endedAt {
            disconnect(number, endedAt: endedAt, process)
        }
    }

    /// Whether a program is at a connection still.
    func isThere(_ place: Int, at connection: UInt64, of node: ClusterNode) -> Bool {
        programs[place].place?.node == node.number
            && programs[place].place?.connection == connection
    }

    /// A connection has ended, and its broker has noticed.
    func disconnect(_ number: UInt64, endedAt: UInt64, _ process: ClusterProcess) {
        guard let connection = process.connections[number] else { return }
        process.connections[number]?.endedAt = endedAt
        // Its client has no number yet, or is about to be another one: the answer comes.
        guard let client = connection.client, !connection.isResuming else {
            programs[connection.program].isInDoubt = true
            return
        }
        process.connections[number] = nil
        lose(connection.written)
        tell(
            "connection \(number) of program \(connection.program) has ended, written to \(endedAt)"
        )
        let result = submit(
            .tell(
                center: programs[connection.program].center,
                .disconnect(
                    client: client,
                    connection: ConnectionName(node: process.sequencer.seat, number: number),
                    appliedIndex: endedAt)),
            process)
        switch result {
        case .success(let id): programs[connection.program].openEnds.insert(id)
        case .failure: programs[connection.program].isInDoubt = true
        }
    }

    private func take(
        _ failure: CommandFailure, _ id: CommandID, _ node: ClusterNode, _ process: ClusterProcess
    ) {
        guard let request = process.requests[id] else { return }
        process.requests[id] = nil
        count("commands failed: \(failure == .unknownOutcome ? "unknown outcome" : "unavailable")")
        switch request {
        case .connect(let number), .resume(let number):
            tell("n\(node.number) cannot take a connection: \(failure)")
            guard let connection = process.connections[number] else { return }
            let place = connection.program
            if programs[place].place?.connection == number,
                programs[place].place?.node == node.number
            {
                // A client of which the log knows nothing may have taken it over.
                loseTail(of: connection, place)
                leavePlace(place)
            }
            let endedAt = connection.endedAt ?? process.shard.logIndex
            if failure == .unknownOutcome {
                // It may be in the log: then its client goes as soon as it comes.
                process.connections[number]?.endedAt = endedAt
                process.requests[id] = request
            } else {
                process.connections[number]?.isResuming = false
                disconnect(number, endedAt: endedAt, process)
            }
        case .post(let post, let id): noteFailure(failure, of: post, id)
        case .makeTicket, .ticket, .goOn, .other: break
        }
    }

    /// A broker's process is over: at once, or when it has left in order.
    func end(_ node: ClusterNode, _ process: ClusterProcess, isOrderly: Bool) {
        for (number, connection) in process.connections {
            let place = connection.program
            programs[place].isInDoubt = true
            guard isThere(place, at: number, of: node) else {
                lose(connection.written)
                continue
            }
            if isOrderly {
                receive(connection.written, place)
            } else {
                loseTail(of: connection, place)
            }
            leavePlace(place)
        }
        process.journal.isClosed = true
        process.journal.drop()
        node.process = nil
        // A supervisor restarts a process at once; a machine takes its time.
        let isQuick = node.crashesUntil > now || dice.oneIn(4)
        // Its program may be replaced meanwhile.
        if dice.oneIn(2) { node.level = Self.latestLevel }
        node.startsAt = now + Int64(dice.below(isQuick ? 40 : 6_000)) * 1_000_000
    }
}
