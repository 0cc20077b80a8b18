import BelfryJSON
import Testing

@Suite("JSONLines")
struct JSONLinesTests {
    @Test(
        "lines are split on line feeds, blank ones passed over",
        arguments: [
            ("", []), ("\n", []), ("\r\n \t\n", []), ("{}", ["{}"]), ("{}\n", ["{}"]),
            ("{}\n{}", ["{}", "{}"]), ("{}\r\n[1]\r\n", ["{}", "[1]"]),
            ("\n\n 1 \n\r\n2\r", ["1", "2"]),
            ("a b\nc", ["a b", "c"]),
        ] as [(String, [String])])
    func lines(_ text: String, expected: [String]) {
        let bytes = [UInt8](text.utf8)
        var lines = JSONLines()
        var found: [String] = []
        while let range = lines.next(in: bytes.span) {
            found.append(String(decoding: bytes[range], as: UTF8.self))
        }
        #expect(found == expected)
        let afterTheLast = lines.next(in: bytes.span)
        #expect(afterTheLast == nil)
    }

    @Test("a value that reaches over the end of its line is refused line by line")
    func brokenValue() throws {
        let bytes = [UInt8]("{\"a\":\n1}".utf8)
        #expect(try JSONScanner.validate(bytes.span) == .object)
        var lines = JSONLines()
        let first = lines.next(in: bytes.span)
        let range = try #require(first)
        #expect(throws: JSONError.unexpectedEnd) {
            try JSONScanner.validate(bytes.span.extracting(range))
        }
    }
}
