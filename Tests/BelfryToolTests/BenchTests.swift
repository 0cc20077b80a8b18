import BelfryClient
import BelfrySystem
import Testing

@testable import belfry

@Suite("belfry bench: what is measured")
struct BenchTests {
    @Test("what comes once and in order is counted, and nothing is missing")
    func inOrder() {
        var check = SequenceCheck(laneCount: 2)
        for number in 0..<3 {
            check.note(lane: 0, number)
            check.note(lane: 1, number)
        }
        check.note(lane: 2, 0)
        check.note(lane: -1, 0)
        check.note(lane: 0, -1)
        #expect(check.received == 6)
        #expect(check.repeated == 0 && check.misordered == 0)
        #expect(check.missing(of: [3, 3]) == 0)
        #expect(check.missing(of: [5, 3]) == 2)
    }

    @Test("a loss, a repetition and another order are each told as what they are")
    func faults() {
        var check = SequenceCheck(laneCount: 1)
        for number in [0, 2, 2, 1, 1, 5] { check.note(lane: 0, number) }
        #expect(check.received == 4)
        #expect(check.repeated == 2)
        #expect(check.misordered == 1)
        #expect(check.missing(of: [6]) == 2)
    }

    @Test("a quantile is at most a sixteenth above what was measured")
    func quantiles() throws {
        var histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == nil)
        for microseconds in 1...1_000 { histogram.add(.microseconds(microseconds)) }
        for (part, exact) in [(0.5, 500.0), (0.9, 900), (0.99, 990), (1, 1_000)] {
            let quantile = try #require(histogram.quantile(part)) / .microseconds(1)
            #expect(quantile >= exact && quantile <= exact * 17 / 16)
        }
        #expect(histogram.longest == .microseconds(1_000))
        #expect(histogram.doublings.map(\.count) == [1, 2, 4, 8, 16, 32, 64, 128, 256, 489])
    }

    @Test(
        "the shortest and the longest have a row",
        arguments: [Duration.zero, .nanoseconds(1), .seconds(100_000_000)])
    func border(duration: Duration) {
        var histogram = LatencyHistogram()
        histogram.add(duration)
        #expect(histogram.count == 1)
        #expect(histogram.quantile(0.5) == duration)
        var sum = LatencyHistogram()
        sum.add(histogram)
        #expect(sum == histogram)
    }

    @Test("what a post carries comes back, in as many bytes as were asked for")
    func content() throws {
        let post = BenchPost(lane: 3, number: 7, postedAt: MonotonicTime(nanoseconds: 99))
        for byteCount in [0, 100, 5_000] {
            let userInfo = try post.userInfo(byteCount: byteCount)
            #expect(BenchPost(userInfo) == post)
            #expect(byteCount < 100 || userInfo.json.count == byteCount)
        }
        #expect(BenchPost(try UserInfo(json: "{}")) == nil)
        #expect(BenchPost(nil) == nil)
    }

    @Test("a result says what is wrong with it")
    func faultsOfResult() {
        var progress = BenchRun.Progress()
        #expect(BenchResult(duration: .seconds(1), progress: progress).fault == nil)
        progress.failures = 1
        progress.firstFailure = .timedOut
        var result = BenchResult(duration: .seconds(1), progress: progress)
        var watch = BenchResult.Watch(laneCount: 1)
        for number in [0, 2, 2] { watch.check.note(lane: 0, number) }
        result.add(watch, of: [3])
        #expect(
            result.fault
                == "1 lost; 1 came twice; 1 posts failed; the broker did not answer in time")
    }

    @Test(
        "what no run can do is refused",
        arguments: [
            ["--posters", "0"], ["--count", "0"], ["--posters", "1001"], ["--observers", "-1"],
            ["--in-flight", "0"],
            ["--rate", "0"], ["--duration", "0s"], ["--size", "200001"],
        ])
    func usage(arguments: [String]) {
        #expect(Program.run(["bench"] + arguments) == 2)
    }

    @Test("a broker that runs delivers all of it, once and in order", arguments: [nil, 2_000.0])
    func run(rate: Double?) async throws {
        let broker = try await RunningBroker()
        var plan = BenchRun.Plan()
        plan.posterCount = 2
        plan.observerCount = 3
        plan.duration = .seconds(3_600)
        plan.postLimit = 203
        plan.rate = rate
        let result = try await BenchRun(broker.url, plan).result()
        #expect(result.fault == nil)
        #expect(result.posts == 203)
        #expect(result.deliveries == 3 * result.posts)
        #expect(result.latencies.count == result.deliveries)
        #expect(JSONObject(result.json)?.integer("lost") == 0)
        #expect(result.text.contains("Lost: 0"))
        // The objects that it made there are gone with it.
        let answer = try await HTTPRequest.get("observers").answer(from: broker.url)
        #expect(JSONObject(answer.content)?.objects("observers").isEmpty == true)
    }
}
