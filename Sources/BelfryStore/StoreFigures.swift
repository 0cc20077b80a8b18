public import BelfrySystem

/// How large the files of a store are, in bytes.
public struct StoreSize: Sendable, Equatable {
    /// The part of the main file that is in use.
    public var usedByteCount = 0
    /// The size of the log now, or when it was moved into the main file.
    public var logByteCount = 0
}

/// The work of a store, for metrics.
public struct StoreFigures: Sendable, Equatable {
    /// How many batches were handed in.
    public var batchCount: UInt64 = 0
    /// How many changes they have, those of centers counted one by one.
    public var changeCount: UInt64 = 0
    /// How many batches are committed.
    public var committedBatchCount: UInt64 = 0
    /// How many transactions the batches were committed in.
    public var commitCount: UInt64 = 0
    /// How often the store began to fail.
    public var failureCount: UInt64 = 0
    /// Whether it takes promises.
    public var takesPromises = true
    /// How long they took.
    public var commitTimes = TimeHistogram(bounds: [
        .microseconds(250), .microseconds(500), .milliseconds(1), .microseconds(2_500),
        .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50),
        .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1),
        .milliseconds(2_500), .seconds(5),
    ])
    /// How large the files are.
    public var size = StoreSize()
    /// How many promises were refused, by reason.
    public var refusals: [StoreRefusal: UInt64] = [:]

    /// The figures of a store that has done nothing yet.
    public init() {}

    /// Counts the failures that were told.
    mutating func note(_ notices: [StoreNotice]) {
        for case .failed in notices { failureCount += 1 }
    }
}
