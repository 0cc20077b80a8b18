/// How many of something took how long.
public struct TimeHistogram: Sendable, Equatable {
    /// The upper bounds of all rows but the last one, which has none.
    public let bounds: [Duration]
    /// How many there are in each row.
    public private(set) var counts: [UInt64]
    /// How long all of them took together.
    public private(set) var total = Duration.zero

    /// Has counted nothing.
    ///
    /// - Parameter bounds: in rising order.
    public init(bounds: [Duration]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Adds some that took an equal part of a time.
    public mutating func add(_ duration: Duration, count: Int = 1) {
        guard count > 0 else { return }
        let part = count == 1 ? duration : duration / count
        let row = bounds.firstIndex { part <= $0 } ?? bounds.count
        counts[row] += UInt64(count)
        total += duration
    }
}
