/// How long things took, in rows whose bounds are a sixteenth apart at most.
struct LatencyHistogram: Equatable, Sendable {
    /// Sixteen rows for each doubling from 1 microsecond on, up to 2^36 of them, which is 19 hours.
    private static let exponentCount = 36
    private static let stepCount = 16

    private var counts = [Int](repeating: 0, count: exponentCount * stepCount)
    private(set) var count = 0
    private(set) var longest = Duration.zero

    /// Adds one.
    mutating func add(_ duration: Duration) {
        let microseconds = max(1, Int(duration / .microseconds(1)))
        counts[Self.row(of: microseconds)] += 1
        count += 1
        longest = max(longest, duration)
    }

    /// Adds all of another one.
    mutating func add(_ other: LatencyHistogram) {
        for row in counts.indices { counts[row] += other.counts[row] }
        count += other.count
        longest = max(longest, other.longest)
    }

    /// The time that this part of all (0 to 1) did not exceed; nil without any.
    func quantile(_ part: Double) -> Duration? {
        guard count > 0 else { return nil }
        let wanted = max(1, Int((part * Double(count)).rounded(.up)))
        var sum = 0
        for row in counts.indices {
            sum += counts[row]
            // The last row has no bound.
            if sum >= wanted, row < counts.count - 1 {
                return min(longest, .microseconds(Self.upperBound(of: row)))
            }
        }
        return longest
    }

    /// The counts up to each doubling of a microsecond, without the empty ones at both ends.
    var doublings: [(upTo: Duration, count: Int)] {
        let rows = (0..<Self.exponentCount).map { exponent in
            let start = exponent * Self.stepCount
            return (
                upTo: Duration.microseconds(1 << (exponent + 1)),
                count: counts[start..<(start + Self.stepCount)].reduce(0, +)
            )
        }
        guard let first = rows.firstIndex(where: { $0.count > 0 }),
            let last = rows.lastIndex(where: { $0.count > 0 })
        else { return [] }
        return Array(rows[first...last])
    }

    private static func row(of microseconds: Int) -> Int {
        let exponent = min(
            Int.bitWidth - 1 - microseconds.leadingZeroBitCount, exponentCount - 1)
        let step = min(((microseconds - (1 << exponent)) * stepCount) >> exponent, stepCount - 1)
        return exponent * stepCount + step
    }

    private static func upperBound(of row: Int) -> Int {
        let (exponent, step) = row.quotientAndRemainder(dividingBy: stepCount)
        return max(1, ((1 << exponent) * (stepCount + step + 1)) / stepCount)
    }
}
