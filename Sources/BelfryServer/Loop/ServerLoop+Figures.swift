import BelfryLoop
import BelfrySystem
import Synchronization

// What is told of the broker as a whole, and what is noted for that.

extension ServerLoop {
    /// The metrics; all who ask in one turn are told the same, since making the text is much work.
    mutating func metrics() -> [UInt8] {
        if metricsText.isEmpty {
            accountForAllKept()
            metricsText = MetricGroup.text(of: metricSource())
        }
        return metricsText
    }

    /// How the broker stands now.
    func overview() -> Overview {
        Overview(
            source: metricSource(looksAtProcess: false),
            history: outbox.shared.figures.history.withLock { $0 },
            time: outbox.loop.wallNow.milliseconds,
            connectionLimit: outbox.shares.limits.connectionLimit)
    }

    /// Notes what all loops have counted, and does so again every few seconds.
    ///
    /// That is also when memory that was freed is looked for.
    mutating func noteHistory() {
        outbox.shared.trimmer.look()
        let values = CounterHistory.values(of: metricSource(looksAtProcess: false))
        let time = outbox.loop.wallNow.milliseconds
        outbox.shared.figures.history.withLock { $0.note(values, at: time) }
        _ = outbox.loop.schedule(
            at: outbox.loop.now + CounterHistory.step, LoopTimer.history.rawValue)
    }

    /// What this loop has counted now, and the others when their last turns ended.
    private func metricSource(looksAtProcess: Bool = true) -> MetricSource {
        let loops = outbox.shared.counters.enumerated().map { number, published in
            number == outbox.number ? outbox.counters : published.read()
        }
        return MetricSource(
            LoopSum(loops), outbox.shared, outbox.configuration, outbox.log,
            looksAtProcess: looksAtProcess)
    }
}
