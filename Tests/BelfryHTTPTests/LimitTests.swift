import BelfryHTTP
import Testing

@Suite("HTTPLimits")
struct LimitTests {
    static let small: HTTPLimits = {
        var limits = HTTPLimits()
        limits.requestLineByteLimit = 20
        limits.fieldLineByteLimit = 16
        limits.fieldCountLimit = 3
        limits.headByteLimit = 60
        limits.bodyByteLimit = 5
        limits.emptyLineLimit = 2
        limits.chunkLineByteLimit = 8
        limits.chunkExtensionByteLimit = 6
        limits.trailerByteLimit = 20
        return limits
    }()

    static let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    static let cases: [(fits: String, exceeds: String, error: HTTPError)] = [
        // 20 and 21 bytes of request line.
        ("GET /123456 HTTP/1.1\r\n", "GET /1234567 HTTP/1.1\r\n", .requestLineTooLong(limit: 20)),
        ("GET /12345678901234 ", "GET /123456789012345 ", .requestLineTooLong(limit: 20)),
        ("GETGETGETGETGETGETGE", "GETGETGETGETGETGETGET", .requestLineTooLong(limit: 20)),
        (
            "GET / HTTP/1.1\r\nX: 1234567890123\r\n", "GET / HTTP/1.1\r\nX: 12345678901234\r\n",
            .fieldLineTooLong(limit: 16)
        ),
        (
            "GET / HTTP/1.1\r\nX: 1           \t\r\n", "GET / HTTP/1.1\r\nX: 1            \t\r\n",
            .fieldLineTooLong(limit: 16)
        ),
        (
            "GET / HTTP/1.1\r\nX:              \r\n", "GET / HTTP/1.1\r\nX:               \r\n",
            .fieldLineTooLong(limit: 16)
        ),
        (
            "GET / HTTP/1.1\r\nXXXXXXXXXXXXXXX:\r\n", "GET / HTTP/1.1\r\nXXXXXXXXXXXXXXXX:\r\n",
            .fieldLineTooLong(limit: 16)
        ),
        (
            "GET / HTTP/1.1\r\nA:1\r\nB:2\r\nHost:3\r\n\r\n",
            "GET / HTTP/1.1\r\nA:1\r\nB:2\r\nHost:3\r\nD:4\r\n\r\n", .tooManyFields(limit: 3)
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nA: 234567890123\r\nB: 23456789012\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nA: 234567890123\r\nB: 234567890123\r\n\r\n",
            .headTooLarge(limit: 60)
        ),
        ("\r\n\r\nGET", "\r\n\r\n\r\nGET", .tooManyEmptyLines(limit: 2)),
        (
            "POST / HTTP/1.1\r\nHost:a\r\nContent-Length:5\r\n\r\n",
            "POST / HTTP/1.1\r\nHost:a\r\nContent-Length:6\r\n\r\n", .bodyTooLarge(limit: 5)
        ),
    ]

    @Test("what is at a limit passes, one past it does not", arguments: cases, Cut.allCases)
    func limit(_ limit: (fits: String, exceeds: String, error: HTTPError), cut: Cut) {
        let good = transcript(of: Array(limit.fits.utf8), cut: cut, limits: Self.small)
        let bad = transcript(of: Array(limit.exceeds.utf8), cut: cut, limits: Self.small)
        #expect(good.lines.last == "waiting" || good.lines.last == "end")
        #expect(bad.lines.last == "\(limit.error)")
    }

    static let bodies: [(fits: String, exceeds: String, error: HTTPError)] = [
        ("5\r\nhello\r\n0\r\n\r\n", "6\r\n", .bodyTooLarge(limit: 5)),
        ("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "3\r\nabc\r\n3\r\n", .bodyTooLarge(limit: 5)),
        ("00000005\r\n", "000000005\r\n", .chunkLineTooLong(limit: 8)),
        ("1;a=b\r\na\r\n0;c\r\n", "1;a=b\r\na\r\n0;cd\r\n", .chunkExtensionsTooLong(limit: 6)),
        (
            "0\r\nA: 3456789012345\r\n\r\n", "0\r\nA: 34567890123456\r\n\r\n",
            .trailerTooLarge(limit: 20)
        ),
    ]

    @Test("a chunked body at a limit passes, one past it does not", arguments: bodies, Cut.allCases)
    func body(_ limit: (fits: String, exceeds: String, error: HTTPError), cut: Cut) {
        var limits = Self.small
        limits.fieldLineByteLimit = 100
        limits.headByteLimit = 1000
        let good = transcript(
            of: Array((Self.chunked + limit.fits).utf8), cut: cut, limits: limits)
        let bad = transcript(
            of: Array((Self.chunked + limit.exceeds).utf8), cut: cut, limits: limits)
        #expect(good.lines.last == "waiting" || good.lines.last == "end")
        #expect(bad.lines.last == "\(limit.error)")
    }

    @Test("the default limits answer with their statuses")
    func defaults() {
        let long = String(repeating: "a", count: 8192)
        let get = "GET / HTTP/1.1\r\nHost: a\r\n"
        let many = String(repeating: "X: y\r\n", count: 100)
        let large = String(repeating: "X: \(long.dropLast(4))\r\n", count: 8)
        #expect(error(in: Array("GET /\(long.dropLast(300)) HTTP/1.1\r\n".utf8)) == nil)
        #expect(error(in: Array("GET /\(long)".utf8))?.status == 414)
        #expect(error(in: Array("\(get)X: \(long)".utf8))?.status == 431)
        #expect(error(in: Array("\(get)\(many)".utf8))?.status == 431)
        #expect(error(in: Array("\(get)\(large)".utf8)) == .headTooLarge(limit: 65_536))
        #expect(error(in: Array("\(get)Content-Length: 1048576\r\n\r\n".utf8)) == nil)
        #expect(error(in: Array("\(get)Content-Length: 1048577\r\n\r\n".utf8))?.status == 413)
    }

    @Test("the caller may change the limit of a body after the head, for this request alone")
    func changedLimit() throws {
        let input = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n"
        var limits = HTTPLimits()
        limits.bodyByteLimit = 5
        var parser = RequestParser(limits: limits)
        var cursor = 0
        #expect(try parser.nextEvent(in: input.utf8.span, at: &cursor) == .head)
        parser.bodyByteLimit = 6
        #expect(try parser.nextEvent(in: input.utf8.span, at: &cursor) == nil)
        cursor = 0
        #expect(try parser.nextEvent(in: "123456".utf8.span, at: &cursor) == .body(0..<6))
        #expect(try parser.nextEvent(in: "123456".utf8.span, at: &cursor) == .end)
        cursor = 0
        #expect(try parser.nextEvent(in: input.utf8.span, at: &cursor) == .head)
        #expect(throws: HTTPError.bodyTooLarge(limit: 5)) {
            try parser.nextEvent(in: input.utf8.span, at: &cursor)
        }
    }
}
