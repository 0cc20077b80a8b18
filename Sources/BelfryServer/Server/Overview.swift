import BelfryCenter
import BelfryJSON
import BelfryStore
import BelfrySystem
import BelfryWire
import Synchronization

/// The state of the broker at one moment: `GET /v1/overview`.
///
/// Each figure is one of `/metrics`, or a limit of the configuration.
struct Overview {
    let source: MetricSource
    let history: CounterHistory
    /// The time of the figures, in milliseconds since 1970.
    let time: Int64
    /// The most connections that there may be.
    let connectionLimit: Int

    /// A member of a part.
    private enum Member {
        /// The sum of a metric's samples.
        case metric(String, String)
        /// Each sample of a metric, by its label.
        case samples(String)
        case limit(String, @Sendable (Overview) -> Int)
    }

    private static let parts: [(name: String, members: [Member])] = [
        (
            "connections",
            [.metric("open", "belfry_connections"), .limit("limit", \.connectionLimit)]
        ),
        ("clients", [.samples("belfry_clients"), .samples("belfry_client_states")]),
        (
            "observers",
            [
                .metric("count", "belfry_observers"),
                .limit("limit", \.source.configuration.observerLimit),
            ]
        ),
        ("responders", [.metric("count", "belfry_responders")]),
        ("asks", [.metric("open", "belfry_asks_open")]),
        (
            "values",
            [
                .metric("count", "belfry_values"), .metric("bytes", "belfry_value_bytes"),
                .limit("limitBytes", \.source.configuration.valueByteLimit),
            ]
        ),
        (
            "timers",
            [
                .metric("count", "belfry_timers"), .metric("bytes", "belfry_timer_bytes"),
                .limit("limitBytes", \.source.configuration.timerByteLimit),
            ]
        ),
        (
            "queue",
            [
                .metric("entries", "belfry_queue_entries"), .metric("bytes", "belfry_queue_bytes"),
                .limit("limitEntriesOfCenter", \.source.configuration.centerLimits.queueEntryLimit),
                .limit("limitBytes", \.source.configuration.queueByteLimit),
            ]
        ),
        (
            "held",
            [
                .metric("count", "belfry_held_notifications"),
                .metric("bytes", "belfry_held_bytes"),
                .limit("limitBytes", \.source.configuration.heldByteLimit),
            ]
        ),
        (
            "unsent",
            [
                .metric("bytes", "belfry_unsent_bytes"),
                .limit("limitBytes", \.source.configuration.unsentByteLimit),
            ]
        ),
        (
            "centers",
            [
                .metric("count", "belfry_centers"),
                .limit("limit", \.source.configuration.centerLimit),
            ]
        ),
        ("dropped", [.samples("belfry_lost_total")]),
    ]

    /// The names of all metrics in the overview.
    static var metrics: [String] {
        parts.flatMap(\.members).compactMap {
            switch $0 {
            case .metric(_, let metric), .samples(let metric): metric
            case .limit: nil
            }
        } + CounterHistory.counters.map(\.metric)
    }

    /// Appends the overview.
    ///
    /// - Parameter number: the series has only points with higher numbers.
    func append(since number: UInt64, to output: inout [UInt8]) {
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        appendState(to: &output, with: &writer)
        for part in Self.parts {
            writer.key(part.name, into: &output)
            writer.beginObject(into: &output)
            for member in part.members { append(member, to: &output, with: &writer) }
            writer.endObject(into: &output)
        }
        appendStore(to: &output, with: &writer)
        appendCertificate(to: &output, with: &writer)
        appendSeries(since: number, to: &output, with: &writer)
        writer.endObject(into: &output)
    }

    private func appendState(to output: inout [UInt8], with writer: inout JSONWriter) {
        writer.member("version", string: Release.version, into: &output)
        writer.time("startedAt", source.shared.figures.startedAt.milliseconds, into: &output)
        writer.time("asOf", time, into: &output)
        let readiness = Readiness(source.shared, source.configuration)
        writer.member("ready", bool: readiness.problem == nil, into: &output)
        let lifecycle = source.shared.lifecycle.load(ordering: .relaxed)
        writer.member("draining", bool: lifecycle > .ready, into: &output)
    }

    private func append(
        _ member: Member, to output: inout [UInt8], with writer: inout JSONWriter
    ) {
        switch member {
        case .metric(let name, let metric):
            let total = MetricGroup.byName[metric]?.total(of: source) ?? 0
            writer.member(name, integer: total, into: &output)
        case .samples(let metric):
            guard let metric = MetricGroup.byName[metric] else { return }
            for (word, sample) in zip(metric.words, metric.samples(source)) {
                writer.member(word, integer: UInt64(sample.number) ?? 0, into: &output)
            }
        case .limit(let name, let limit):
            writer.member(name, integer: limit(self), into: &output)
        }
    }

    private func appendStore(to output: inout [UInt8], with writer: inout JSONWriter) {
        guard source.shared.hasStore else { return writer.member(null: "store", into: &output) }
        let store = source.store
        writer.key("store", into: &output)
        writer.beginObject(into: &output)
        writer.member("accepts", bool: store.takesPromises, into: &output)
        writer.member("commits", integer: store.commitCount, into: &output)
        writer.member("failures", integer: store.failureCount, into: &output)
        writer.member(
            "waiting", integer: store.batchCount - min(store.batchCount, store.committedBatchCount),
            into: &output)
        writer.endObject(into: &output)
    }

    private func appendCertificate(to output: inout [UInt8], with writer: inout JSONWriter) {
        let end = source.shared.figures.certificateEnd.load(ordering: .relaxed)
        guard end != 0 else { return writer.member(null: "certificate", into: &output) }
        writer.key("certificate", into: &output)
        writer.beginObject(into: &output)
        writer.time("notAfter", end * 1_000, into: &output)
        writer.endObject(into: &output)
    }

    private func appendSeries(
        since number: UInt64, to output: inout [UInt8], with writer: inout JSONWriter
    ) {
        writer.key("series", into: &output)
        writer.beginObject(into: &output)
        writer.key("counters", into: &output)
        writer.beginArray(into: &output)
        for counter in CounterHistory.counters { writer.string(counter.name, into: &output) }
        writer.endArray(into: &output)
        let step = CounterHistory.step.components.seconds
        let dayStep = step * Int64(CounterHistory.pointsOfDayStep)
        for (name, step, points) in [
            ("recent", step, history.recent), ("day", dayStep, history.day),
        ] {
            writer.key(name, into: &output)
            writer.beginObject(into: &output)
            writer.member("step", integer: Int(step), into: &output)
            writer.key("points", into: &output)
            writer.beginArray(into: &output)
            for point in points where point.number > number {
                writer.beginArray(into: &output)
                writer.integer(point.number, into: &output)
                writer.integer(Int(point.time), into: &output)
                for value in point.values { writer.integer(value, into: &output) }
                writer.endArray(into: &output)
            }
            writer.endArray(into: &output)
            writer.endObject(into: &output)
        }
        writer.endObject(into: &output)
    }
}

extension CounterHistory {
    /// The values of the counters of a point.
    static func values(of source: MetricSource) -> [UInt64] {
        counters.map { MetricGroup.byName[$0.metric]?.total(of: source) ?? 0 }
    }
}
