import BelfryCenter
import BelfrySystem

/// Counts of ended asks by kind of end, and a histogram of how long they were open.
struct AskEnds: Sendable {
    private var counts = [UInt64](repeating: 0, count: AskEnd.allCases.count)
    private(set) var times = TimeHistogram(bounds: [
        .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50),
        .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1),
        .milliseconds(2_500), .seconds(5), .seconds(10), .seconds(30), .seconds(60), .seconds(300),
        .seconds(3_600),
    ])

    /// The number of asks that ended in this way.
    func count(of end: AskEnd) -> UInt64 { counts[end.rawValue] }

    /// Counts an ask that is over.
    mutating func note(_ outcome: AskOutcome, at time: CommandTime) {
        guard let end = AskEnd(outcome.state) else { return }
        counts[end.rawValue] += 1
        times.add(.milliseconds(max(0, time.wallMilliseconds - outcome.id.milliseconds)))
    }
}
