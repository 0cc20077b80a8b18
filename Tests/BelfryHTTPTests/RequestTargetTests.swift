import BelfryHTTP
import Testing

@Suite("RequestTarget and PercentEncoding (RFC 3986 §2.1, §3.3, §3.4)")
struct RequestTargetTests {
    static let paths: [(path: String, segments: [String])] = [
        ("/", [""]), ("/a", ["a"]), ("/a/", ["a", ""]), ("/a/b", ["a", "b"]), ("//a", ["", "a"]),
        ("/a%2Fb/c", ["a/b", "c"]), ("/%C3%A4", ["ä"]), ("/a+b", ["a+b"]), ("/%2b%2B", ["++"]),
        ("/../.", ["..", "."]), ("/%00", ["\0"]), ("/%25zz", ["%zz"]), ("/%F0%9F%94%94", ["🔔"]),
    ]

    private func decoded(_ path: Span<UInt8>) throws -> [[UInt8]] {
        var segments: [[UInt8]] = []
        var cursor = 0
        while let range = RequestTarget.nextSegment(in: path, at: &cursor) {
            segments.append([])
            try PercentEncoding.decode(
                path.extracting(range), into: &segments[segments.count - 1])
        }
        return segments
    }

    @Test("a path is split first and decoded then", arguments: paths)
    func path(path: String, segments: [String]) throws {
        #expect(try decoded(path.utf8.span).map { text($0) } == segments)
    }

    static let badPaths: [(path: String, error: HTTPError)] = [
        ("/%zz", .invalidPercentEncoding), ("/%", .invalidPercentEncoding),
        ("/%4", .invalidPercentEncoding), ("/a%4/1", .invalidPercentEncoding),
        ("/%+1", .invalidPercentEncoding), ("/%FF", .invalidUTF8), ("/%C3", .invalidUTF8),
        ("/%C3/%A4", .invalidUTF8), ("/%C0%80", .invalidUTF8), ("/%ED%A0%80", .invalidUTF8),
        ("/%F4%90%80%80", .invalidUTF8),
    ]

    @Test("bad encoding is refused", arguments: badPaths)
    func badPath(path: String, error: HTTPError) {
        #expect(error.status == 400)
        #expect(throws: error) { try decoded(path.utf8.span) }
    }

    static let queries: [(query: String, pairs: [[String]])] = [
        ("", []), ("a=b", [["a", "b"]]), ("a=b&a=c", [["a", "b"], ["a", "c"]]), ("a", [["a", ""]]),
        ("a=", [["a", ""]]), ("=b", [["", "b"]]), ("&&a&", [["a", ""]]), ("a=b=c", [["a", "b=c"]]),
        ("a%3Db=%26", [["a=b", "&"]]), ("a=b+c", [["a", "b+c"]]), ("n=%E2%82%AC", [["n", "€"]]),
        ("a=?/", [["a", "?/"]]),
    ]

    @Test("a query is split at & and =, and decoded then", arguments: queries)
    func query(query: String, pairs: [[String]]) throws {
        let parameters = try RequestTarget.queryParameters(of: query.utf8.span)
        #expect(parameters.map { [text($0.name), text($0.value)] } == pairs)
    }

    @Test("128 parameters pass, 129 do not")
    func parameterLimit() throws {
        let most = String(repeating: "a&", count: 128)
        #expect(try RequestTarget.queryParameters(of: most.utf8.span).count == 128)
        #expect(throws: HTTPError.tooManyParameters(limit: 128)) {
            try RequestTarget.queryParameters(of: "\(most)a".utf8.span)
        }
        #expect(throws: HTTPError.invalidPercentEncoding) {
            try RequestTarget.queryParameters(of: "a=%".utf8.span)
        }
        #expect(throws: HTTPError.invalidUTF8) {
            try RequestTarget.queryParameters(of: "%80=a".utf8.span)
        }
    }

    @Test(
        "what is encoded is decoded again",
        arguments: ["", "a b", "a/b?c#d&e=f%g+h", "ä🔔\0", "~-._"])
    func roundTrip(original: String) throws {
        let encoded = PercentEncoding.encoded(original)
        var decoded: [UInt8] = []
        try PercentEncoding.decode(encoded.span, into: &decoded)
        #expect(text(decoded) == original)
        #expect(try self.decoded(([0x2F] + encoded).span).count == 1)
    }

    @Test("only unreserved characters stay as they are")
    func encoding() {
        #expect(text(PercentEncoding.encoded("aZ0-._~ /ä")) == "aZ0-._~%20%2F%C3%A4")
    }
}
