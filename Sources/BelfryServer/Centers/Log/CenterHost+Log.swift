import BelfryCenter
import BelfryCluster
import BelfryWire
import Synchronization

// A broker's part in a shared log: its beginning and its end, and the state that it leaves.

/// An operation that makes a client of its connection.
protocol MakesClient: Operation {}

extension Connect: MakesClient {}
extension Resume: MakesClient {}

extension CenterHost {
    /// The reason why centers take no commands now; nil where they do.
    var logProblem: Problem? { centers.log?.unavailability.map { Problem($0) } }

    /// Starts or ends the broker's part in the log.
    mutating func takePart(_ event: SequencerEvent, _ context: inout LoopContext) {
        switch event {
        case .began:
            context.log.write(
                .info, "the broker takes part in the cluster",
                ("seat", centers.log?.seat ?? 0), ("index", centers.logIndex ?? 0))
            shared.askers.owners.takePart(seat: centers.log?.seat ?? 0)
            adoptInLog(&context)
            part.hasBegun = true
            guard centers.position(of: RoutedPath.defaultCenter) == nil else { return }
            shared.totals.centerCount.add(1, ordering: .relaxed)
            let epoch = context.random.hexadecimal(digitCount: 12)
            _ = centers.hand(
                .makeCenter(RoutedPath.defaultCenter, epoch: epoch), at: context.commandTime)
        case .broker(let name, let change): tell(of: name, change, &context)
        case .fenced(let reason):
            shared.cluster.withLock { $0.fences[reason, default: 0] += 1 }
            context.log.write(
                .warning, "the broker has lost the cluster: its clients are closed",
                ("reason", reason.rawValue))
            loseLog()
        case .stopped(let reason):
            context.log.write(
                .error, "the broker cannot go on with the cluster", ("reason", reason.sentence))
            loseLog()
            part.isOver = true
        case .left: part.isOver = true
        case .restored:
            context.log.write(
                .info, "the state of the cluster is restored",
                ("index", centers.logIndex ?? 0), ("centers", centers.count))
            schedule.watch(centers, &context)
        case .step, .failed, .refused: break
        }
    }

    /// Submits the limits of this broker for all brokers, if their revision is the highest.
    ///
    /// A broker that begins leaves again where the log has other limits of the same revision:
    /// neither set is the later one.
    mutating func adoptInLog(_ context: inout LoopContext) {
        guard let cluster = context.configuration.cluster else { return }
        let revision = UInt64(cluster.revision)
        let limits = context.configuration.heldCenterLimits
        let known = centers.limitsRevision
        if revision > known {
            _ = centers.hand(
                .configure(limits, revision: revision), at: context.commandTime)
        } else if limits == centers.limits {
            return
        } else if revision < known {
            context.log.write(
                .warning,
                "the limits of the cluster hold: those of this broker have a lower revision",
                ("revision", known), ("own", revision))
        } else if part.hasBegun {
            context.log.write(
                .error,
                "the cluster has other limits of this revision (--cluster-revision): theirs hold",
                ("revision", known))
        } else {
            part.conflict = """
                the cluster has other limits of centers, also with revision \(known): start this \
                broker with the options of the others, or with --cluster-revision \(known + 1) to \
                let all have its limits.
                """
            centers.log?.replicated.leave()
        }
    }

    /// Logs that all brokers have other limits of centers now.
    mutating func tellLimits(_ context: inout LoopContext) {
        let revision = centers.limitsRevision
        guard part.hasBegun, revision != part.toldRevision else { return }
        let hasChanged = part.toldRevision != 0
        part.toldRevision = revision
        if hasChanged {
            context.log.write(
                .info, "the cluster has other limits of centers", ("revision", revision))
        }
    }

    private func tell(of name: [UInt8], _ change: BrokerChange, _ context: inout LoopContext) {
        let node: (String, any LogValue) = ("node", String(decoding: name, as: UTF8.self))
        switch change {
        case .came: context.log.write(.info, "another broker takes part in the cluster", node)
        case .left: context.log.write(.info, "another broker has left the cluster", node)
        case .ended(let writer):
            context.log.write(
                .warning, "a broker was not heard, and its part in the cluster is ended", node,
                ("by", String(decoding: writer, as: UTF8.self)))
        }
    }

    private mutating func loseLog() {
        centers.forgetUnderWay()
        gone = []
        part.clientsMustGo = true
    }

    /// Disconnects a client that the log has shown after its connection had gone.
    mutating func endLost(
        _ lost: (client: UInt64, connection: ConnectionName), at position: Int,
        _ context: inout LoopContext
    ) {
        tell(
            .disconnect(
                client: lost.client, connection: lost.connection,
                appliedIndex: centers.log?.handedIndex),
            to: position, &context)
    }
}

extension Effects {
    /// The client that a command has made of a connection, or resumed on it.
    func client(
        of step: Shard.Step, in center: borrowing NotificationCenter
    ) -> (client: UInt64, connection: ConnectionName)? {
        switch outcome {
        case .resumed(let resumed): (resumed.row.id, resumed.row.connection)
        case .registered: center.client(step.number).map { ($0.id, $0.connection) }
        default: nil
        }
    }
}
