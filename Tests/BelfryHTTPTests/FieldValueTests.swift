import BelfryHTTP
import Testing

@Suite("Field values (RFC 9110 §5.6, §8.3, §12.5; RFC 7240)")
struct FieldValueTests {
    static let lists: [(value: String, elements: [String])] = [
        ("", []), ("a", ["a"]), (" a ,\tb,, c ", ["a", "b", "c"]), (",", []),
        ("\"a,b\", c", ["\"a,b\"", "c"]), ("\"a\\\",b\",c", ["\"a\\\",b\"", "c"]), ("\"a", ["\"a"]),
        ("\"a\\", ["\"a\\"]),
    ]

    @Test("a list is split at commas outside of quotes", arguments: lists)
    func list(value: String, elements: [String]) {
        let span = value.utf8.span
        var cursor = 0
        var found: [String] = []
        while let range = FieldList.nextElement(in: span, at: &cursor) {
            found.append(text(span.extracting(range)))
        }
        #expect(found == elements)
    }

    static let preferences:
        [(lines: [String], async: Bool, wait: Int?, returns: Preferences.Return?)] = [
            ([], false, nil, nil), (["respond-async"], true, nil, nil),
            (["wait=10"], false, 10, nil),
            (["respond-async, wait=100"], true, 100, nil),
            (["wait=10", "respond-async"], true, 10, nil),
            (["WAIT = \"5\""], false, 5, nil), (["wait=1, wait=2"], false, 1, nil),
            (["return=minimal"], false, nil, .minimal),
            (["return=representation;x=y"], false, nil, .representation),
            (["Return=\"minimal\"; foo=\"a,b\"", "return=representation"], false, nil, .minimal),
            (["wait=-1"], false, nil, nil), (["wait"], false, nil, nil),
            (["return=x"], false, nil, nil),
            (["respond-async=1, a=\"b, wait=3"], false, nil, nil),
            (["foo; wait=3"], false, nil, nil),
        ]

    @Test("Prefer may stand on several lines; the first of a kind counts", arguments: preferences)
    func prefer(lines: [String], async: Bool, wait: Int?, returns: Preferences.Return?) throws {
        let fields = lines.map { "Prefer: \($0)\r\n" }.joined()
        let found = Preferences(of: try head(of: "GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"))
        #expect(found.respondsAsync == async)
        #expect(found.waitSeconds == wait)
        #expect(found.return == returns)
    }

    static let types: [(value: String, name: String?, charset: String?)] = [
        ("application/json", "application/json", nil),
        ("Application/JSON; Charset=\"UTF-8\"", "application/json", "utf-8"),
        ("text/html;charset=utf-8;charset=x", "text/html", "utf-8"),
        ("text/html;", "text/html", nil),
        ("application/x-ndjson ; a=b", "application/x-ndjson", nil), ("", nil, nil),
        ("text", nil, nil),
        ("/json", nil, nil), ("text/", nil, nil), ("a/b/c", nil, nil), ("a b/c", nil, nil),
        ("a/b;c", nil, nil), ("a/b;c=", nil, nil), ("a/b;c=\"", nil, nil), ("a/b, c/d", nil, nil),
    ]

    @Test("a media type is lower-cased, with its charset", arguments: types)
    func mediaType(value: String, name: String?, charset: String?) {
        let type = MediaType(parsing: value.utf8.span)
        #expect(type.map { "\(text($0.type))/\(text($0.subtype))" } == name)
        #expect(type?.charset.map { text($0) } == charset)
        let isNamed = MediaType.matches(value.utf8.span, name ?? "image/png")
        #expect(isNamed == (name != nil))
    }

    static let encodings: [(lines: [String], takesGzip: Bool)] = [
        ([], false), ([""], false), (["gzip"], true), (["GZIP"], true), (["x-gzip"], true),
        (["gzip, deflate, br, zstd"], true), (["br", "gzip"], true), (["deflate, br"], false),
        (["*"], true), (["*;q=0"], false), (["gzip;q=0"], false), (["gzip;q=0, *"], false),
        (["*;q=0, gzip"], true), (["gzip;q=0.001"], true), (["identity, gzip;q=0.5"], false),
        (["identity;q=0.5, gzip;q=0.5"], true), (["identity;q=0"], false), (["gzip;q=x"], false),
        (["gzip ; q=1.0"], true), (["gzipped"], false), (["identity"], false),
        (["*;q=0.5, identity"], false), (["gzip;q=0, gzip"], false),
    ]

    @Test("Accept-Encoding says whether gzip is welcome (RFC 9110 §12.5.3)", arguments: encodings)
    func acceptEncoding(lines: [String], takesGzip: Bool) throws {
        let fields = lines.map { "Accept-Encoding: \($0)\r\n" }.joined()
        let head = try head(of: "GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        #expect(head.acceptsGzip == takesGzip)
    }

    static let dates: [(seconds: Int, text: String)] = [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
        (1_795_248_000, "Sat, 21 Nov 2026 08:00:00 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"), (-1, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ]

    @Test("dates are IMF-fixdate", arguments: dates)
    func date(seconds: Int, expected: String) {
        #expect(text(HTTPDate.bytes(secondsSince1970: seconds)) == expected)
    }
}
