import BelfryHTTP
import Testing

@Suite("ResponseWriter (RFC 9112 §4, §6, §7)")
struct ResponseWriterTests {
    private static let date = HTTPDate.bytes(secondsSince1970: 784_111_777)
    private static let dateLine = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
    private static let open = ResponseContext(minorVersion: 1, keepsAlive: true, isHead: false)
    private static let head = ResponseContext(minorVersion: 1, keepsAlive: true, isHead: true)
    private static let old = ResponseContext(minorVersion: 0, keepsAlive: false, isHead: false)
    private static let oldOpen = ResponseContext(minorVersion: 0, keepsAlive: true, isHead: false)

    static let shapes: [(status: Int, context: ResponseContext, expected: String)] = [
        (200, open, "HTTP/1.1 200 OK\r\n\(dateLine)A: b\r\nContent-Length: 5\r\n\r\nhello"),
        (200, head, "HTTP/1.1 200 OK\r\n\(dateLine)A: b\r\nContent-Length: 5\r\n\r\n"),
        (
            200, old,
            "HTTP/1.1 200 OK\r\n\(dateLine)A: b\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        ),
        (
            404, oldOpen,
            "HTTP/1.1 404 Not Found\r\n\(dateLine)A: b\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello"
        ),
        (
            413, .closing,
            "HTTP/1.1 413 Content Too Large\r\n\(dateLine)A: b\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        ),
        (204, open, "HTTP/1.1 204 No Content\r\n\(dateLine)A: b\r\n\r\n"),
        (
            304, .closing,
            "HTTP/1.1 304 Not Modified\r\n\(dateLine)A: b\r\nConnection: close\r\n\r\n"
        ),
        (
            599, open,
            "HTTP/1.1 599 Server Error\r\n\(dateLine)A: b\r\nContent-Length: 5\r\n\r\nhello"
        ),
    ]

    @Test("a response has exactly one framing", arguments: shapes)
    func shape(status: Int, context: ResponseContext, expected: String) {
        var output: [UInt8] = []
        ResponseWriter.append(
            status: status, fields: [HTTPField("A", "b")], content: "hello".utf8.span, for: context,
            date: Self.date.span, to: &output)
        #expect(text(output) == expected)
    }

    static let jsonShapes: [(context: ResponseContext, expected: String)] = [
        (open, "Content-Length: 2\r\n\r\n{}"), (head, "Content-Length: 2\r\n\r\n"),
        (oldOpen, "Content-Length: 2\r\nConnection: keep-alive\r\n\r\n{}"),
        (.closing, "Content-Length: 2\r\nConnection: close\r\n\r\n{}"),
    ]

    @Test("the usual answer has the same shape", arguments: jsonShapes)
    func json(context: ResponseContext, expected: String) {
        var output: [UInt8] = []
        ResponseWriter.appendJSON("{}".utf8.span, for: context, date: Self.date.span, to: &output)
        let start = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\(Self.dateLine)"
        #expect(text(output) == start + expected)
    }

    @Test("a stream ends with its connection")
    func stream() {
        var output: [UInt8] = []
        ResponseWriter.appendStreamHead(
            status: 200, fields: [HTTPField("A", "b")], date: Self.date.span, to: &output)
        #expect(
            text(output) == "HTTP/1.1 200 OK\r\n\(Self.dateLine)A: b\r\nConnection: close\r\n\r\n")
    }

    @Test("interim responses have no framing")
    func interim() {
        var output: [UInt8] = []
        ResponseWriter.appendContinue(to: &output)
        #expect(text(output) == "HTTP/1.1 100 Continue\r\n\r\n")
    }

    @Test(
        "large counts are written in full",
        arguments: [0, 9, 10, 99, 100, 1_048_576, 9_223_372_036_854_775_807])
    func counts(count: Int) {
        var output: [UInt8] = []
        ResponseWriter.appendJSONHead(
            contentByteCount: count, for: Self.open, date: Self.date.span, to: &output)
        #expect(text(output).hasSuffix("\r\nContent-Length: \(count)\r\n\r\n"))
    }

    @Test(
        "a head made beforehand gives the same bytes",
        arguments: [open, head, old, oldOpen, .closing], [0, 9, 10, 31, 32, 33, 100, 100_000])
    func preparedHead(context: ResponseContext, count: Int) {
        let content = [UInt8](repeating: 0x78, count: count)
        var expected = Array("before".utf8)
        var output = expected
        ResponseWriter.appendJSON(
            content.span, for: context, date: Self.date.span, to: &expected)
        let head = PreparedJSONHead(status: 200, date: Self.date.span)
        ResponseWriter.appendJSON(content, for: context, head, to: &output)
        #expect(output == expected)
        #expect(text(output).hasSuffix("\r\n\r\n" + text(context.isHead ? [] : content)))
    }

    @Test("it can name a location", arguments: [open, head, old, oldOpen, .closing], [0, 99, 100])
    func preparedHeadWithLocation(context: ResponseContext, count: Int) {
        let content = [UInt8](repeating: 0x78, count: count)
        var whole: [UInt8] = []
        ResponseWriter.append(
            status: 202,
            fields: [HTTPField("Content-Type", "application/json"), HTTPField("Location", "/a/b")],
            content: content.span, for: context, date: Self.date.span, to: &whole)
        var output: [UInt8] = []
        ResponseWriter.appendJSON(
            content, location: Array("/a/b".utf8), for: context,
            PreparedJSONHead(status: 202, date: Self.date.span), to: &output)
        #expect(Self.linesInAnyOrder(output) == Self.linesInAnyOrder(whole))
        #expect(text(output).hasPrefix("HTTP/1.1 202 Accepted\r\n"))
        #expect(text(output).hasSuffix("\r\n\r\n" + text(context.isHead ? [] : content)))
    }

    private static func linesInAnyOrder(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map(Array.init).sorted { $0.lexicographicallyPrecedes($1) }
    }
}
