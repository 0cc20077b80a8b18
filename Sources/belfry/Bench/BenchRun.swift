import BelfryClient
import BelfrySystem

/// Posters and observers at work on one broker.
struct BenchRun: Sendable {
    /// The settings of a run.
    struct Plan: Sendable {
        var posterCount = 1
        var observerCount = 1
        /// How many posts of one poster wait for their receipts at once.
        var inFlight = 8
        /// Posts a second of all posters together; nil is as many as are answered.
        var rate: Double?
        var duration: Duration = .seconds(10)
        /// How many posts there are at most, in all.
        var postLimit: Int?
        var byteCount = 100

        /// A lane posts one notification after the other.
        var laneCount: Int { posterCount * inFlight }

        /// The most posts of a lane; the first lanes take one more where there is a remainder.
        func postLimit(ofLane lane: Int) -> Int {
            guard let postLimit else { return .max }
            return postLimit / laneCount + (lane < postLimit % laneCount ? 1 : 0)
        }
    }

    /// The counts of the run so far.
    struct Progress: Sendable {
        var posts = 0
        var failures = 0
        var deliveries = 0
        var firstFailure: ClientError?
    }

    let url: BrokerURL
    let plan: Plan
    /// The notification name, which is unique to the run.
    let name: String
    let progress = Monitor(Progress())

    init(_ url: BrokerURL, _ plan: Plan) {
        self.url = url
        self.plan = plan
        var random = SystemRandom()
        name = "bench." + String(random.next(), radix: 36)
    }

    /// The longest time for the last posts to reach their observers.
    private static let patience = Duration.seconds(10)

    /// Runs until the time is over or the task is cancelled, and tells what happened.
    func result() async throws(ClientError) -> BenchResult {
        let observers = try await connected(plan.observerCount)
        let posters = try await connected(plan.posterCount)
        var observations: [Observation] = []
        for center in observers {
            var options = ObserverOptions()
            options.suspensionBehavior = .hold
            observations.append(
                try await center.addObserver(forName: name, object: nil, options: options))
        }
        let watching = observations.map { observation in Task { await watch(observation) } }
        let start = MonotonicTime.now()
        let lanes = await post(posters, from: start)
        let duration = MonotonicTime.now() - start
        let counts = lanes.map(\.count)
        await awaitDeliveries(counts.reduce(0, +) * plan.observerCount)
        for center in posters + observers { await center.close() }
        var result = BenchResult(duration: duration, progress: progress.change { $0 })
        for lane in lanes { result.receipts.add(lane.latencies) }
        for watch in watching { result.add(await watch.value, of: counts) }
        return result
    }

    private func connected(_ count: Int) async throws(ClientError) -> [RemoteCenter] {
        var options = ClientOptions()
        // Losses in the client itself would look like losses of the broker.
        options.bufferCountLimit = 1_000_000
        options.bufferByteLimit = 1 << 30
        var centers: [RemoteCenter] = []
        for _ in 0..<count {
            centers.append(try await RemoteCenter.connect(to: url, options: options))
        }
        return centers
    }

    // MARK: Posting

    /// The number of posts of one lane, in order from 0, and the latencies of their receipts.
    private struct LaneOutcome: Sendable {
        var count = 0
        var latencies = LatencyHistogram()
    }

    private func post(_ centers: [RemoteCenter], from start: MonotonicTime) async -> [LaneOutcome] {
        await withTaskGroup(of: (Int, LaneOutcome).self) { group in
            for lane in 0..<plan.laneCount {
                let center = centers[lane / plan.inFlight]
                group.addTask { (lane, await post(lane, by: center, from: start)) }
            }
            var outcomes = [LaneOutcome](repeating: LaneOutcome(), count: plan.laneCount)
            for await (lane, outcome) in group { outcomes[lane] = outcome }
            return outcomes
        }
    }

    private func post(
        _ lane: Int, by center: RemoteCenter, from start: MonotonicTime
    ) async -> LaneOutcome {
        var outcome = LaneOutcome()
        // Lanes of a rate begin one after the other.
        let period = plan.rate.map { Duration.seconds(Double(plan.laneCount) / $0) }
        var due = start + (period ?? .zero) * (Double(lane) / Double(plan.laneCount))
        while !Task.isCancelled, outcome.count < plan.postLimit(ofLane: lane) {
            if let period {
                // One that is cancelled meanwhile ends here.
                try? await Task.sleep(for: max(.zero, due - MonotonicTime.now()))
                due = due + period
            }
            let now = MonotonicTime.now()
            guard now - start < plan.duration, !Task.isCancelled else { break }
            do throws(ClientError) {
                let content = BenchPost(lane: lane, number: outcome.count, postedAt: now)
                _ = try await center.post(
                    name: name, userInfo: try content.userInfo(byteCount: plan.byteCount))
                outcome.latencies.add(MonotonicTime.now() - now)
                outcome.count += 1
                progress.change { $0.posts += 1 }
            } catch {
                // Whether it was posted is not known: the lane ends here, and its posts before
                // count.
                progress.change {
                    $0.failures += 1
                    $0.firstFailure = $0.firstFailure ?? error
                }
                break
            }
        }
        return outcome
    }

    // MARK: Observing

    private func watch(_ observation: Observation) async -> BenchResult.Watch {
        var watch = BenchResult.Watch(laneCount: plan.laneCount)
        do throws(ClientError) {
            for try await notification in observation {
                let now = MonotonicTime.now()
                if let post = BenchPost(notification.userInfo) {
                    watch.check.note(lane: post.lane, post.number)
                    watch.latencies.add(now - post.postedAt)
                    progress.change { $0.deliveries += 1 }
                }
            }
        } catch {
            watch.failure = error
        }
        return watch
    }

    /// Waits until all has come, or nothing more does.
    private func awaitDeliveries(_ count: Int) async {
        let deadline = MonotonicTime.now() + Self.patience
        while MonotonicTime.now() < deadline, !Task.isCancelled,
            progress.change({ $0.deliveries }) < count
        {
            try? await Task.sleep(for: .milliseconds(5))
        }
    }
}
