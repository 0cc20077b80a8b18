import BelfryCluster
import BelfrySystem

/// The cost of this broker's entries that the log has shown: times, bytes and commands.
struct AppendFigures: Sendable {
    /// The times from the first append until the entry came back.
    private(set) var times = TimeHistogram(bounds: [
        .microseconds(250), .microseconds(500), .milliseconds(1), .microseconds(2_500),
        .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50),
        .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1),
        .milliseconds(2_500), .seconds(5), .seconds(10),
    ])
    private(set) var entryCount: UInt64 = 0
    private(set) var byteCount: UInt64 = 0
    private(set) var commandCount: UInt64 = 0

    mutating func add(_ entry: AppendedEntry) {
        times.add(.nanoseconds(entry.time))
        entryCount += 1
        byteCount += UInt64(entry.byteCount)
        commandCount += UInt64(entry.commandCount)
    }
}
