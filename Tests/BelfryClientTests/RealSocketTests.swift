import BelfrySystem
import BelfryTLS
import Glibc
import TestCertificates
import Synchronization
import Testing

@testable import BelfryClient

/// Each wait of these tests ends with what it waits for.
@Suite("RemoteCenter on real sockets")
struct RemoteCenterTests {
    @Test("observe, post, receive, remove and close")
    func conversation() async throws {
        let thread = try BrokerThread()
        let broker = AnsweringBroker()
        let url = try await thread.start { broker.answer($0) }
        let center = try await RemoteCenter.connect(to: url, options: patient)
        let observation = try await center.addObserver(forName: "A", object: nil)
        #expect(observation.id == "o1")
        #expect(observation.selector == "notify")
        let receipt = try await center.post(name: "A", object: "o", userInfo: UserInfo(json: "{}"))
        #expect(receipt.matched == 1)
        for try await notification in observation {
            #expect(notification.id == receipt.id)
            try await center.removeObserver(observation)
        }
        try await observation.removeObserver()
        await center.close()
        await #expect(throws: ClientError.closedByOwner) { try await center.post(name: "A") }
    }

    @Test(
        "a host with a name is looked up, for a center and for a request; one without an address is told"
    )
    func namedHost() async throws {
        let thread = try BrokerThread()
        let broker = AnsweringBroker()
        let address = try await thread.start { broker.answer($0) }
        // Not the digits of an address, and any system can resolve it.
        let url = try BrokerURL("http://127.1:\(address.endpoint.port)")
        #expect(url.endpoint.address == nil)
        let center = try await RemoteCenter.connect(to: url, options: patient)
        #expect(try await center.post(name: "A").matched == 1)
        await center.close()
        #expect(thread.heard.contains("Host: 127.1:"))
        let plain = try BrokerThread()
        let place = try await plain.start { _ in
            Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n".utf8)
        }
        let answer = try await HTTPRequest.get("/livez").answer(
            from: BrokerURL("http://127.1:\(place.endpoint.port)"))
        #expect(answer.content == Array("ok\n".utf8))
        let nowhere = try BrokerURL("http://-:1")
        await #expect(throws: ClientError.hostNotFound) {
            try await RemoteCenter.connect(to: nowhere)
        }
        await #expect(throws: ClientError.hostNotFound) {
            try await HTTPRequest.get("/livez").answer(from: nowhere)
        }
    }

    @Test("the same over TLS, with a certificate of a trusted authority")
    func secureConversation() async throws {
        let (context, authorities) = try Self.certificate()
        let thread = try BrokerThread()
        let broker = AnsweringBroker()
        let url = try await thread.start(context, authorities: authorities) { broker.answer($0) }
        let center = try await RemoteCenter.connect(to: url, options: patient)
        let observation = try await center.addObserver(forName: "A", object: nil)
        let receipt = try await center.post(name: "A", object: "o", userInfo: UserInfo(json: "{}"))
        for try await notification in observation {
            #expect(notification.id == receipt.id)
            try await center.removeObserver(observation)
        }
        await center.close()
    }

    @Test("a broker whose certificate is not trusted is sent nothing")
    func untrusted() async throws {
        let (context, _) = try Self.certificate()
        for authorities in [TestAuthority().certificate, nil] {
            let thread = try BrokerThread()
            let url = try await thread.start(context, authorities: authorities) { _ in [] }
            for attempt in 0..<2 {
                await #expect {
                    if attempt == 0 {
                        _ = try await RemoteCenter.connect(to: url)
                    } else {
                        _ = try await HTTPRequest.get("/readyz").answer(from: url)
                    }
                } throws: { error in
                    if case .tls(.untrustedPeer) = error as? ClientError { true } else { false }
                }
            }
            #expect(thread.heard.isEmpty)
        }
    }

    @Test("a request over TLS and its answer, and a broker that speaks none")
    func secureRequest() async throws {
        let (context, authorities) = try Self.certificate()
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
        let thread = try BrokerThread()
        let url = try await thread.start(context, authorities: authorities) { _ in
            Array(response.utf8)
        }
        let answer = try await HTTPRequest.get("/livez").answer(from: url)
        #expect(answer.content == Array("ok\n".utf8))
        #expect(thread.heard.contains("Host: localhost:"))
        let plain = try BrokerThread()
        let plainURL = try await plain.start { _ in Array(response.utf8) }
        let wrong = try BrokerURL(
            "https" + plainURL.description.dropFirst(4), authorities: authorities)
        await #expect {
            try await HTTPRequest.get("/livez").answer(from: wrong)
        } throws: { error in
            if case .tls = error as? ClientError { true } else { false }
        }
    }

    private static func certificate() throws -> (TLSContext, authorities: [UInt8]) {
        let authority = TestAuthority()
        let identity = authority.issue()
        let context = try TLSContext(
            certificateChain: identity.certificate, privateKey: identity.key)
        return (context, authority.certificate)
    }

    @Test("a call whose task is cancelled ends at once, and closing goes on to its end")
    func cancelled() async throws {
        let thread = try BrokerThread()
        let broker = AnsweringBroker(answersPosts: false)
        let url = try await thread.start { broker.answer($0) }
        let center = try await RemoteCenter.connect(to: url, options: patient)
        let posting = Task {
            _ = try await center.post(name: "A")
        }
        while !broker.hasHeardPost { await Task.yield() }
        posting.cancel()
        await #expect(throws: ClientError.cancelled) { try await posting.value }
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            _ = try await center.addObserver(forName: "A", object: nil)
        }
        late.cancel()
        await #expect(throws: ClientError.cancelled) { try await late.value }
        let closing = Task {
            while !Task.isCancelled { await Task.yield() }
            await center.close()
        }
        closing.cancel()
        await closing.value
        await #expect(throws: ClientError.closedByOwner) { try await center.post(name: "A") }
    }

    @Test("a second observation has a selector of its own")
    func selectors() async throws {
        let thread = try BrokerThread()
        let broker = AnsweringBroker()
        let url = try await thread.start { broker.answer($0) }
        let center = try await RemoteCenter.connect(to: url, options: patient)
        let first = try await center.addObserver(forName: "A", object: nil)
        let second = try await center.addObserver(forName: "A", object: nil)
        #expect([first.selector, second.selector] == ["notify", "notify2"])
        await center.close()
    }

    @Test("a port where nobody listens is an error at once")
    func unreachable() async throws {
        // No system assigns port 1 to a socket that asks for any port.
        let url = try BrokerURL("http://127.0.0.1:1")
        await #expect(throws: ClientError.connectionFailed(errno: ECONNREFUSED)) {
            try await RemoteCenter.connect(to: url)
        }
        await #expect(throws: ClientError.connectionFailed(errno: ECONNREFUSED)) {
            try await HTTPRequest.get("/readyz").answer(from: url)
        }
    }
}

@Suite("HTTPRequest on real sockets")
struct HTTPRequestTests {
    private func answer(
        _ request: HTTPRequest, _ response: String, endsConnection: Bool = false
    ) async throws -> (HTTPAnswer, String) {
        let thread = try BrokerThread()
        let url = try await thread.start { _ in Array(response.utf8) }
        return (try await request.answer(from: url), thread.heard)
    }

    @Test("content without a limit comes as it arrives, and must be whole")
    func content() async throws {
        let thread = try BrokerThread()
        let content = String(repeating: "0123456789", count: 30_000)
        let url = try await thread.start { _ in
            Array(
                ("HTTP/1.1 200 OK\r\nContent-Type: application/vnd.sqlite3\r\n"
                    + "Content-Length: 300000\r\n\r\n\(content)").utf8)
        }
        var request = HTTPRequest.post("/v1/backup", json: [])
        request.form = .media("application/vnd.sqlite3")
        let collector = AnswerCollector()
        try await request.content(from: url) {
            collector.take(.content($0))
            return true
        }
        #expect(collector.answer.content == Array(content.utf8))
        #expect(thread.heard.hasPrefix("POST /v1/backup HTTP/1.1"))
        await #expect(throws: ClientError.connectionLost) {
            try await request.content(from: url) { _ in false }
        }
        let refusing = try BrokerThread()
        let problem = #"{"type":"https://belfry.dev/problems/x","status":409,"detail":"no"}"#
        let answers = [
            "HTTP/1.1 409 Conflict\r\nContent-Type: application/problem+json\r\n"
                + "Content-Length: \(problem.utf8.count)\r\n\r\n\(problem)",
            // A login page is no backup.
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
        ]
        let count = Mutex(0)
        let refusingURL = try await refusing.start { _ in
            Array(
                answers[
                    count.withLock { count in
                        count += 1
                        return count - 1
                    }
                ].utf8)
        }
        for expected in [
            ClientError.refused(BrokerRefusal(status: 409, content: Array(problem.utf8))),
            .foreignAnswer(ForeignAnswer(status: 200, contentType: "text/html")),
        ] {
            await #expect(throws: expected) {
                try await request.content(from: refusingURL) { _ in
                    Issue.record("a refusal is not the content")
                    return true
                }
            }
        }
    }

    @Test("a request and its answer")
    func exchange() async throws {
        var request = HTTPRequest.get("observers")
        request.query = [("name", "a b")]
        let (answer, heard) = try await answer(
            request,
            "HTTP/1.1 200 OK\r\nContent-Type: Application/JSON\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n"
                + "3\r\n{ }\r\n0\r\n\r\n")
        #expect(answer.status == 200)
        #expect(answer.content == Array("{ }".utf8))
        #expect(heard.hasPrefix("GET /v1/observers?name=a%20b HTTP/1.1\r\nHost: 127.0.0.1:"))
        #expect(heard.contains("\r\nConnection: close\r\n"))
    }

    @Test("content goes out as JSON")
    func post() async throws {
        let (answer, heard) = try await answer(
            .post("notifications", json: Array("{}".utf8)),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
        #expect(answer.isSuccess)
        #expect(heard.contains("\r\nContent-Type: application/json\r\n"))
        #expect(heard.hasSuffix("\r\nContent-Length: 2\r\n\r\n{}"))
    }

    @Test("a refusal is an answer, and says why")
    func refusal() async throws {
        let problem =
            #"{"type":"https://belfry.dev/problems/not-found","status":404,"#
            + #""detail":"no such observer"}"#
        let (answer, _) = try await answer(
            .delete("observers/o1"),
            "HTTP/1.1 404 Not Found\r\nContent-Type: application/problem+json\r\n"
                + "Content-Length: \(problem.utf8.count)\r\n\r\n\(problem)"
        )
        #expect(!answer.isSuccess)
        #expect(answer.refusal.description == "no such observer")
    }

    @Test("an answer that breaks off is an error")
    func incomplete() async throws {
        let thread = try BrokerThread()
        let url = try await thread.start { _ in nil }
        await #expect(throws: ClientError.connectionLost) {
            try await HTTPRequest.get("/readyz").answer(from: url)
        }
    }
}

@Suite("EventStream on real sockets (WHATWG HTML §9.2)")
struct EventStreamTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    private func event(_ seq: Int) -> String {
        #"id: k3-\#(seq)"# + "\n"
            + #"data: {"id":"n","seq":\#(seq),"name":"A","postedAt":"t"}"# + "\n\n"
    }

    @Test("notifications arrive, and removing the observer ends the stream")
    func stream() async throws {
        let thread = try BrokerThread()
        let gap = "event: belfry.gap\ndata: {\"lost\":2,\"reason\":\"unknown\"}\n\n"
        let text = Self.head + ": hello\nretry: 5\n\n" + event(1) + gap + event(4)
        let url = try await thread.start { _ in Array(text.utf8) }
        let observation = try await EventStream.observe(
            url, name: "A", object: "o", lastEventID: "k3-0")
        var iterator = observation.makeAsyncIterator()
        #expect(try await iterator.next()?.sequence == 1)
        let last = try #require(try await iterator.next())
        #expect(last.sequence == 4)
        #expect(last.gapBefore == .init(lostCount: 2, reason: "unknown"))
        try await observation.removeObserver()
        #expect(try await iterator.next() == nil)
        #expect(
            thread.heard.hasPrefix("GET /v1/events?name=A&object=o&last_event_id=k3-0 HTTP/1.1"))
    }

    @Test("a refused stream tells why")
    func refused() async throws {
        let thread = try BrokerThread()
        let problem =
            #"{"type":"https://belfry.dev/problems/forbidden","status":403,"detail":"not you"}"#
        let url = try await thread.start { _ in
            Array(
                ("HTTP/1.1 403 Forbidden\r\nContent-Type: application/problem+json\r\n"
                    + "Content-Length: \(problem.utf8.count)\r\n\r\n\(problem)").utf8)
        }
        let refusal = BrokerRefusal(status: 403, content: Array(problem.utf8))
        await #expect(throws: ClientError.refused(refusal)) {
            try await EventStream.observe(url, name: nil, object: nil)
        }
    }

    @Test("data that is no notification ends the stream with an error")
    func notUnderstood() async throws {
        let thread = try BrokerThread()
        let url = try await thread.start { _ in Array((Self.head + "data: hello\n\n").utf8) }
        let observation = try await EventStream.observe(url, name: nil, object: nil)
        var iterator = observation.makeAsyncIterator()
        await #expect(throws: ClientError.notUnderstood) { try await iterator.next() }
    }
}
