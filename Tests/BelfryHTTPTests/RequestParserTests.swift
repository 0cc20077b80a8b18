import BelfryHTTP
import Testing

@Suite("RequestParser (RFC 9112)")
struct RequestParserTests {
    static let wholeRequests: [(input: String, events: [String])] = [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET / 1.1", "Host=a", "end"]),
        (
            "\r\n\r\nGET / HTTP/1.1\r\nhoSt:\ta\r\nempty:\r\nblank: \t\r\n\r\n\r\n",
            ["GET / 1.1", "hoSt=a", "empty=", "blank=", "end", "waiting"]
        ),
        ("GET / HTTP/1.2\r\nHost: a\r\n\r\n", ["GET / 1.1", "Host=a", "end"]),
        ("GET /x HTTP/1.0\r\n\r\n", ["GET /x 1.0", "end"]),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nX:\t  a b \t \r\n\r\n",
            ["GET / 1.1", "Host=a", "X=a b", "end"]
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nX: a\tbcdefghijkl \t mnopqrst  \r\n\r\n",
            ["GET / 1.1", "Host=a", "X=a\tbcdefghijkl \t mnopqrst", "end"]
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\n!#$%&'*+-.^_`|~09azAZ: x\r\n\r\n",
            ["GET / 1.1", "Host=a", "!#$%&'*+-.^_`|~09azAZ=x", "end"]
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nX: Düsseldorf ÿ\r\n\r\n",
            ["GET / 1.1", "Host=a", "X=Düsseldorf ÿ", "end"]
        ),
        (
            "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
            ["POST /p 1.1", "Host=a", "Content-Length=5", "body hello", "end"]
        ),
        (
            "POST /p HTTP/1.1\r\nHost: a\r\ncOnTeNt-LeNgTh:  005\t \r\n\r\nhello",
            ["POST /p 1.1", "Host=a", "cOnTeNt-LeNgTh=005", "body hello", "end"]
        ),
        (
            "GET /?a=b?c HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
            ["GET /?a=b?c 1.1", "Host=a", "Content-Length=0", "end"]
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: CHUNKED\r\n\r\n"
                + "5\r\nhello\r\n006\r\n world\r\n000\r\n\r\n",
            ["POST / 1.1", "Host=a", "Transfer-Encoding=CHUNKED", "body hello world", "end"]
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer_Encoding: chunked\r\n\r\n",
            ["POST / 1.1", "Host=a", "Transfer_Encoding=chunked", "end"]
        ),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", ["OPTIONS * 1.1", "Host=a", "end"]),
        (
            "CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n",
            ["CONNECT a.example:443 1.1", "Host=a", "end"]
        ),
        ("BREW / HTTP/1.1\r\nHost: a\r\n\r\n", ["other / 1.1", "Host=a", "end"]),
    ]

    @Test(
        "a good request gives the same events for all cuts",
        arguments: wholeRequests, Cut.allCases)
    func whole(request: (input: String, events: [String]), cut: Cut) {
        #expect(transcript(of: Array(request.input.utf8), cut: cut).lines == request.events)
    }

    static let headStarts = [
        "G", "GET ", "GET /hello", "GET /hello ", "GET /hello HTTP", "GET /hello HTTP/1.1",
        "GET /hello HTTP/1.1\r", "GET /hello HTTP/1.1\r\n", "GET /hello HTTP/1.1\r\nHos",
        "GET /hello HTTP/1.1\r\nHost:", "GET /hello HTTP/1.1\r\nHost: ",
        "GET /hello HTTP/1.1\r\nHost: localhost", "GET /hello HTTP/1.1\r\nHost: localhost\r",
        "GET /hello HTTP/1.1\r\nHost: localhost\r\n",
        "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r",
        "\r",
    ]

    @Test("the start of a head waits for more", arguments: headStarts, Cut.allCases)
    func waits(start: String, cut: Cut) {
        #expect(transcript(of: Array(start.utf8), cut: cut).lines == ["waiting"])
    }

    static let bodyStarts = [
        "Content-Length: 6\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: a\r\n",
    ]

    @Test("a body that is not whole waits for more", arguments: bodyStarts, Cut.allCases)
    func bodyWaits(start: String, cut: Cut) {
        let input = "POST / HTTP/1.1\r\nHost: a\r\n\(start)"
        let lines = transcript(of: Array(input.utf8), cut: cut).lines
        #expect(lines.suffix(2) == ["body hello", "waiting"])
    }

    @Test("an empty line begins no request, and is counted until one begins")
    func between() throws {
        var parser = RequestParser(limits: HTTPLimits())
        #expect(parser.isBetweenRequests)
        for half in ["\r", "\n", "\r\n"] {
            var cursor = 0
            #expect(try parser.nextEvent(in: half.utf8.span, at: &cursor) == nil)
            #expect(!parser.isBetweenRequests)
            #expect(!parser.hasBegunRequest)
        }
        var cursor = 0
        let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(try parser.nextEvent(in: request.utf8.span, at: &cursor) == .head)
        #expect(parser.hasBegunRequest)
        #expect(try parser.nextEvent(in: request.utf8.span, at: &cursor) == .end)
        #expect(parser.isBetweenRequests)
        #expect(!parser.hasBegunRequest)
    }

    @Test("pipelined requests come one after the other", arguments: Cut.allCases)
    func pipeline(cut: Cut) {
        let input =
            "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab"
            + "POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n"
            + "\r\nGET /3 HTTP/1.1\r\nHost: b\r\n\r\nBAD\r\n\r\n"
        let lines = transcript(of: Array(input.utf8), cut: cut).lines
        #expect(
            lines == [
                "POST /1 1.1", "Host=a", "Content-Length=2", "body ab", "end",
                "POST /2 1.1", "Host=a", "Transfer-Encoding=chunked", "body c", "end",
                "GET /3 1.1", "Host=b", "end", text(.malformedStartLine),
            ])
    }

    @Test("many pipelined requests leave nothing of one in the next", arguments: Cut.allCases)
    func reuse(cut: Cut) {
        let one =
            "POST /p?q HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\nContent-Length: 1\r\n\r\nx"
        let two = "GET / HTTP/1.0\r\n\r\n"
        var input = ""
        for _ in 0..<50 { input += one + two }
        let lines = transcript(of: Array(input.utf8), cut: cut).lines
        #expect(lines.count == 50 * 8)
        #expect(lines.suffix(2) == ["GET / 1.0", "end"])
    }

    @Test("a head that is the one before, byte for byte, is known to be, whatever its content is")
    func repeatedHead() throws {
        func post(_ target: String, _ content: String) -> String {
            "POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: \(content.utf8.count)\r\n\r\n"
                + content
        }
        let input = Array(
            (post("/a", "one") + post("/a", "two") + "\r\n" + post("/a", "six") + post("/b", "six")
                + post("/b", "four") + post("/b", "five")).utf8)
        var parser = RequestParser(limits: HTTPLimits())
        var cursor = 0
        var seen: [String] = []
        while let event = try parser.nextEvent(in: input.span, at: &cursor) {
            switch event {
            case .head:
                let target = text(parser.head.target)
                let length = parser.head.contentLength ?? 0
                seen.append("\(target) \(length)\(parser.repeatsHead ? " again" : "")")
            case .body(let range): seen.append(text(Array(input[range])))
            case .end: break
            }
        }
        #expect(
            seen == [
                "/a 3", "one", "/a 3 again", "two", "/a 3 again", "six", "/b 3", "six", "/b 4",
                "four", "/b 4 again", "five",
            ])
    }

    @Test("a repeated head has the limits of a fresh one")
    func repeatedLimits() throws {
        let request = Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".utf8)
        var limits = HTTPLimits()
        limits.bodyByteLimit = 2
        var parser = RequestParser(limits: limits)
        for isRepeated in [false, true] {
            var cursor = 0
            #expect(try parser.nextEvent(in: request.span, at: &cursor) == .head)
            #expect(parser.repeatsHead == isRepeated && parser.bodyByteLimit == 2)
            parser.bodyByteLimit = 3
            while let event = try parser.nextEvent(in: request.span, at: &cursor), event != .end {}
        }
        var cursor = 0
        #expect(try parser.nextEvent(in: request.span, at: &cursor) == .head)
        #expect(throws: HTTPError.bodyTooLarge(limit: 2)) {
            _ = try parser.nextEvent(in: request.span, at: &cursor)
        }
    }

    @Test("an error comes again and again")
    func errorStays() {
        var parser = RequestParser(limits: HTTPLimits())
        for _ in 0..<3 {
            #expect(throws: HTTPError.malformedStartLine) {
                var cursor = 0
                _ = try parser.nextEvent(in: "@".utf8.span, at: &cursor)
            }
        }
        #expect(!parser.isBetweenRequests)
    }

    @Test("heads of random bytes never trap and never differ between cuts", arguments: 0..<400)
    func random(seed: Int) {
        var generator = TestGenerator(state: UInt64(seed))
        var input = latin(
            "POST /a?b HTTP/1.1\r\nHost: a\r\nX-Long-Field: some longer value\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n3;a=\"b\"\r\nabc\r\n0\r\nT: u\r\n\r\n")
        let odd = latin("\r\n\0\u{7F} \t:;=\"/?%[]\u{FF}09AzG")
        for _ in 0..<Int(generator.next() % 3) + 1 {
            let place = Int(generator.next()) % input.count
            let byte = odd[Int(generator.next()) % odd.count]
            switch generator.next() % 3 {
            case 0: input[place] = byte
            case 1: input.insert(byte, at: place)
            default: input.remove(at: place)
            }
        }
        let whole = transcript(of: input)
        for cut in Cut.allCases {
            #expect(transcript(of: input, cut: cut) == whole)
        }
    }
}
