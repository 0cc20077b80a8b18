import BelfryHTTP
import Testing

@Suite("Chunked requests (RFC 9112 §7.1)")
struct ChunkedTests {
    static let bodies = [
        "c\r\nhello world!\r\n0\r\n\r\n", "C\r\nhello world!\r\n0\r\n\r\n",
        "000c\r\nhello world!\r\n000\r\n\r\n", "6\r\nhello \r\n6\r\nworld!\r\n0\r\n\r\n",
        "c;ilovew3;somuchlove=aretheseparametersfor;another=withvalue\r\nhello world!\r\n0\r\n\r\n",
        "c;a=\"I \\\"love\\\"; \\\\ext\\\\\";b=\"x\";c;d=e\r\nhello world!\r\n0\r\n\r\n",
        "c ; a = b\t;c\r\nhello world!\r\n0 ;d\r\n\r\n",
        "c;a=\"\"\r\nhello world!\r\n0\r\n\r\n",
        "c\r\nhello world!\r\n0\r\nVary: *\r\nX-T: a\r\n\r\n",
        "c\r\nhello world!\r\n0\r\nX:POST / HTTP/1.1\r\n\r\n",
        "c\r\nhello world!\r\n0\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\n\r\n",
        "1\r\nh\r\n1\r\ne\r\n1\r\nl\r\n1\r\nl\r\n1\r\no\r\n1\r\n \r\n6\r\nworld!\r\n0\r\n\r\n",
    ]

    @Test("a good body comes out without its framing", arguments: bodies, Cut.allCases)
    func body(body: String, cut: Cut) {
        let input =
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
            + "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let lines = transcript(of: Array(input.utf8), cut: cut).lines
        #expect(
            lines.dropFirst(3) == ["body hello world!", "end", "GET / 1.1", "Host=a", "end"])
    }

    @Test("chunk data that looks like framing stays data", arguments: Cut.allCases)
    func looksLikeFraming(cut: Cut) {
        let input =
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "9\r\n0\r\n\r\nGET \r\n0\r\n\r\n"
        let lines = transcript(of: Array(input.utf8), cut: cut).lines
        #expect(lines.dropFirst(3) == ["body 0\r\n\r\nGET ", "end"])
    }
}
