import BelfryClient
import Foundation
import Testing

/// Each wait of these tests ends with what it waits for.
@Suite("The tutorial of BelfryClient")
struct TutorialTests {
    typealias Step = @Sendable (BrokerURL, @escaping TutorialSteps.Print) async throws -> Void

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let catalog = folder.appending(
        path: "../../Sources/BelfryClient/BelfryClient.docc"
    ).standardized

    /// The lines that begin each step.
    private static let head = """
        import BelfryClient

        let url = try BrokerURL("http://127.0.0.1:8080")

        """

    /// The steps between their marks, by name.
    private static func steps() throws -> [String: String] {
        let file = folder.appending(path: "TutorialSteps.swift")
        var steps: [String: String] = [:]
        var step: (name: String, lines: [Substring])?
        for line in try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            let words = line.drop { $0 == " " }
            if words.hasPrefix("// step: ") {
                step = (String(words.dropFirst(9)), [])
            } else if words == "// end", let whole = step {
                steps[whole.name] = head + whole.lines.joined(separator: "\n") + "\n"
                step = nil
            } else {
                // The body of a function is eight columns from the edge.
                step?.lines.append(line.dropFirst(8))
            }
        }
        return steps
    }

    /// With WRITE_DOCUMENTS=1 the code of the catalog is written instead.
    @Test(
        "the code of the catalog is that of the steps, which are built here, and the tutorial shows all of it"
    )
    func code() throws {
        let resources = Self.catalog.appending(path: "Resources")
        let steps = try Self.steps()
        #expect(steps.count == 6)
        let tutorial = try String(
            contentsOf: Self.catalog.appending(path: "Orders.tutorial"), encoding: .utf8)
        for (name, text) in steps {
            let file = resources.appending(path: "\(name).swift")
            if ProcessInfo.processInfo.environment["WRITE_DOCUMENTS"] != nil {
                try text.write(to: file, atomically: true, encoding: .utf8)
            }
            #expect(try String(contentsOf: file, encoding: .utf8) == text)
            #expect(tutorial.contains(#"file: "\#(name).swift""#))
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: resources.path)
            .filter { $0.hasSuffix(".swift") }
        #expect(Set(files) == Set(steps.keys.map { "\($0).swift" }))
    }

    /// Runs a step and returns its output so far; the reader ends the task.
    private func run(_ step: @escaping Step, _ url: BrokerURL) -> (
        task: Task<Void, any Error>, lines: AsyncStream<String>
    ) {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        let task = Task {
            defer { continuation.finish() }
            try await step(url) { continuation.yield($0) }
        }
        return (task, lines)
    }

    /// Posts until an observer has got it, and returns the receipt.
    private func post(_ userInfo: String?, to url: BrokerURL) async throws -> PostReceipt {
        let center = try await RemoteCenter.connect(to: url)
        let content: UserInfo? = if let userInfo { try UserInfo(json: userInfo) } else { nil }
        var receipt = try await center.post(name: "Order", object: "shop", userInfo: content)
        while receipt.matched == 0 {
            await Task.yield()
            receipt = try await center.post(name: "Order", object: "shop", userInfo: content)
        }
        await center.close()
        return receipt
    }

    @Test("a step that ends by itself prints what the tutorial says")
    func endingSteps() async throws {
        let broker = try await RunningBroker()
        for (step, text) in [
            (TutorialSteps.post, "0 observers matched"),
            (TutorialSteps.ask, "the kitchen says true"),
        ] as [(Step, String)] {
            let (task, lines) = run(step, broker.url)
            try await task.value
            var all: [String] = []
            for await line in lines { all.append(line) }
            #expect(all == [text])
        }
    }

    @Test("a step that observes prints what comes, until its task is cancelled")
    func observingSteps() async throws {
        for (step, text) in [
            (TutorialSteps.observe, #"shop has {"total":12}"#),
            (TutorialSteps.acknowledge, #"cooked: {"total":12}"#),
        ] as [(Step, String)] {
            let broker = try await RunningBroker()
            let (task, lines) = run(step, broker.url)
            _ = try await post(#"{"total":12}"#, to: broker.url)
            var iterator = lines.makeAsyncIterator()
            #expect(await iterator.next() == text)
            task.cancel()
            try await task.value
        }
        let broker = try await RunningBroker()
        let (task, lines) = run(TutorialSteps.value, broker.url)
        for await line in lines where line == #"the soup is "tomato""# { break }
        task.cancel()
        try await task.value
    }

    @Test("an order without a total is refused, and its poster is told why")
    func refused() async throws {
        let broker = try await RunningBroker()
        let (task, _) = run(TutorialSteps.acknowledge, broker.url)
        let receipt = try await post(nil, to: broker.url)
        #expect(receipt.refused == 1)
        task.cancel()
        try await task.value
    }

    @Test("a step that comes back says so, and tells what nobody knows")
    func returning() async throws {
        let broker = try await RunningBroker()
        let port = try #require("\(broker.url)".split(separator: ":").last.flatMap { Int($0) })
        let (task, lines) = run(TutorialSteps.comeBack, broker.url)
        var iterator = lines.makeAsyncIterator()
        #expect(await iterator.next() == "connected")
        _ = try await post("{}", to: broker.url)
        #expect(await iterator.next() == "an order: {}")
        await broker.program.kill()
        let second = try await RunningBroker(port: port)
        _ = try await second.run("post", "Order", "--user-info", #"{"total":7}"#)
        var line = await iterator.next()
        while let text = line, text.hasPrefix("away: ") || text == "an order: {}" {
            line = await iterator.next()
        }
        #expect(line == "connected")
        #expect(await iterator.next() == "lost before it: nobody knows")
        #expect(await iterator.next() == #"an order: {"total":7}"#)
        task.cancel()
        try await task.value
    }
}
