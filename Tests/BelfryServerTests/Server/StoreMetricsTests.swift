import BelfryStore
import BelfrySystem
import Testing

@testable import BelfryServer

@Suite("Metrics of the store")
struct StoreMetricsTests {
    @Test("refusals are told by reason, and commit times as a histogram")
    func page() throws {
        var figures = StoreFigures()
        figures.refusals = [.displaced: 7, .behind: 2]
        figures.size.logByteCount = 4_120
        figures.takesPromises = false
        let (broker, store) = try Broker.durable()
        store.figures = figures
        let lines = try broker.get("/metrics").text.split(separator: "\n").map(String.init)
        for line in [
            #"belfry_store_refusals_total{reason="displaced"} 7"#,
            #"belfry_store_refusals_total{reason="behind"} 2"#,
            #"belfry_store_refusals_total{reason="size"} 0"#,
            "belfry_store_log_bytes 4120", "belfry_store_accepts 0",
            "# TYPE belfry_store_commit_seconds histogram",
            #"belfry_store_commit_seconds_bucket{le="0.00025"} 0"#,
            #"belfry_store_commit_seconds_bucket{le="+Inf"} 0"#,
            "belfry_store_commit_seconds_sum 0.0", "belfry_store_commit_seconds_count 0",
        ] {
            #expect(lines.count { $0 == line } == 1, "\(line)")
        }
        let rows = lines.count { $0.hasPrefix("belfry_store_commit_seconds_bucket") }
        #expect(rows == StoreFigures().commitTimes.counts.count)
    }
}
