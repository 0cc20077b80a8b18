import BelfryAccess
import BelfryCenter
import BelfryCluster
import BelfryJSON
import BelfryLoop
import BelfryWire

/// A change of the whole cluster (POST /v1/cluster/upgrade and /v1/cluster/apply-config).
struct ChangeCluster: Operation {
    static let answersFirst = false
    static let isPromise = false
    let change: ClusterChange

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        guard let log = host.centers.log else { throw Problem.noCluster }
        let action: ShardCommand.Action =
            switch change {
            case .upgrade: log.replicated.levelAction
            case .applyConfiguration:
                .configure(
                    outbox.configuration.centerLimits, revision: host.centers.limitsRevision + 1)
            }
        host.applied.id = host.centers.hand(action, at: outbox.commandTime)
        outbox.loop.takeAnotherTurn()
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Ending {
        let level = host.centers.log?.replicated.options.level ?? 0
        switch change {
        case .upgrade:
            if host.centers.level < level {
                throw Problem(
                    .storeUnavailable,
                    """
                    A broker of the cluster does not know level \(level); upgrade all brokers first.
                    """, members: [Problem.Member("reason", string: Array("too-old".utf8))])
            }
        case .applyConfiguration:
            // Another admin has changed them at the same time.
            if host.centers.limits != outbox.configuration.centerLimits {
                throw Problem(
                    .overloaded, "Another change of the limits came first; try again.")
            }
        }
        outbox.log.write(
            .info, "an admin has changed the cluster", ("level", host.centers.level),
            ("revision", host.centers.limitsRevision))
        var writer = JSONWriter()
        writer.beginObject(into: &outbox.content)
        writer.member("level", integer: host.centers.level, into: &outbox.content)
        writer.member("revision", integer: host.centers.limitsRevision, into: &outbox.content)
        writer.endObject(into: &outbox.content)
        return .answer(.json)
    }
}

extension Problem {
    /// The problem of a broker without a cluster.
    static var noCluster: Problem {
        Problem(.notFound, "The broker belongs to no cluster (--engine).")
    }
}
