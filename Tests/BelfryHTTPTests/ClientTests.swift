import BelfryHTTP
import Testing

@Suite("RequestWriter and ResponseParser (RFC 9112 §3, §4, §6)")
struct ClientTests {
    /// Describes the events of a response parser; `isClosed` adds the end of the connection.
    private func transcript(
        of input: String, cut: Cut, method: HTTPMethod = .get, isClosed: Bool = false
    ) -> [String] {
        var parser = ResponseParser(limits: HTTPLimits())
        parser.requestMethod = method
        var transcript = Transcript()
        var leavesBytes = false
        do {
            for piece in cut.pieces(of: latin(input)) {
                var cursor = 0
                while let event = try parser.nextEvent(in: piece.span, at: &cursor) {
                    switch event {
                    case .head:
                        let word = parser.head.keepsAlive ? "keeps" : "closes"
                        transcript.lines.append("\(parser.head.status) \(word)")
                    case .body(let range): transcript.addContent(piece[range])
                    case .end: transcript.lines.append("end")
                    }
                }
                if cursor < piece.count { leavesBytes = true }
            }
            if isClosed, try parser.finish() != nil { transcript.lines.append("end") }
            if leavesBytes { transcript.lines.append("leaves bytes") }
        } catch {
            transcript.lines.append("\(error)")
        }
        return transcript.lines
    }

    static let responses: [(input: String, lines: [String])] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", ["200 keeps", "body hello", "end"]),
        ("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", ["200 keeps", "end"]),
        ("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", ["200 keeps", "end"]),
        (
            "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not\r\nContent-Length: 9\r\n\r\n",
            ["204 keeps", "end", "304 keeps", "end"]
        ),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
                + "HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
            ["201 closes", "body x", "end"]
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: u\r\n\r\n",
            ["200 keeps", "body abc", "end"]
        ),
        (
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\u{81}\u{1}a",
            ["101 keeps", "end", "leaves bytes"]
        ),
        (
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
            ["200 keeps", "end"]
        ),
        ("HTTP/2.0 200 OK\r\n\r\n", [text(.unsupportedVersion)]),
        ("HTTP/1.1 20 OK\r\n\r\n", [text(.malformedStartLine)]),
        ("HTTP/1.1 2000 OK\r\n\r\n", [text(.malformedStartLine)]),
        ("HTTP/1.1 020 OK\r\n\r\n", [text(.malformedStartLine)]),
        ("HTTP/1.1  200 OK\r\n\r\n", [text(.malformedStartLine)]),
        ("HTTQ/1.1 200 OK\r\n\r\n", [text(.malformedStartLine)]),
        ("HTTP/1.1 200 OK\n\n", [text(.bareLineFeed)]),
        ("HTTP/1.1 200 O\0K\r\n\r\n", [text(.malformedStartLine)]),
        ("HTTP/1.1 200 OK\rX", [text(.bareCarriageReturn)]),
        ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", [text(.invalidContentLength)]),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            [text(.repeatedContentLength)]
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            [text(.contentLengthWithTransferEncoding)]
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", [text(.invalidTransferEncoding)]),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n",
            ["200 keeps", text(.bodyTooLarge(limit: 1048576))]
        ),
        (
            String(repeating: "HTTP/1.1 102 P\r\n\r\n", count: 17),
            [text(.tooManyInterimResponses(limit: 16))]
        ),
    ]

    @Test("a response gives the same events for all cuts", arguments: responses, Cut.allCases)
    func response(response: (input: String, lines: [String]), cut: Cut) {
        #expect(transcript(of: response.input, cut: cut) == response.lines)
    }

    @Test("without framing the content lasts until the close", arguments: Cut.allCases)
    func untilClose(cut: Cut) {
        let input = "HTTP/1.1 200 OK\r\nA: b\r\n\r\nhello"
        #expect(transcript(of: input, cut: cut) == ["200 keeps", "body hello"])
        #expect(transcript(of: input, cut: cut, isClosed: true).last == "end")
    }

    @Test(
        "a close inside a response is an error",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", "HTTP/1.1 200",
            "HTTP/1.1 200 OK\r\nA:",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
        ])
    func incomplete(input: String) {
        #expect(transcript(of: input, cut: .whole, isClosed: true).last == text(.incompleteMessage))
    }

    @Test("the answer to HEAD has no content", arguments: Cut.allCases)
    func head(cut: Cut) {
        let input = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        #expect(transcript(of: input, cut: cut, method: .head) == ["200 keeps", "end"])
        let tunnel = transcript(of: input + "x", cut: cut, method: .connect)
        #expect(tunnel == ["200 keeps", "end", "leaves bytes"])
    }

    static let requests: [(method: HTTPMethod, content: String, expected: String)] = [
        (.get, "", "GET /a?b=%20 HTTP/1.1\r\nHost: h:1\r\nA: b\r\n\r\n"),
        (.post, "", "POST /a?b=%20 HTTP/1.1\r\nHost: h:1\r\nA: b\r\nContent-Length: 0\r\n\r\n"),
        (
            .delete, "x",
            "DELETE /a?b=%20 HTTP/1.1\r\nHost: h:1\r\nA: b\r\nContent-Length: 1\r\n\r\nx"
        ),
    ]

    @Test("a written request is read again", arguments: requests)
    func request(method: HTTPMethod, content: String, expected: String) throws {
        var output: [UInt8] = []
        RequestWriter.append(
            method: method, target: latin("/a?b=%20"), host: "h:1", fields: [HTTPField("A", "b")],
            content: content.utf8.span, to: &output)
        #expect(text(output) == expected)
        #expect(error(in: output) == nil)
    }

    @Test("a written response is read again", arguments: Cut.allCases)
    func twin(cut: Cut) {
        let date = HTTPDate.bytes(secondsSince1970: 0)
        let context = ResponseContext(minorVersion: 1, keepsAlive: true, isHead: false)
        var output: [UInt8] = []
        ResponseWriter.appendContinue(to: &output)
        ResponseWriter.appendJSON("{}".utf8.span, for: context, date: date.span, to: &output)
        output += "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".utf8
        #expect(
            transcript(of: text(output), cut: cut)
                == ["200 keeps", "body {}", "end", "200 keeps", "body abc", "end"])
    }
}

@Suite("EventStreamParser (WHATWG HTML §9.2.6)")
struct EventStreamParserTests {
    static let streams: [(input: String, events: [EventStreamEvent])] = [
        ("data: a\n\n", [.event(ServerSentEvent(data: latin("a")))]),
        (
            ": hello\nretry: 3000\ndata:a\ndata: b\n\n",
            [
                .comment(latin(" hello")), .retry(milliseconds: 3000),
                .event(ServerSentEvent(data: latin("a\nb"))),
            ]
        ),
        (
            "id: 1\nevent: x\ndata\n\ndata:  y\n\n",
            [
                .event(ServerSentEvent(id: latin("1"), type: latin("x"), data: [])),
                .event(ServerSentEvent(id: latin("1"), data: latin(" y"))),
            ]
        ),
        (
            "id: 1\r\ndata: a\r\n\r\nid\r\ndata: b\r\n\r\n",
            [
                .event(ServerSentEvent(id: latin("1"), data: latin("a"))),
                .event(ServerSentEvent(data: latin("b"))),
            ]
        ),
        (
            "data: a\r\rdata: b\r\n\n",
            [
                .event(ServerSentEvent(data: latin("a"))),
                .event(ServerSentEvent(data: latin("b"))),
            ]
        ),
        ("\u{EF}\u{BB}\u{BF}data: a\n\n", [.event(ServerSentEvent(data: latin("a")))]),
        (
            "id: a\0b\ndata: a\nretry: x\nretry:\nother: c\n\n",
            [.event(ServerSentEvent(data: latin("a")))]
        ),
        ("event: x\n\ndata: a\n\ndata: unfinished\n", [.event(ServerSentEvent(data: latin("a")))]),
    ]

    @Test("a stream gives the same events for all cuts", arguments: streams, Cut.allCases)
    func stream(stream: (input: String, events: [EventStreamEvent]), cut: Cut) throws {
        var parser = EventStreamParser()
        var events: [EventStreamEvent] = []
        for piece in cut.pieces(of: latin(stream.input)) {
            var cursor = 0
            while let event = try parser.nextEvent(in: piece.span, at: &cursor) {
                events.append(event)
            }
        }
        #expect(events == stream.events)
    }

    @Test("the last id outlives events and connections")
    func lastID() throws {
        var parser = EventStreamParser(lastEventID: latin("7"))
        var cursor = 0
        let first = try parser.nextEvent(in: "data: a\n\nid: 8\n\nid: 9\n".utf8.span, at: &cursor)
        #expect(first == .event(ServerSentEvent(id: latin("7"), data: latin("a"))))
        let second = try parser.nextEvent(in: "data: a\n\nid: 8\n\nid: 9\n".utf8.span, at: &cursor)
        #expect(second == .position(latin("8")))
        #expect(
            try parser.nextEvent(in: "data: a\n\nid: 8\n\nid: 9\n".utf8.span, at: &cursor) == nil)
        #expect(parser.lastEventID == latin("8"))
    }

    @Test("a line and the data of an event are bounded", arguments: Cut.allCases)
    func bounds(cut: Cut) throws {
        func error(_ input: String) -> HTTPError? {
            var parser = EventStreamParser(byteLimit: 8)
            do {
                for piece in cut.pieces(of: latin(input)) {
                    var cursor = 0
                    while try parser.nextEvent(in: piece.span, at: &cursor) != nil {}
                }
                return nil
            } catch {
                return error
            }
        }
        #expect(error(":2345678\n") == nil)
        #expect(error(":23456789\n") == .eventTooLong(limit: 8))
        #expect(error("data:678\ndata:678\ndata\n\n") == nil)
        #expect(error("data:678\ndata:678\ndata\ndata:\n\n") == .eventTooLong(limit: 8))
    }
}
