/// How large the files of a store are, in bytes.
public struct StoreSize: Sendable, Equatable {
    /// What is in use of the main file.
    public var usedByteCount = 0
    /// What the log has, or had when it was moved into the main file.
    public var logByteCount = 0
}

/// What a store has done, for metrics.
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
    public var commitTimes = CommitTimes()
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

/// How many transactions took how long.
public struct CommitTimes: Sendable, Equatable {
    /// The upper bounds of all rows but the last one, which has none.
    public static let bounds: [Duration] = [
        .microseconds(250), .microseconds(500), .milliseconds(1), .microseconds(2_500),
        .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50),
        .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1),
        .milliseconds(2_500), .seconds(5),
    ]

    /// How many transactions there are in each row.
    public private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    /// How long all of them took together.
    public private(set) var total = Duration.zero

    /// Adds some transactions that took an equal part of a time.
    mutating func add(_ duration: Duration, transactionCount: Int) {
        guard transactionCount > 0 else { return }
        let part = duration / transactionCount
        let row = Self.bounds.firstIndex { part <= $0 } ?? Self.bounds.count
        counts[row] += UInt64(transactionCount)
        total += duration
    }
}
