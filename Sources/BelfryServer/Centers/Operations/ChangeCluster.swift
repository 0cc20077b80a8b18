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
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        guard let log = host.centers.log else { throw Problem.noCluster }
        let action: ShardCommand.Action =
            switch change {
            case .upgrade: log.replicated.levelAction
            case .applyConfiguration:
                .configure(
                    context.configuration.heldCenterLimits,
                    revision: host.centers.limitsRevision + 1)
            }
        host.applied.id = host.centers.hand(action, at: context.commandTime)
        context.loop.takeAnotherTurn()
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
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
            if host.centers.limits != context.configuration.heldCenterLimits {
                throw Problem(
                    .overloaded, "Another change of the limits came first; try again.")
            }
        }
        context.log.write(
            .info, "an admin has changed the cluster", ("level", host.centers.level),
            ("revision", host.centers.limitsRevision))
        var writer = JSONWriter()
        writer.beginObject(into: &answer.content)
        writer.member("level", integer: host.centers.level, into: &answer.content)
        writer.member("revision", integer: host.centers.limitsRevision, into: &answer.content)
        writer.endObject(into: &answer.content)
        return .answered
    }
}

extension Problem {
    /// The problem of a broker without a cluster.
    static var noCluster: Problem {
        Problem(.notFound, "The broker belongs to no cluster (--engine).")
    }
}
