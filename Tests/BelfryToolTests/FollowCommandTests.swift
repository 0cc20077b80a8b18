import BelfryClient
import Foundation
import Testing

/// Each wait of these tests ends with what it waits for.
@Suite("belfry mailbox follow, with a command")
struct FollowCommandTests {
    /// The number of a job, as the command has printed its userInfo.
    private func number(_ line: String) throws -> Int {
        let userInfo = try #require(JSONObject(Array(line.utf8)))
        return try #require(userInfo.integer("n"))
    }

    /// A mailbox in which so many jobs wait.
    private func mailbox(_ jobCount: Int, _ broker: RunningBroker) async throws -> String {
        let token = try await broker.run("mailbox", "new", "Job").output.first
        let posting = try broker.start(["post", "-"])
        for number in 1...jobCount {
            try posting.write(#"{"name":"Job","object":"o","userInfo":{"n":\#(number)}}"#)
        }
        try posting.endInput()
        #expect(await posting.exitCode() == 0)
        return try #require(token)
    }

    private func isEmpty(_ token: String, _ broker: RunningBroker) async throws -> Bool {
        let content = try await broker.run("mailbox", "read", token).output.first
        return content?.contains(#""notifications":[]"#) == true
    }

    @Test("killed in the middle and started again, it does each job at least once")
    func killed() async throws {
        let broker = try await RunningBroker()
        let token = try await mailbox(20, broker)
        let arguments = [
            "mailbox", "follow", token, "--", "/bin/sh", "-c", "sleep 0.02; cat; echo",
        ]
        var done: Set<Int> = []
        for killCount in [3, 5] {
            let following = try broker.start(arguments)
            for _ in 0..<killCount {
                done.insert(try number(try #require(await following.line())))
            }
            await following.kill()
            // What it has printed since is acknowledged, and comes to nobody else.
            while let line = await following.line() { done.insert(try number(line)) }
        }
        let last = try broker.start(arguments)
        while done.count < 20 { done.insert(try number(try #require(await last.line()))) }
        last.interrupt()
        #expect(await last.exitCode() == 0)
        #expect(done == Set(1...20))
        #expect(try await isEmpty(token, broker))
    }

    @Test("what failed is not acknowledged, and is tried again before the next one")
    func failed() async throws {
        let broker = try await RunningBroker()
        let token = try await mailbox(2, broker)
        let marks = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: marks, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: marks) }
        // Each job fails the first time.
        let script = #"mkdir "$0/$ASK_ID" 2>&- && exit 4; echo "$ASK_NAME $ASK_OBJECT $(cat)""#
        let following = try broker.start(
            ["mailbox", "follow", token, "--count", "2", "--", "/bin/sh", "-c", script, marks.path])
        #expect(await following.line() == #"Job o {"n":1}"#)
        #expect(await following.line() == #"Job o {"n":2}"#)
        #expect(await following.exitCode() == 0)
        #expect(try await isEmpty(token, broker))
    }

    @Test(
        "a failure is told with its exit code, and Ctrl-C leaves the job in the mailbox",
        arguments: [("exit 4", "exit code 4"), ("yes", "it wrote more than 1 MiB")])
    func told(script: String, text: String) async throws {
        let broker = try await RunningBroker()
        let token = try await mailbox(1, broker)
        let following = try broker.start(
            ["mailbox", "follow", token, "--", "/bin/sh", "-c", script], readsError: true)
        let line = try #require(await following.line())
        #expect(line.contains(text) && line.contains("tried again"))
        following.interrupt()
        #expect(await following.exitCode() == 0)
        #expect(try await !isEmpty(token, broker))
    }

    @Test("the mailbox of a responder has asks, which a command does not answer")
    func asks() async throws {
        let broker = try await RunningBroker()
        let registration = try await HTTPRequest.post(
            "observers", json: Array(#"{"object":"w","implements":["a"]}"#.utf8)
        ).answer(from: broker.url)
        let token = try #require(JSONObject(registration.content)?.string("token"))
        _ = try await broker.run("ask", "w", "a", "--ttl", "1h", "--no-wait")
        let following = try await broker.run("mailbox", "follow", token, "--", "cat")
        #expect(following.output.isEmpty && following.exitCode == 1)
    }
}
