import BelfryStore
import BelfrySystem

// What the metrics tell of the store.

extension MetricsText {
    mutating func add(_ store: StoreFigures) {
        add(
            "belfry_store_batches_total", "counter", "Turns that handed something to the store.",
            store.batchCount)
        add(
            "belfry_store_committed_total", "counter", "Turns whose changes are stored.",
            store.committedBatchCount)
        add(
            "belfry_store_commits_total", "counter",
            "Transactions of the store; one commits all turns that wait.", store.commitCount)
        add(
            "belfry_store_changes_total", "counter", "Changes that were handed to the store.",
            store.changeCount)
        add(
            "belfry_store_failures_total", "counter",
            "How often the store began to fail, or was not where it was.", store.failureCount)
        add(
            "belfry_store_accepts", "gauge", "Whether the store takes new promises.",
            store.takesPromises ? 1 : 0)
        add(
            "belfry_store_bytes", "gauge", "Bytes in use of the store's main file.",
            UInt64(store.size.usedByteCount))
        add(
            "belfry_store_log_bytes", "gauge",
            "Bytes of the store's write-ahead log, or those it had when it was moved last.",
            UInt64(store.size.logByteCount))
        addRefusals(of: store)
        add(store.commitTimes)
    }

    private mutating func addRefusals(of store: StoreFigures) {
        let name = "belfry_store_refusals_total"
        text += "# HELP \(name) Promises that the store did not take, by reason.\n"
        text += "# TYPE \(name) counter\n"
        for reason in StoreRefusal.allCases {
            text += "\(name){reason=\"\(reason.rawValue)\"} \(store.refusals[reason] ?? 0)\n"
        }
    }

    private mutating func add(_ times: CommitTimes) {
        let name = "belfry_store_commit_seconds"
        text += "# HELP \(name) How long a transaction of the store took.\n"
        text += "# TYPE \(name) histogram\n"
        var count: UInt64 = 0
        for (row, part) in times.counts.enumerated() {
            count += part
            let isLast = row == CommitTimes.bounds.count
            let bound = isLast ? "+Inf" : Self.seconds(CommitTimes.bounds[row])
            text += "\(name)_bucket{le=\"\(bound)\"} \(count)\n"
        }
        text += "\(name)_sum \(Self.seconds(times.total))\n\(name)_count \(count)\n"
    }

    private static func seconds(_ duration: Duration) -> String {
        "\(Double(duration.nanoseconds) / 1e9)"
    }
}
