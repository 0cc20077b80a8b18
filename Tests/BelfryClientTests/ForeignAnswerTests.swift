import BelfryLoop
import BelfrySystem
import BelfryTLS
import Testing

@testable import BelfryClient

@Suite("Answers of somebody else: openings (Protocol.md section 10)")
struct ForeignOpeningTests {
    private static var options: ClientOptions {
        var options = ClientOptions()
        options.reconnects = true
        return options
    }

    @Test(
        "nothing that somebody else answers to an opening ends the center",
        arguments: [
            (302, "text/html", "<html>", "Location: https://login.example/\r\n"),
            (401, "text/html", "<html>", ""), (403, "application/json", "{}", ""),
            (404, "text/plain", "no", ""), (421, "", "", ""), (502, "text/html", "<html>", ""),
            (200, "application/json", "{}", ""), (204, "", "", ""),
            (403, "application/problem+json", #"{"type":"about:blank","status":403}"#, ""),
            (403, "application/problem+json", "[]", ""),
            (401, "text/html", #"{"type":"https://belfry.dev/problems/x"}"#, ""),
        ])
    func foreign(status: Int, type: String, content: String, fields: String) throws {
        let broker = try ScriptedBroker.opened(Self.options)
        broker.peer?.close()
        try broker.crank()
        for pause in [1, 2, 4] {
            // After a 503 of any server the broker is left alone for longer.
            try broker.advance(.seconds(pause))
            let opening = try broker.acceptAttempt()
            // A redirect is not followed: each attempt goes to the broker.
            #expect(opening.contains("Host: 127.0.0.1:8080\r\n"))
            try broker.refuse(status, content, type: type, fields: fields)
        }
        try broker.advance(.seconds(8))
        try broker.acceptOpening(try broker.acceptAttempt())
    }

    @Test(
        "Retry-After of a refused opening is kept to, and what is longer than 5 minutes is not",
        arguments: [
            (429, "application/problem+json", "2", 2), (503, "application/problem+json", "2", 2),
            (503, "text/html", "20", 20), (503, "text/html", "86400", 30),
            (503, "application/problem+json", "86400", 300),
        ])
    func retryAfter(status: Int, type: String, field: String, seconds: Int) throws {
        let broker = try ScriptedBroker.opened(Self.options)
        broker.peer?.close()
        try broker.crank()
        try broker.advance(.seconds(1))
        _ = try broker.acceptAttempt()
        try broker.refuse(
            status, #"{"type":"https://belfry.dev/problems/draining","status":\#(status)}"#,
            type: type, fields: "Retry-After: \(field)\r\n")
        try broker.advance(.milliseconds(seconds * 1_000 - 10))
        #expect(broker.kernel.takeAttempt() == nil)
        // Spread over half of what is due then: 8 s.
        try broker.advance(.milliseconds(4_020))
        #expect(broker.kernel.takeAttempt() != nil)
    }

    @Test("first pauses are spread over a second, so that clients come one by one")
    func spread() {
        var random = SystemRandom()
        var pauses: [Duration] = []
        for _ in 0..<100 {
            var backOff = BackOff(ClientOptions())
            pauses.append(backOff.nextPause(using: &random))
        }
        #expect(pauses.allSatisfy { $0 >= .zero && $0 <= .seconds(1) })
        let (least, most) = (pauses.min() ?? .zero, pauses.max() ?? .zero)
        #expect(most - least > .milliseconds(250))
    }

    @Test(
        "what is wrong with TLS or with this machine may be right at another attempt",
        arguments: [
            ClientError.tls(.handshakeFailed("")), .tls(.untrustedPeer("")),
            .system(SystemCallError(call: "socket", errno: 24)),
            .foreignAnswer(ForeignAnswer(status: 404)),
        ])
    func passing(error: ClientError) {
        #expect(error.isWorthRetrying)
    }
}

@Suite("Answers of somebody else: requests")
struct ForeignAnswerTests {
    @Test(
        "what was done is told by the content that was asked for: anything else is somebody else's",
        arguments: [
            (200, "text/html", "<html>login</html>"), (200, "application/json", "{}"),
            (200, "application/json", "[]"), (200, "application/json", "null"),
            (200, "application/json", "{"), (200, "", #"{"id":"n"}"#), (204, "", ""),
            (302, "text/html", ""), (404, "application/json", #"{"id":"n"}"#),
            (503, "application/problem+json", #"{"type":"about:blank"}"#),
        ])
    func foreign(status: Int, type: String, content: String) async throws {
        let thread = try BrokerThread()
        let typeField = type.isEmpty ? "" : "Content-Type: \(type); charset=utf-8\r\n"
        let length = status == 204 ? "" : "Content-Length: \(content.utf8.count)\r\n"
        let url = try await thread.start { _ in
            Array("HTTP/1.1 \(status) X\r\n\(typeField)\(length)\r\n\(content)".utf8)
        }
        let strange = ForeignAnswer(status: status, contentType: type.isEmpty ? nil : type)
        await #expect(throws: ClientError.foreignAnswer(strange)) {
            try await HTTPRequest.post(name: "A").answer(from: url)
        }
        #expect(
            ClientError.foreignAnswer(strange).description.contains("\(status)"))
    }

    @Test("a redirect is not followed, and says where it points")
    func redirect() async throws {
        let elsewhere = try BrokerThread()
        let other = try await elsewhere.start { _ in
            Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
        }
        let thread = try BrokerThread()
        let url = try await thread.start { _ in
            Array("HTTP/1.1 307 X\r\nLocation: \(other)/\r\nContent-Length: 0\r\n\r\n".utf8)
        }.authenticated(by: "secret")
        for request in [HTTPRequest.get("observers"), try .post(name: "A"), .get("/readyz")] {
            let error = await #expect(throws: ClientError.self) {
                let answer = try await request.answer(from: url)
                if !answer.isSuccess { throw answer.refusal }
            }
            #expect(error?.description.contains("\(other)/") == true)
        }
        #expect(thread.heard.contains("secret"))
        #expect(elsewhere.heard.isEmpty)
    }

    @Test(
        "a path with a dot segment is sent by no request",
        arguments: [
            HTTPRequest.value(".."), .value("."), .value("o", keyPath: ".."),
            .get("notifications/.."), .delete("observers/."), .leaveMode(".."),
        ])
    func dots(request: HTTPRequest) async throws {
        let thread = try BrokerThread()
        let url = try await thread.start { _ in nil }
        let error = await #expect(throws: ClientError.self) { try await request.answer(from: url) }
        guard case .dotSegment = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(thread.heard.isEmpty)
    }
}

@Suite("EventStream: what is no stream, and positions")
struct EventStreamPositionTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    private func event(_ seq: Int) -> String {
        #"id: k3-\#(seq)"# + "\n"
            + #"data: {"id":"n","seq":\#(seq),"name":"A","postedAt":"t"}"# + "\n\n"
    }

    @Test(
        "a page in place of a stream is somebody else's",
        arguments: ["200 OK", "401 Unauthorized", "502 Bad Gateway"])
    func foreign(status: String) async throws {
        let thread = try BrokerThread()
        let url = try await thread.start { _ in
            Array(
                "HTTP/1.1 \(status)\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nno".utf8)
        }
        let number = try #require(Int(status.prefix(3)))
        let strange = ForeignAnswer(status: number, contentType: "text/html")
        await #expect(throws: ClientError.foreignAnswer(strange)) {
            try await EventStream.observe(url, name: nil, object: nil)
        }
    }

    @Test(
        "a position is there before the first event, and moves past nothing that waits",
        arguments: [
            ("", nil, nil), ("id: k3-7\n\n", "k3-7", "k3-7"), ("id\n\n", nil, nil),
            ("id: k3-7\n\nid\n\n", "k3-7", "k3-7"),
            ("id: k3-7\n\n: hello\n\nid: k3-9\n\n", "k3-9", "k3-9"),
            // One that waits for its reader, and one behind it.
            ("id: k3-1\n\nEVENT:2id: k3-5\n\n", "k3-1", "k3-5"),
            // A gap that no notification has told yet.
            (
                "id: k3-1\n\nevent: belfry.gap\nid: k3-4\n"
                    + "data: {\"lost\":3,\"reason\":\"unknown\"}\n\n",
                "k3-1", "k3-1"
            ),
        ] as [(String, String?, String?)])
    func position(text: String, before: String?, after: String?) async throws {
        let thread = try BrokerThread()
        let stream = Self.head + text.replacing("EVENT:2", with: event(2))
        let url = try await thread.start { _ in Array(stream.utf8) }
        var options = ClientOptions()
        options.silenceLimit = .seconds(1)
        let observation = try await EventStream.observe(
            url, name: "A", object: nil, options: options)
        var iterator = observation.makeAsyncIterator()
        if text.contains("EVENT") {
            // All has come when the stream is over.
            await #expect(throws: ClientError.self) {
                #expect(observation.position == before || observation.position == nil)
                while try await iterator.next() != nil {}
            }
        } else {
            await #expect(throws: ClientError.self) { try await iterator.next() }
        }
        #expect(observation.position == after)
    }
}
