import BelfryCenter
import BelfryCluster
import BelfryLoop
import BelfrySystem
import Synchronization

// Figures of the broker as a whole, and their sampling.

extension ServerLoop {
    /// The metrics; all requests of one turn get the same text, since making it is much work.
    mutating func metrics() -> [UInt8] {
        if metricsText.isEmpty {
            accountForAllKept()
            metricsText = MetricGroup.text(of: metricSource())
        }
        return metricsText
    }

    /// The state of the broker now.
    func overview() -> Overview {
        Overview(
            source: metricSource(looksAtProcess: false),
            history: context.shared.figures.history.withLock { $0 },
            time: context.loop.wallNow.milliseconds,
            connectionLimit: context.shares.limits.connectionLimit)
    }

    /// Records the counters of all loops, and schedules itself every few seconds.
    ///
    /// It also looks for memory that was freed.
    mutating func noteHistory() {
        context.shared.trimmer.look()
        let values = CounterHistory.values(of: metricSource(looksAtProcess: false))
        let time = context.loop.wallNow.milliseconds
        context.shared.figures.history.withLock { $0.note(values, at: time) }
        _ = context.loop.schedule(
            at: context.loop.now + CounterHistory.step, LoopTimer.history.rawValue)
    }

    /// The counters of this loop now, and of the others as of the end of their last turns.
    private func metricSource(looksAtProcess: Bool = true) -> MetricSource {
        let loops = context.shared.counters.enumerated().map { number, published in
            number == context.number ? context.counters : published.read()
        }
        return MetricSource(
            LoopSum(loops), context.shared, context.configuration, context.log,
            looksAtProcess: looksAtProcess)
    }

    /// The state of the broker in its cluster; nil without one.
    var clusterStatus: ClusterStatus? {
        guard let log = host.centers.log else { return nil }
        let shard = host.centers.shard
        return ClusterStatus(
            node: String(decoding: log.replicated.options.node, as: UTF8.self),
            life: log.replicated.life, reason: log.unavailability?.word, index: shard.logIndex,
            lag: log.replicated.lag,
            digest: shard.chain, level: shard.level, brokers: shard.brokers,
            leader: engine?.journal.leader ?? "", syncsAlways: monitor?.syncsAlways)
    }
}
