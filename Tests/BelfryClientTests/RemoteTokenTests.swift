import Synchronization
import Testing

@testable import BelfryClient

/// Each wait of these tests ends with what it waits for.
@Suite("RemoteCenter: a function that answers tokens")
struct RemoteTokenTests {
    /// Refuses the token `old` with 401, and answers `explain` and asks.
    private static func script() -> BrokerThread.Script {
        let broker = AnsweringBroker()
        return { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            if text.contains("\r\nAuthorization: Bearer old\r\n") {
                return Self.response(
                    "401 Unauthorized",
                    #"{"type":"https://belfry.dev/problems/credentials-invalid","status":401}"#)
            }
            if text.hasPrefix("POST /v1/responders/") {
                return Self.response(
                    "200 OK",
                    #"{"id":"n1","answer":7,"by":"responder","observer":"o1","path":["w"]}"#)
            }
            return broker.answer(bytes)
        }
    }

    private static func response(_ status: String, _ content: String) -> [UInt8] {
        let type = status.hasPrefix("200") ? "application/json" : "application/problem+json"
        let fields = "Content-Type: \(type)\r\nContent-Length: \(content.utf8.count)"
        return Array("HTTP/1.1 \(status)\r\n\(fields)\r\n\r\n\(content)".utf8)
    }

    private static func broker() async throws -> (BrokerThread, BrokerURL) {
        let thread = try BrokerThread()
        let script = script()
        return (thread, try await thread.start { script($0) })
    }

    /// A token has no time to speak of.
    private static var hasty: ClientOptions {
        var options = patient
        options.openingTimeout = .milliseconds(1)
        return options
    }

    /// Answers these tokens one after the other, and fails where there is none.
    private static func source(_ tokens: [String?]) -> TokenSource {
        let left = Mutex(tokens[...])
        return {
            guard let token = left.withLock({ $0.popFirst() }) ?? nil else {
                throw Refusal("none now")
            }
            return token
        }
    }

    @Test("a center asks for another token after 401, and after a failure")
    func another() async throws {
        let (thread, url) = try await Self.broker()
        var options = patient
        options.firstPause = .milliseconds(1)
        let source = Self.source(["old", nil, "new"])
        let center = try RemoteCenter.connecting(to: url, options: options, token: source)
        #expect(try await center.post(name: "A").matched == 1)
        #expect(thread.heard.contains("\r\nAuthorization: Bearer new\r\n"))
        await center.close()
    }

    @Test("an ask shows a token of its own")
    func ask() async throws {
        let (thread, url) = try await Self.broker()
        let source = Self.source(["first", "second"])
        let center = try await RemoteCenter.connect(to: url, options: patient, token: source)
        #expect(try await center.ask("w", "s").text == "7")
        #expect(thread.heard.contains("\r\nAuthorization: Bearer second\r\n"))
        await #expect(throws: ClientError.self) { try await center.ask("w", "s") }
        await center.close()
    }

    @Test("a first connection fails with the error of the token function")
    func none() async throws {
        let (thread, url) = try await Self.broker()
        let error = ClientError.noToken(reason: #"Refusal(reason: "none now")"#)
        await #expect(throws: error) {
            try await RemoteCenter.connect(to: url, options: patient, token: Self.source([nil]))
        }
        #expect(thread.heard.isEmpty)
    }

    @Test("a function that does not answer has the time of an opening, and is then cancelled")
    func silent() async throws {
        let (_, url) = try await Self.broker()
        let silent = SilentSource()
        await #expect(throws: ClientError.timedOut) {
            try await RemoteCenter.connect(to: url, options: Self.hasty) { try await silent.ask() }
        }
        #expect(await silent.isCancelled)
    }

    @Test("an ask whose token does not come ends in that time, too")
    func silentAsk() async throws {
        let (_, url) = try await Self.broker()
        let silent = SilentSource()
        let center = try RemoteCenter.connecting(to: url, options: Self.hasty) {
            try await silent.ask()
        }
        await #expect(throws: ClientError.timedOut) { try await center.ask("w", "s") }
        #expect(await silent.isCancelled)
        await center.close()
    }

    @Test("another token may help where the one that was shown is not good, and nowhere else")
    func whenToAsk() {
        func refused(_ status: Int) -> ClientError {
            .openingRefused(BrokerRefusal(status: status, content: []))
        }
        #expect(refused(401).asksForAnotherToken)
        #expect(!refused(403).asksForAnotherToken)
        #expect(!refused(421).asksForAnotherToken)
        #expect(ClientError.closed(code: 4003, reason: "").asksForAnotherToken)
        #expect(!ClientError.closed(code: 4001, reason: "").asksForAnotherToken)
        #expect(ClientError.invalidToken.asksForAnotherToken)
        #expect(!ClientError.closedByOwner.asksForAnotherToken)
        #expect(ClientError.noToken(reason: "").isWorthRetrying)
    }
}

/// A function that answers no token until it is cancelled.
private struct SilentSource: Sendable {
    private let never = AsyncStream.makeStream(of: String.self)
    private let ends = AsyncStream.makeStream(of: Bool.self)

    func ask() async throws -> String {
        for await token in never.stream { return token }
        ends.continuation.yield(Task.isCancelled)
        throw Refusal("over")
    }

    /// Whether it was cancelled; waits until it has ended.
    var isCancelled: Bool {
        get async {
            var ended = ends.stream.makeAsyncIterator()
            return await ended.next() ?? false
        }
    }
}
