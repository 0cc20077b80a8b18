import ArgumentParser
import BelfryClient
import BelfrySystem

/// `belfry bench`.
struct Bench: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Load a running broker, and check that nothing is lost, repeated or out of order.",
        discussion: """
            Posters and observers are connections of their own, which use a name that nobody else \
            has, so a broker with other work can be measured too; the two share its time. The \
            command needs the grants post and observe on names that begin with bench. The exit \
            code is 1 when a post failed or an observer did not get all of them once and in order. \
            This command takes processor time itself: on the broker's machine both are slower.
            """)

    @Option(help: .value("How many connections post.", "N"))
    var posters = 1

    @Option(help: .value("How many connections observe, each of them all posts.", "N"))
    var observers = 1

    @Option(
        help: .value("How many posts of a poster wait for their receipts at once.", "N")
    )
    var inFlight = 8

    @Option(
        help: .value("Posts a second in all. Without it, as many as are answered.", "N"))
    var rate: Double?

    @Option(
        help: .value("How long to post: 10s, 5m.", "TIME"),
        transform: ArgumentText.duration)
    var duration: Duration = .seconds(10)

    @Option(help: .value("End after this many posts in all, if they come first.", "N"))
    var count: Int?

    @Option(help: .value("Bytes of a userInfo.", "BYTES"))
    var size = 100

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        let ranges = [
            ("--posters", posters, 1...1_000), ("--observers", observers, 0...1_000),
            ("--in-flight", inFlight, 1...1_000), ("--size", size, 0...200_000),
        ]
        for (name, value, range) in ranges where !range.contains(value) {
            throw ValidationError("\(name) is from \(range.lowerBound) to \(range.upperBound).")
        }
        if let rate, !(0.1...10_000_000).contains(rate) {
            throw ValidationError("--rate is from 0.1 to 10000000 posts a second.")
        }
        if let count, count < 1 { throw ValidationError("--count must be at least 1") }
        if duration <= .zero { throw ValidationError("--duration is more than nothing.") }
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        let run = BenchRun(url, plan)
        let telling = Task { await Self.tell(run.progress) }
        defer { telling.cancel() }
        let result: BenchResult
        do throws(ClientError) {
            result = try await signals.run { () async throws(ClientError) in
                try await run.result()
            }
        } catch {
            throw .failure("\(url): \(error)")
        }
        try Report.write(report.isForPeople ? Array(result.text.utf8) : result.json)
        if let fault = result.fault { throw .failure(fault) }
    }

    /// The plan of the run.
    var plan: BenchRun.Plan {
        BenchRun.Plan(
            posterCount: posters, observerCount: observers, inFlight: inFlight, rate: rate,
            duration: duration, postLimit: count, byteCount: size)
    }

    /// Reports the counts of each second.
    private static func tell(_ progress: Monitor<BenchRun.Progress>) async {
        var before = BenchRun.Progress()
        var second = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            guard !Task.isCancelled else { return }
            second += 1
            let now = progress.change { $0 }
            Program.say(
                "\(second) s: \(now.posts - before.posts) posts, "
                    + "\(now.deliveries - before.deliveries) deliveries, \(now.failures) failed",
                to: .error)
            before = now
        }
    }
}
