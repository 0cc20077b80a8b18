internal import BelfryJSON

/// Which durations a field takes: told in seconds, with fractions, and kept in nanoseconds.
struct SecondsRule {
    private let start: Double
    private let includesStart: Bool
    /// In seconds; infinite when there is none.
    private let limit: Double

    static let maxDelay = SecondsRule(above: 0, through: 86_400)
    static let timeToLive = SecondsRule(above: 0, through: 2_592_000)
    static let delay = SecondsRule(from: 0, through: 31_622_400)
    static let period = SecondsRule(from: 0.1, through: 31_622_400)
    /// Unlike that of an observer, one that is too long is refused, as every option of a post is.
    static let timerLease = SecondsRule(above: 0, through: 2_592_000)
    static let askLifetime = SecondsRule(above: 0, through: 604_800)
    static let valueLease = SecondsRule(from: 0, through: 86_400)
    static let minInterval = SecondsRule(from: 0, through: 3_600)
    /// A lease has a limit too, but a greater one is lowered and not refused.
    static let lease = SecondsRule(above: 0, through: .infinity)
    static let modeLease = SecondsRule(from: 1, through: 3_600)

    private init(above start: Double, through limit: Double) {
        (self.start, includesStart, self.limit) = (start, false, limit)
    }

    private init(from start: Double, through limit: Double) {
        (self.start, includesStart, self.limit) = (start, true, limit)
    }

    /// The nanoseconds of some seconds, to the nearest one; nil when the rule refuses them.
    func nanoseconds(_ seconds: Double) -> Int64? {
        guard includesStart ? seconds >= start : seconds > start, seconds <= limit else {
            return nil
        }
        // A time above zero stays so, and 292 years are as good as more.
        let nanoseconds = Int64(min(seconds, 9_000_000_000) * 1_000_000_000 + 0.5)
        return seconds > 0 ? max(nanoseconds, 1) : 0
    }

    /// Reads a number that is written as in JSON.
    func nanoseconds(ofText text: [UInt8]) -> Int64? {
        // JSON would allow blanks around it.
        guard let first = text.first, let last = text.last, !first.isJSONWhitespace,
            !last.isJSONWhitespace
        else { return nil }
        var json = JSONReader()
        do throws(JSONError) {
            let seconds = try json.readDouble(in: text.span)
            try json.finish(in: text.span)
            return nanoseconds(seconds)
        } catch {
            return nil
        }
    }

    /// The text of a fault.
    var detail: String {
        let isEndless = limit == .infinity
        let least = start == start.rounded() ? "\(Int(start))" : "\(start)"
        if includesStart { return "must be a number from \(least) to \(Int(limit))" }
        let detail = "must be a number above \(Int(start))"
        return isEndless ? detail : detail + " and at most \(Int(limit))"
    }

    /// The nanoseconds of a duration that is configured.
    static func nanoseconds(of duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (product, overflowed) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, passed) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflowed || passed ? .max : sum
    }
}
