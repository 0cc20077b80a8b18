import BelfryClient
import BelfryJSON

/// The measurements of a run.
struct BenchResult: Sendable {
    /// The notifications that one observer got.
    struct Watch: Sendable {
        var check: SequenceCheck
        var latencies = LatencyHistogram()
        var failure: ClientError?

        init(laneCount: Int) {
            check = SequenceCheck(laneCount: laneCount)
        }
    }

    let duration: Duration
    let posts: Int
    let failures: Int
    private(set) var firstFailure: ClientError?
    private(set) var deliveries = 0
    private(set) var lost = 0
    private(set) var repeated = 0
    private(set) var misordered = 0
    /// From the post to its receipt.
    var receipts = LatencyHistogram()
    /// From the post to its observer.
    private(set) var latencies = LatencyHistogram()

    init(duration: Duration, progress: BenchRun.Progress) {
        self.duration = duration
        posts = progress.posts
        failures = progress.failures
        firstFailure = progress.firstFailure
    }

    /// Adds what one observer got of what the lanes posted.
    mutating func add(_ watch: Watch, of counts: [Int]) {
        deliveries += watch.check.received
        lost += watch.check.missing(of: counts)
        repeated += watch.check.repeated
        misordered += watch.check.misordered
        latencies.add(watch.latencies)
        firstFailure = firstFailure ?? watch.failure
    }

    /// The fault of the run, if any.
    var fault: String? {
        var faults = [(lost, "lost"), (repeated, "came twice"), (misordered, "came out of order")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if failures > 0 { faults.append("\(failures) posts failed") }
        if let firstFailure { faults.append("\(firstFailure)") }
        return faults.isEmpty ? nil : faults.joined(separator: "; ")
    }

    // MARK: What is printed

    private static let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)]

    private func perSecond(_ count: Int) -> Int {
        let seconds = duration / .seconds(1)
        return seconds > 0 ? Int(Double(count) / seconds) : 0
    }

    /// The report for people.
    var text: String {
        let seconds = (duration / .milliseconds(100)).rounded() / 10
        return """
            In \(seconds) s: \(posts) posts (\(perSecond(posts)) a second), \(deliveries) \
            deliveries (\(perSecond(deliveries)) a second)
            Lost: \(lost), twice: \(repeated), out of order: \(misordered), failed posts: \
            \(failures)
            Until the receipt:  \(Self.words(receipts))
            Until the observer: \(Self.words(latencies))
            \(Self.bars(latencies))
            """
    }

    private static func words(_ histogram: LatencyHistogram) -> String {
        guard histogram.count > 0 else { return "nothing came" }
        let parts = quantiles.map { name, part in
            "\(name) \(milliseconds(histogram.quantile(part) ?? .zero)) ms"
        }
        return parts.joined(separator: ", ") + ", longest \(milliseconds(histogram.longest)) ms"
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        (duration / .microseconds(10)).rounded() / 100
    }

    /// A bar for each doubling.
    private static func bars(_ histogram: LatencyHistogram) -> String {
        let rows = histogram.doublings
        let greatest = rows.map(\.count).max() ?? 1
        return rows.map { row in
            let label = "up to \(milliseconds(row.upTo)) ms"
            let indent = String(repeating: " ", count: max(0, 18 - label.count))
            let bar = String(repeating: "#", count: (row.count * 50 + greatest - 1) / greatest)
            return "\(indent)\(label)  \(bar) \(row.count)"
        }.joined(separator: "\n")
    }

    /// The report for programs; times are in milliseconds.
    var json: [UInt8] {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.member("seconds", seconds: duration, into: &bytes)
        for (name, count) in [
            ("posts", posts), ("postsPerSecond", perSecond(posts)), ("failed", failures),
            ("deliveries", deliveries), ("deliveriesPerSecond", perSecond(deliveries)),
            ("lost", lost), ("twice", repeated), ("outOfOrder", misordered),
        ] {
            writer.key(escaping: Array(name.utf8), into: &bytes)
            writer.integer(count, into: &bytes)
        }
        for (name, histogram) in [("receipt", receipts), ("delivery", latencies)] {
            writer.key(escaping: Array(name.utf8), into: &bytes)
            writer.beginObject(into: &bytes)
            for (name, part) in Self.quantiles {
                writer.key(escaping: Array(name.utf8), into: &bytes)
                let time = Self.milliseconds(histogram.quantile(part) ?? .zero)
                writer.raw(Array("\(time)".utf8), into: &bytes)
            }
            writer.key("longest", into: &bytes)
            writer.raw(Array("\(Self.milliseconds(histogram.longest))".utf8), into: &bytes)
            writer.endObject(into: &bytes)
        }
        writer.endObject(into: &bytes)
        return bytes
    }
}
