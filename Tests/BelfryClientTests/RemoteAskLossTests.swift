import BelfrySystem
import Synchronization
import Testing

@testable import BelfryClient

/// Each wait of these tests ends with what it waits for.
@Suite("RemoteCenter: asks whose connection is lost (Protocol.md section 12)")
struct RemoteAskLossTests {
    /// A broker that answers an ask with a key at the second attempt, and others never.
    private static func script() -> BrokerThread.Script {
        let broker = AnsweringBroker()
        let attempts = Mutex(0)
        return { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            guard text.hasPrefix("POST /v1/responders/") else { return broker.answer(bytes) }
            guard text.contains("\r\nIdempotency-Key: k\r\n") else { return nil }
            let isFirst = attempts.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst, text.contains("/draining ") {
                let problem = #"{"type":"https://belfry.dev/problems/draining","status":503}"#
                return Self.response("503 Service Unavailable", problem)
            }
            // A proxy says so by itself while the broker is away.
            if isFirst, text.contains("/proxied ") {
                return Array("HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n".utf8)
            }
            if isFirst { return nil }
            return Self.response(
                "200 OK", #"{"id":"n1","answer":7,"by":"responder","observer":"o1","path":["w"]}"#)
        }
    }

    private static func response(_ status: String, _ content: String) -> [UInt8] {
        Array(
            ("HTTP/1.1 \(status)\r\nContent-Type: "
                + (status.hasPrefix("2") ? "application/json" : "application/problem+json")
                + "\r\nContent-Length: \(content.utf8.count)\r\n\r\n\(content)").utf8)
    }

    private static func options(reconnects: Bool) -> ClientOptions {
        var options = ClientOptions()
        options.reconnects = reconnects
        options.firstPause = .milliseconds(1)
        return options
    }

    @Test("one without a key fails, and one with a key where nothing is made again")
    func fails() async throws {
        let thread = try BrokerThread()
        let url = try await thread.start(nil, Self.script())
        let center = try await RemoteCenter.connect(
            to: url, options: Self.options(reconnects: true))
        await #expect(throws: ClientError.connectionLost) { try await center.ask("w", "a") }
        await center.close()
        let other = try BrokerThread()
        let otherURL = try await other.start(nil, Self.script())
        let once = try await RemoteCenter.connect(
            to: otherURL, options: Self.options(reconnects: false))
        await #expect(throws: ClientError.connectionLost) {
            try await once.ask("w", "a", idempotencyKey: "k")
        }
        await once.close()
    }

    @Test(
        "one with a key is made again, also when the broker stops",
        arguments: ["a", "draining", "proxied"])
    func repeated(selector: String) async throws {
        let thread = try BrokerThread()
        let url = try await thread.start(nil, Self.script())
        let center = try await RemoteCenter.connect(
            to: url, options: Self.options(reconnects: true))
        let answer = try await center.ask("w", selector, idempotencyKey: "k")
        #expect(answer.text == "7")
        await center.close()
    }
}
