import BelfrySystem

/// A metric of `/metrics`: its name, kind, help text, and the source of its samples.
///
/// No label comes from users, and every label exists from the start with 0, so that a rate begins
/// with the first fault.
struct Metric: Sendable {
    /// The type of the metric for Prometheus.
    enum Kind: String, Sendable {
        case counter, gauge, histogram, summary
    }

    /// A line of the page: the text behind the name, and the number.
    typealias Sample = (suffix: String, number: String)

    let name: String
    let kind: Kind
    /// The help text of `/metrics`: a sentence.
    let help: String
    /// More text for `Metrics.md`; it may be empty.
    var note = ""
    /// The name of the label; nil without one.
    var label: String?
    /// The values of the label; none where they are not the broker's.
    var words: [String] = []
    let samples: @Sendable (MetricSource) -> [Sample]

    static func counter<Number: BinaryInteger & SendableMetatype>(
        _ name: String, _ help: String, note: String = "",
        _ number: @escaping @Sendable (MetricSource) -> Number
    ) -> Metric {
        Metric(name: name, kind: .counter, help: help, note: note) { [("", "\(number($0))")] }
    }

    static func gauge<Number: BinaryInteger & SendableMetatype>(
        _ name: String, _ help: String, note: String = "",
        _ number: @escaping @Sendable (MetricSource) -> Number
    ) -> Metric {
        Metric(name: name, kind: .gauge, help: help, note: note) { [("", "\(number($0))")] }
    }

    /// A metric with a sample for each case of a type.
    static func each<Case: CaseIterable & Sendable, Number: BinaryInteger & SendableMetatype>(
        _ type: Case.Type, as label: String, _ word: @escaping @Sendable (Case) -> String,
        _ kind: Kind, _ name: String, _ help: String, note: String = "",
        _ number: @escaping @Sendable (MetricSource, Case) -> Number
    ) -> Metric {
        let words = type.allCases.map(word)
        return Metric(name: name, kind: kind, help: help, note: note, label: label, words: words) {
            source in
            zip(words, type.allCases).map { word, one in
                ("{\(label)=\"\(word)\"}", "\(number(source, one))")
            }
        }
    }

    static func histogram(
        _ name: String, _ help: String, note: String = "",
        _ times: @escaping @Sendable (MetricSource) -> TimeHistogram
    ) -> Metric {
        Metric(name: name, kind: .histogram, help: help, note: note) { source in
            func seconds(_ duration: Duration) -> String { "\(Double(duration.nanoseconds) / 1e9)" }
            let times = times(source)
            var count: UInt64 = 0
            var samples: [Sample] = []
            for (bound, part) in zip(times.bounds.map(seconds) + ["+Inf"], times.counts) {
                count += part
                samples.append(("_bucket{le=\"\(bound)\"}", "\(count)"))
            }
            return samples + [("_sum", seconds(times.total)), ("_count", "\(count)")]
        }
    }

    /// A metric with a sum and a count.
    static func summary(
        _ name: String, _ help: String,
        _ numbers: @escaping @Sendable (MetricSource) -> (sum: UInt64, of: UInt64)
    ) -> Metric {
        Metric(name: name, kind: .summary, help: help) { source in
            let (sum, count) = numbers(source)
            return [("_sum", "\(sum)"), ("_count", "\(count)")]
        }
    }

    /// The sum of all samples.
    func total(of source: MetricSource) -> UInt64 {
        samples(source).reduce(0) { $0 + (UInt64($1.number) ?? 0) }
    }

    /// The lines of the metric in the text format of Prometheus.
    func lines(of source: MetricSource) -> String {
        var lines = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples(source) { lines += "\(name)\(sample.suffix) \(sample.number)\n" }
        return lines
    }
}

/// Metrics of one subject.
struct MetricGroup: Sendable {
    let title: String
    /// The note of `Metrics.md` on all of them; it may be empty.
    let note: String
    /// Whether the broker has the subject.
    let isThere: @Sendable (MetricSource) -> Bool
    let metrics: [Metric]

    init(
        _ title: String, note: String = "",
        if isThere: @escaping @Sendable (MetricSource) -> Bool = { _ in true }, _ metrics: [Metric]
    ) {
        self.title = title
        self.note = note
        self.isThere = isThere
        self.metrics = metrics
    }

    /// The metrics by their names.
    static let byName = Dictionary(
        uniqueKeysWithValues: all.flatMap(\.metrics).map { ($0.name, $0) })

    /// All metrics of a broker in the text format of Prometheus.
    static func text(of source: MetricSource) -> [UInt8] {
        var text = ""
        for group in all where group.isThere(source) {
            for metric in group.metrics { text += metric.lines(of: source) }
        }
        return Array(text.utf8)
    }
}
