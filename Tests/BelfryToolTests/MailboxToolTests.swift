import BelfryClient
import Foundation
import Testing

/// Each wait of these tests ends with what it waits for.
@Suite("belfry: mailboxes, removal, lines and names")
struct MailboxToolTests {
    @Test("a mailbox keeps what comes until it is acknowledged, and its token removes it")
    func mailbox() async throws {
        let broker = try await RunningBroker()
        let token = try #require(
            try await broker.run("mailbox", "new", "Order", "--lease", "1h").output.first)
        for number in 1...2 {
            _ = try await broker.run("post", "Order", "--user-info", #"{"n":\#(number)}"#)
        }
        let first = try #require(try await broker.run("mailbox", "read", token).output.first)
        let page = try #require(JSONObject(Array(first.utf8)))
        let rows = page.objects("notifications")
        #expect(rows.map { $0.raw("userInfo") } == [1, 2].map { Array(#"{"n":\#($0)}"#.utf8) })
        // It stays until it is acknowledged.
        let firstSequence = try #require(rows.first?.integer("seq"))
        #expect(
            try await broker.run("mailbox", "ack", token, "\(firstSequence)").exitCode == 0)
        let rest = try #require(try await broker.run("mailbox", "read", token).output.first)
        #expect(JSONObject(Array(rest.utf8))?.objects("notifications").count == 1)
        #expect(try await broker.run("remove", token).exitCode == 0)
        #expect(try await broker.run("mailbox", "read", token).exitCode == 1)
    }

    @Test("follow prints what comes, and has acknowledged it when it ends")
    func follow() async throws {
        let broker = try await RunningBroker()
        let token = try #require(try await broker.run("mailbox", "new", "Order").output.first)
        _ = try await broker.run("post", "Order", "--user-info", #"{"n":1}"#)
        let following = try broker.start(["mailbox", "follow", token])
        #expect(await following.line()?.contains(#"{"n":1}"#) == true)
        _ = try await broker.run("post", "Order", "--user-info", #"{"n":2}"#)
        #expect(await following.line()?.contains(#"{"n":2}"#) == true)
        following.interrupt()
        #expect(await following.line() == nil)
        #expect(await following.exitCode() == 0)
        let content = try await broker.run("mailbox", "read", token).output.first
        #expect(content?.contains(#""notifications":[]"#) == true)
    }

    @Test("follow ends after as many as were asked for, and leaves the rest")
    func followCount() async throws {
        let broker = try await RunningBroker()
        let token = try #require(try await broker.run("mailbox", "new").output.first)
        for _ in 1...3 { _ = try await broker.run("post", "Order") }
        let following = try await broker.run("mailbox", "follow", token, "--count", "2")
        #expect(following.output.count == 2)
        #expect(following.exitCode == 0)
        let content = try #require(try await broker.run("mailbox", "read", token).output.first)
        #expect(JSONObject(Array(content.utf8))?.objects("notifications").count == 1)
    }

    @Test("follow goes on after its broker was killed and started again with its data")
    func followRestart() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("belfry-follow-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let broker = try await RunningBroker(directory: directory)
        let port = try #require("\(broker.url)".split(separator: ":").last.flatMap { Int($0) })
        let token = try #require(try await broker.run("mailbox", "new", "Order").output.first)
        let following = try broker.start(["mailbox", "follow", token])
        _ = try await broker.run("post", "Order", "--user-info", #"{"n":1}"#)
        #expect(await following.line()?.contains(#"{"n":1}"#) == true)
        await broker.program.kill()
        let second = try await RunningBroker(port: port, directory: directory)
        _ = try await second.run("post", "Order", "--user-info", #"{"n":2}"#)
        var line = await following.line()
        // The answer that acknowledged the first one may be lost with the broker: then it comes
        // again.
        while line?.contains(#"{"n":1}"#) == true { line = await following.line() }
        #expect(line?.contains(#"{"n":2}"#) == true)
        following.interrupt()
        #expect(await following.exitCode() == 0)
    }

    @Test("lines of standard input are posted as they come, and a bad one is told by its number")
    func lines() async throws {
        let broker = try await RunningBroker()
        let posting = try broker.start(["post", "-"])
        try posting.write(#"{"name":"A"}"#)
        #expect(await posting.line()?.contains(#""matched":0"#) == true)
        try posting.write("")
        try posting.write(#"{"name":"B","style":"asap"}"#)
        #expect(await posting.line()?.contains(#""outcome":"queued""#) == true)
        try posting.endInput()
        #expect(await posting.exitCode() == 0)
        let refused = try broker.start(["post", "-"])
        try refused.write(#"{"name":"A","style":"later"}"#)
        try refused.endInput()
        #expect(await refused.line() == nil)
        #expect(await refused.exitCode() == 1)
    }

    @Test("many lines are posted in batches that a broker takes")
    func manyLines() async throws {
        let broker = try await RunningBroker()
        let posting = try broker.start(["post", "-"])
        for number in 0..<2_500 { try posting.write(#"{"name":"A","userInfo":{"n":\#(number)}}"#) }
        try posting.endInput()
        var count = 0
        while await posting.line() != nil { count += 1 }
        #expect(count == 2_500)
        #expect(await posting.exitCode() == 0)
    }

    @Test("the lists of a broker that has something, and their JSON")
    func lists() async throws {
        let broker = try await RunningBroker()
        _ = try await broker.run("mailbox", "new", "Order", "--object", "shop")
        _ = try await broker.run("post", "order")
        for (command, member, text) in [
            ("clients", "clients", #""transport":"mailbox""#),
            ("channels", "channels", #""name":"Order""#), ("modes", "common", #""default""#),
            ("reports", "postedNeverObserved", #""order""#),
        ] {
            let (output, code) = try await broker.run(command)
            #expect(code == 0)
            let answer = try #require(JSONObject(Array(output.joined().utf8)))
            let list = String(decoding: answer.raw(member) ?? [], as: UTF8.self)
            #expect(list.contains(text))
        }
    }

    @Test("a shell completes with names of the broker, and hears nothing where there is none")
    func names() async throws {
        let broker = try await RunningBroker()
        _ = try await broker.run("mailbox", "new", "Order", "--object", "shop")
        #expect(try await broker.run("names", "channels").output == ["Order"])
        #expect(try await broker.run("names", "objects").output == ["shop"])
        #expect(try await broker.run("names", "ids").output == ["c1", "o1"])
        #expect(try await broker.run("names", "values").output == [])
        await broker.program.kill()
        let (output, code) = try await broker.run("names", "channels")
        #expect(output == [] && code == 1)
    }
}
