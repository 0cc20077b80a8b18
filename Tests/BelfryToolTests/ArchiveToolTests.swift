import ArgumentParser
import BelfryClient
import Testing

@testable import belfry

@Suite("belfry archive and belfry history, with a broker")
struct ArchiveToolTests {
    /// The numbers in the userInfos of these lines.
    private func numbers(_ lines: [String]) -> [Int?] {
        lines.map { line in
            JSONObject(Array(line.utf8))?.raw("userInfo").flatMap(JSONObject.init)?.integer("n")
        }
    }

    private func post(_ numbers: ClosedRange<Int>, to broker: RunningBroker) async throws {
        let center = try await RemoteCenter.connect(to: broker.url)
        for number in numbers {
            _ = try await center.post(
                name: "Order", object: number.isMultiple(of: 2) ? "even" : "odd",
                userInfo: try UserInfo(json: #"{"n":\#(number)}"#))
        }
        await center.close()
    }

    @Test("an archive is set, changed, listed and removed")
    func archives() async throws {
        let broker = try await RunningBroker.archiving()
        let set = try await broker.run("archive", "set", "Order", "--count", "3", "--age", "1h")
        #expect(set.exitCode == 0)
        #expect(
            set.output.first?.hasPrefix(
                #"{"name":"Order","count":3,"bytes":16777216,"age":3600,"each":"name""#) == true)
        let prefix = try await broker.run(
            "archive", "set", "Shop.", "--prefix", "--bytes", "64KiB", "--each", "object",
            "--age", "7d", "--keep-last", "1", "--no-stored")
        #expect(prefix.output.first?.contains(#""bytes":65536"#) == true)
        let list = try #require(try await broker.run("archive", "list").output.first)
        let rows = try #require(JSONObject(Array(list.utf8))).objects("archives")
        #expect(rows.map { $0.string("name") ?? $0.string("namePrefix") } == ["Order", "Shop."])
        #expect(try await broker.run("archive", "remove", "Shop.").exitCode == 1)
        #expect(try await broker.run("archive", "remove", "Shop.", "--prefix").exitCode == 0)
        #expect(try await broker.run("archive", "set", "A", "--stored").exitCode == 1)
    }

    @Test("history prints what is kept, as far as it was asked for")
    func history() async throws {
        let broker = try await RunningBroker.archiving()
        #expect(try await broker.run("history", "Order").exitCode == 1)
        _ = try await broker.run("archive", "set", "Order")
        try await post(1...5, to: broker)
        func history(_ arguments: String...) async throws -> [Int?] {
            let program = try broker.start(["history"] + arguments)
            var lines: [String] = []
            while let line = await program.line() { lines.append(line) }
            #expect(await program.exitCode() == 0)
            return numbers(lines)
        }
        #expect(try await history("Order") == [1, 2, 3, 4, 5])
        #expect(try await history("Order", "--last", "2") == [4, 5])
        #expect(try await history("Ord", "--prefix", "--last-each", "1") == [4, 5])
        #expect(try await history("Order", "--object", "odd") == [1, 3, 5])
        #expect(try await history("Order", "--where", #"{"n":{"above":3}}"#) == [4, 5])
        let early = "2001-01-01T00:00:00Z"
        #expect(try await history("Order", "--since", "oldest", "--until", early) == [])
        #expect(try await history("Order", "--from", early).count == 5)
        let third = try #require(
            try await broker.run("history", "Order", "--last", "3").output.first)
        let number = try #require(JSONObject(Array(third.utf8))?.integer("seq"))
        #expect(try await history("Order", "--since", "\(number)") == [4, 5])
    }

    @Test("an answer without room for all says so, with the time that asks for the others")
    func partial() async throws {
        let broker = try await RunningBroker.archiving()
        _ = try await broker.run("archive", "set", "Order")
        let center = try await RemoteCenter.connect(to: broker.url)
        let large = String(repeating: "x", count: 200_000)
        for _ in 1...7 {
            _ = try await center.post(
                name: "Order", userInfo: try UserInfo(json: #"{"x":"\#(large)"}"#))
        }
        await center.close()
        let kept = try await broker.run("history", "Order", "--last", "7").output
        let oldest = try #require(
            kept.first.flatMap { JSONObject(Array($0.utf8))?.string("postedAt") })
        let program = try RunningProgram(
            ["history", "Order", "--last", "7", "--url", "\(broker.url)"], readsError: true)
        let line = await program.line()
        #expect(kept.count < 7 && line?.contains("--until \(oldest) gives earlier ones") == true)
        #expect(await program.exitCode() == 0)
    }

    @Test("history that follows goes on with what is posted, and misses none")
    func following() async throws {
        let broker = try await RunningBroker.archiving()
        _ = try await broker.run("archive", "set", "Order")
        try await post(1...1_200, to: broker)
        let program = try broker.start(["history", "Order", "--follow"])
        var lines: [String] = []
        for _ in 1...1_000 { lines.append(try #require(await program.line())) }
        try await post(1_201...1_300, to: broker)
        for _ in 1_001...1_300 { lines.append(try #require(await program.line())) }
        #expect(numbers(lines) == (1...1_300).map { $0 })
        program.interrupt()
        #expect(await program.line() == nil)
        #expect(await program.exitCode() == 0)
    }

    @Test(
        "observe begins in the past, over a WebSocket and over an event stream",
        arguments: [[], ["--sse"]])
    func observing(transport: [String]) async throws {
        let broker = try await RunningBroker.archiving()
        _ = try await broker.run("archive", "set", "Order")
        try await post(1...5, to: broker)
        for (arguments, expected) in [
            (["--last", "2"], [4, 5, 6]), (["--last-each", "1"], [4, 5, 6]),
            (["--since", "oldest"], [1, 2, 3, 4, 5, 6]),
        ] {
            let program = try broker.start(["observe", "Order"] + arguments + transport)
            var lines: [String] = []
            for _ in expected.dropLast() { lines.append(try #require(await program.line())) }
            try await post(6...6, to: broker)
            lines.append(try #require(await program.line()))
            #expect(numbers(lines) == expected)
            program.interrupt()
            _ = try await broker.run("archive", "set", "Order", "--count", "5")
            _ = try await HTTPRequest.removeNotifications(PastQuery(name: "Order")).answer(
                from: broker.url)
            try await post(1...5, to: broker)
            _ = await program.exitCode()
        }
    }

    @Test("a mailbox begins with the newest that are kept")
    func mailbox() async throws {
        let broker = try await RunningBroker.archiving()
        _ = try await broker.run("archive", "set", "Order")
        try await post(1...5, to: broker)
        let token = try #require(
            try await broker.run("mailbox", "new", "Order", "--last", "2").output.first)
        let content = try #require(try await broker.run("mailbox", "read", token).output.first)
        let rows = try #require(JSONObject(Array(content.utf8))).objects("notifications")
        #expect(numbers(rows.map { String(decoding: $0.json, as: UTF8.self) }) == [4, 5])
    }

    @Test("the options of a beginning exclude each other, and say what they take")
    func options() throws {
        #expect(try Observe.parse(["--since", "7"]).start.beginning == .after(7))
        #expect(try Observe.parse(["--since", "oldest"]).start.beginning == .oldest)
        let time = "2026-11-22T06:00:00Z"
        #expect(try Observe.parse(["--since", time]).start.beginning == .from(time))
        #expect(try Observe.parse(["--last", "1000"]).start.beginning == .last(1_000))
        #expect(try Observe.parse(["--last-each", "100"]).start.beginning == .lastEach(100))
        for arguments in [
            ["--last", "1", "--last-each", "1"], ["--since", "0", "--last", "1"],
            ["--last", "1001"], ["--last", "0"], ["--last-each", "101"], ["--since", "today"],
        ] {
            #expect(throws: (any Error).self) { try Observe.parse(arguments) }
        }
        #expect(try History.parse(["A", "--since", time]).query.from == time)
        #expect(try History.parse(["A", "--last", "2"]).query.limit == nil)
    }
}

@Suite("RemoteCenter: archives and own connections, with a broker")
struct RemoteArchiveTests {
    @Test("archives are made, read and removed, and pages have what they keep")
    func archives() async throws {
        let broker = try await RunningBroker.archiving()
        let center = try await RemoteCenter.connect(to: broker.url)
        var terms = ArchiveTerms()
        terms.count = 3
        let made = try await center.putArchive(.exactly("A"), terms)
        #expect(made.terms.count == 3 && made.terms.isStored == false && made.keptCount == nil)
        for _ in 1...4 { #expect(try await center.post(name: "A").isKept) }
        #expect(try await !center.post(name: "B").isKept)
        #expect(try await center.archive(.exactly("A"))?.keptCount == 3)
        #expect(try await center.archive(.prefix("A")) == nil)
        #expect(try await center.archives().map(\.name) == [.exactly("A")])
        var query = PastQuery(name: "A")
        query.limit = 2
        let first = try await center.past(query)
        let rest = try await center.past(try #require(query.following(first)))
        let all = (first.notifications + rest.notifications).map(\.sequence)
        #expect(all.count == 3 && all == all.sorted() && rest.next == nil)
        query = PastQuery(name: "A")
        query.after = all[0]
        #expect(try await center.removeNotifications(query) == 2)
        try await center.removeArchive(.exactly("A"))
        let error = await #expect(throws: ClientError.self) {
            try await center.past(PastQuery(name: "A"))
        }
        guard case .refused(let refusal) = error else { throw error ?? .notUnderstood }
        #expect(refusal.slug == "not-archived")
        await center.close()
    }

    @Test("an observer that begins in the past has a connection of its own, which ends with it")
    func ownConnection() async throws {
        let broker = try await RunningBroker.archiving()
        let center = try await RemoteCenter.connect(to: broker.url)
        try await center.putArchive(.exactly("A"))
        for _ in 1...3_000 { _ = try await center.post(name: "A") }
        func clientCount() async throws -> Int {
            let answer = try await HTTPRequest.get("clients").answer(from: broker.url)
            return try #require(JSONObject(answer.content)).objects("clients").count
        }
        let all = try await center.addObserver(forName: "A", object: nil, since: .oldest)
        let last = try await center.addObserver(forName: "A", object: nil, since: .last(2))
        _ = try await center.addObserver(forName: "B", object: nil, since: 0)
        #expect(try await clientCount() == 3)
        try await center.setSuspended(true)
        _ = try await center.post(name: "A")
        try await center.setSuspended(false)
        var count = 0
        for try await notification in all {
            #expect(notification.gapBefore == nil)
            count += 1
            if count == 3_001 { break }
        }
        var iterator = last.makeAsyncIterator()
        for _ in 1...3 { #expect(try await iterator.next() != nil) }
        try await all.removeObserver()
        #expect(try await all.first { _ in true } == nil)
        await center.close()
        #expect(try await iterator.next() == nil)
    }
}
