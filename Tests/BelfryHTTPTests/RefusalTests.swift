import BelfryHTTP
import Testing

/// Requests that must be refused, each with its error and its status.
@Suite("RequestParser refuses (RFC 9112 §2.2, §3, §5, §6, §7)")
struct RefusalTests {
    typealias Refusal = (input: String, error: HTTPError, status: Int)

    private static func line(_ line: String) -> String { "\(line)\r\nHost: a\r\n\r\n" }
    private static func get(_ fields: String) -> String {
        "GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n"
    }
    private static func chunks(_ body: String) -> String {
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
    }

    static let startLines: [Refusal] = [
        (line(" GET / HTTP/1.1"), .malformedStartLine, 400),
        (line("GET / "), .malformedVersion, 400),
        (line("GET /"), .invalidTarget, 400),
        (line("GET / http/1.1"), .malformedVersion, 400),
        (line("GET / HTTP/2.0"), .unsupportedVersion, 505),
        (line("GET / HTTP/0.9"), .unsupportedVersion, 505),
        (line("PRI * HTTP/2.0"), .unsupportedVersion, 505),
        (line("GET / HTTP/1.10"), .malformedVersion, 400),
        (line("GET / HTTP/1.1 "), .malformedVersion, 400),
        (line("GET / HTTP/1"), .malformedVersion, 400),
        (line("GET / HTTP/11.1"), .malformedVersion, 400),
        (line("GET / HTTP/1,1"), .malformedVersion, 400),
        (line("GET / HTTP/x.1"), .malformedVersion, 400),
        (line("GET / ICE/1.0"), .malformedVersion, 400),
        (line("GET  / HTTP/1.1"), .malformedStartLine, 400),
        (line("GET /  HTTP/1.1"), .malformedVersion, 400),
        (line("GET\t/\tHTTP/1.1"), .malformedStartLine, 400),
        (line("GET HTTP/1.1"), .invalidTarget, 400),
        (line("GET /a b HTTP/1.1"), .malformedVersion, 400),
        (line("GET /a\0b HTTP/1.1"), .invalidTarget, 400),
        (line("GET /a\u{7F}b HTTP/1.1"), .invalidTarget, 400),
        (line("GET /a\u{C3} HTTP/1.1"), .invalidTarget, 400),
        (line("GET /#frag HTTP/1.1"), .invalidTarget, 400),
        (line("GET /<a> HTTP/1.1"), .invalidTarget, 400),
        (line("GET /a|b HTTP/1.1"), .invalidTarget, 400),
        (line("GET /a\\b HTTP/1.1"), .invalidTarget, 400),
        (line("GET /a[1] HTTP/1.1"), .invalidTarget, 400),
        (line("GET /?a[1]=2 HTTP/1.1"), .invalidTarget, 400),
        (line("GET foo HTTP/1.1"), .invalidTarget, 400),
        (line("GET ?a HTTP/1.1"), .invalidTarget, 400),
        (line("GET * HTTP/1.1"), .invalidTarget, 400),
        (line("OPTIONS ** HTTP/1.1"), .invalidTarget, 400),
        (line("GET ftp://a/ HTTP/1.1"), .invalidTarget, 400),
        (line("GET http:/a HTTP/1.1"), .invalidTarget, 400),
        (line("GET http:///a HTTP/1.1"), .invalidTarget, 400),
        (line("GET http://b:c@a/ HTTP/1.1"), .invalidTarget, 400),
        (line("GET http://a:8x/ HTTP/1.1"), .invalidTarget, 400),
        (line("GET http://a/[b] HTTP/1.1"), .invalidTarget, 400),
        (line("CONNECT / HTTP/1.1"), .invalidTarget, 400),
        (line("CONNECT a HTTP/1.1"), .invalidTarget, 400),
        (line("CONNECT http://a:1/ HTTP/1.1"), .invalidTarget, 400),
        ("Extra lineGET / HTTP/1.1\r\n\r\n", .malformedVersion, 400),
        ("GET / HTTP/1.1\rHost: a\r\n\r\n", .bareCarriageReturn, 400),
        ("GET / HTTP/1.1\nHost: a\n\n", .malformedVersion, 400),
        ("\nGET / HTTP/1.1\r\n\r\n", .bareLineFeed, 400),
        ("\rGET / HTTP/1.1\r\n\r\n", .bareCarriageReturn, 400),
        (line("G=\":<>(e),[T];?\" / HTTP/1.1"), .malformedStartLine, 400),
        ("\u{16}\u{3}\u{1}", .malformedStartLine, 400),
        ("\0", .malformedStartLine, 400),
    ]

    static let fields: [Refusal] = [
        ("GET / HTTP/1.1\r\n\r\n", .missingHost, 400),
        (get("Host: a"), .repeatedHost, 400),
        (get("Host: b"), .repeatedHost, 400),
        (get("Origin: http://a\r\nOrigin: http://a"), .repeatedOrigin, 400),
        (get("Origin: http://a\r\norigin: http://b"), .repeatedOrigin, 400),
        ("GET http://a/ HTTP/1.1\r\n\r\n", .missingHost, 400),
        (get("X-A : b"), .invalidFieldName, 400),
        (get("Content-Length : 1"), .invalidFieldName, 400),
        (get("Transfer-Encoding : chunked"), .invalidFieldName, 400),
        ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", .foldedField, 400),
        ("GET / HTTP/1.1\r\n\tContent-Length: 1\r\n\r\n", .foldedField, 400),
        (get("X-A: b\r\n c"), .foldedField, 400),
        (get("name\r\n : value"), .invalidFieldName, 400),
        (get(": b"), .invalidFieldName, 400),
        (get("Content-Length 10"), .invalidFieldName, 400),
        (get("X[]: a"), .invalidFieldName, 400),
        (get("X/Y: a"), .invalidFieldName, 400),
        (get("Foo\u{1}test: a"), .invalidFieldName, 400),
        (get("\u{EF}foo: a"), .invalidFieldName, 400),
        (get("Content\rLength: 3"), .invalidFieldName, 400),
        (get("X: a\0b"), .invalidFieldValue, 400),
        (get("X: long enough for words \u{1} and more"), .invalidFieldValue, 400),
        (get("X: a\u{7F}b"), .invalidFieldValue, 400),
        (get("X: va\rlue"), .bareCarriageReturn, 400),
        (get("X: a\nTransfer-Encoding: chunked"), .bareLineFeed, 400),
        (get("X:\n"), .bareLineFeed, 400),
        ("GET / HTTP/1.1\r\nHost: a\n\n", .bareLineFeed, 400),
        ("GET / HTTP/1.1\r\nHost: a\r\n\n", .bareLineFeed, 400),
        ("GET / HTTP/1.1\r\nHost: a\r\n\rZGET /evil HTTP/1.1\r\n", .bareCarriageReturn, 400),
    ]

    static let hosts: [Refusal] = [
        "", " ", "a b", "a:8x", "a:65536", ":80", "a/b", "a?b", "a@b", "user:p@b", "http://a",
        "a,b c", "[::1", "[::1]x", "[:1]", "[1:2:3]", "[1:2:3:4:5:6:7:8:9]", "[::1::]", "[12345::]",
        "[::g]", "[::1.2.3]", "[::1.2.3.256]", "[::1.2.3.04]", "[v.a]", "[vg.a]", "[]", "a%zz",
        "a%2", "\u{E4}", "a\\b", "a:1:2", "[::1]:8:1", "[fe80::1%25eth0]", "[1:2:3:4:5:6:7:]",
        "a\"b", "a<b>", "a[b]",
    ].map { ("GET / HTTP/1.1\r\nHost: \($0)\r\n\r\n", .invalidHost, 400) }

    static let framings: [Refusal] =
        [
            "+5", "-5", "abc", "0x10", "4 2", "", "5,", "5, 5", "5, 0", "1e1", "1_0", "5;a",
            "\"5\"",
            "\u{B2}", "5.0",
        ].map { (get("Content-Length: \($0)"), .invalidContentLength, 400) } + [
            (get("Content-Length: 1000000000000000000000"), .bodyTooLarge(limit: 1_048_576), 413),
            (get("Content-Length: 9223372036854775808"), .bodyTooLarge(limit: 1_048_576), 413),
            (get("Content-Length: 18446744073709551616"), .bodyTooLarge(limit: 1_048_576), 413),
            (get("Content-Length: 5\r\nContent-Length: 0"), .repeatedContentLength, 400),
            (get("Content-Length: 5\r\nContent-Length: 5"), .repeatedContentLength, 400),
            (
                get("Content-Length: 6\r\nTransfer-Encoding: chunked"),
                .contentLengthWithTransferEncoding, 400
            ),
            (
                get("Transfer-Encoding: chunked\r\nContent-Length: 6"),
                .contentLengthWithTransferEncoding, 400
            ),
            (
                get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
                .repeatedTransferEncoding, 400
            ),
            (
                get("Transfer-Encoding: chunked\r\ntransfer-encoding: identity"),
                .repeatedTransferEncoding, 400
            ),
            (get("Transfer-Encoding: gzip, chunked"), .unsupportedTransferCoding, 501),
            (get("Transfer-Encoding: gzip"), .invalidTransferEncoding, 400),
            (get("Transfer-Encoding: chunked, deflate"), .invalidTransferEncoding, 400),
            (get("Transfer-Encoding: chunked, chunked"), .invalidTransferEncoding, 400),
            (get("Transfer-Encoding: pigeons"), .invalidTransferEncoding, 400),
            (get("Transfer-Encoding: chunkedchunked"), .invalidTransferEncoding, 400),
            (get("Transfer-Encoding: xchunked"), .invalidTransferEncoding, 400),
            (get("Transfer-Encoding: identity"), .invalidTransferEncoding, 400),
            (get("Transfer-Encoding: chunked,"), .invalidTransferEncoding, 400),
            (get("Transfer-Encoding: chunked;q=1"), .invalidTransferEncoding, 400),
            (get("Transfer-Encoding: \"chunked\""), .invalidTransferEncoding, 400),
            (get("Transfer-Encoding:"), .invalidTransferEncoding, 400),
            (get("Transfer-Encoding: \u{B}chunked"), .invalidFieldValue, 400),
            (
                "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .transferEncodingInHTTP10,
                400
            ),
        ]

    static let chunkSizes: [Refusal] =
        [
            "0x5\r\nhello", "+5\r\nhello", "-5\r\nhello", " 5\r\nhello", "\t5\r\n", "\r\n\r\n",
            ";a\r\n",
            "5g\r\n", "5_0\r\n", "g\r\n", "5,\r\n",
        ].map { (chunks($0), .invalidChunkSize, 400) } + [
            (chunks("ffffffffffffffff\r\n"), .bodyTooLarge(limit: 1_048_576), 413),
            (chunks("10000000000000005\r\n"), .bodyTooLarge(limit: 1_048_576), 413),
            (chunks("100001\r\n"), .bodyTooLarge(limit: 1_048_576), 413),
            (chunks("5\nhello"), .bareLineFeed, 400),
            (chunks("5\rhello"), .bareCarriageReturn, 400),
            (chunks("5\r\nhello\n"), .missingChunkEnd, 400),
            (chunks("5\r\nhello!"), .missingChunkEnd, 400),
            (chunks("5\r\nhello\rx"), .missingChunkEnd, 400),
            (chunks("5\r\nhello0\r\n\r\n"), .missingChunkEnd, 400),
            (chunks("5;a\nhello"), .bareLineFeed, 400),
            (chunks("0\r\n\n"), .bareLineFeed, 400),
            (chunks("0\r\n\rx"), .bareCarriageReturn, 400),
            (chunks("0\r\nX : a\r\n"), .invalidFieldName, 400),
            (chunks("0\r\n X: a\r\n"), .foldedField, 400),
            (chunks("0\r\nX: \0\r\n"), .invalidFieldValue, 400),
        ]

    static let extensions: [Refusal] = [
        ";", " ", "\t", "; ", ";=b", ";a=", ";a= ", ";a=\"b", ";a=\"b\"c", ";a=b c", ";a b", ";;a",
        ";a;", " a", ";a=\"\u{1}\"", ";a=\"\\", ";a\u{1}", ";a ", ";a=b ", ";a=b\"c\"", ";a@",
    ].map { (chunks("5\($0)\r\nhello"), .invalidChunkExtension, 400) }

    @Test(
        "a malformed request is refused with its error, for all cuts",
        arguments: startLines + fields + hosts + framings + chunkSizes + extensions)
    func refused(refusal: Refusal) {
        let input = latin(refusal.input)
        #expect(error(in: input) == refusal.error)
        #expect(refusal.error.status == refusal.status)
        let whole = transcript(of: input)
        for cut in Cut.allCases {
            #expect(transcript(of: input, cut: cut) == whole)
        }
    }
}
