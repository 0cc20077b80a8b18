/// The counters every 4 s of the last 10 minutes, and every 5 minutes of the last day.
struct CounterHistory: Sendable {
    /// The counters of a point in their order, each with its metric.
    static let counters: [(name: String, metric: String)] = [
        ("posts", "belfry_posts_total"), ("deliveries", "belfry_deliveries_total"),
        ("unmatched", "belfry_posts_unmatched_total"), ("dropped", "belfry_lost_total"),
        ("acknowledged", "belfry_acknowledgements_total"), ("asks", "belfry_asks_total"),
        ("changes", "belfry_value_changes_total"),
        ("connections", "belfry_connections_accepted_total"),
    ]

    /// The counters at one time.
    struct Point: Sendable {
        /// Points are numbered from 1 on, every 4 s.
        let number: UInt64
        /// The time in milliseconds since 1970.
        let time: Int64
        let values: [UInt64]
    }

    /// The length of the steps of `recent`.
    static let step: Duration = .seconds(4)
    /// The number of points in one step of `day`.
    static let pointsOfDayStep: UInt64 = 75
    static let recentLimit = 150
    static let dayLimit = 288

    private(set) var recent: [Point] = []
    private(set) var day: [Point] = []
    private var count: UInt64 = 0

    /// Appends these values as a point.
    mutating func note(_ values: [UInt64], at time: Int64) {
        count += 1
        let point = Point(number: count, time: time, values: values)
        Self.append(point, to: &recent, limit: Self.recentLimit)
        guard count % Self.pointsOfDayStep == 1 else { return }
        Self.append(point, to: &day, limit: Self.dayLimit)
    }

    private static func append(_ point: Point, to points: inout [Point], limit: Int) {
        if points.count == limit { points.removeFirst() }
        points.append(point)
    }
}
