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
            history: outbox.shared.figures.history.withLock { $0 },
            time: outbox.loop.wallNow.milliseconds,
            connectionLimit: outbox.shares.limits.connectionLimit)
    }

    /// Records the counters of all loops, and schedules itself every few seconds.
    ///
    /// It also looks for memory that was freed.
    mutating func noteHistory() {
        outbox.shared.trimmer.look()
        let values = CounterHistory.values(of: metricSource(looksAtProcess: false))
        let time = outbox.loop.wallNow.milliseconds
        outbox.shared.figures.history.withLock { $0.note(values, at: time) }
        _ = outbox.loop.schedule(
            at: outbox.loop.now + CounterHistory.step, LoopTimer.history.rawValue)
    }

    /// The counters of this loop now, and of the others as of the end of their last turns.
    private func metricSource(looksAtProcess: Bool = true) -> MetricSource {
        let loops = outbox.shared.counters.enumerated().map { number, published in
            number == outbox.number ? outbox.counters : published.read()
        }
        return MetricSource(
            LoopSum(loops), outbox.shared, outbox.configuration, outbox.log,
            looksAtProcess: looksAtProcess)
    }
}
