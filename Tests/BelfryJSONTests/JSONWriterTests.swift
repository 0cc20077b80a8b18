import BelfryJSON
import Testing

@Suite("JSONWriter (RFC 8259)")
struct JSONWriterTests {
    @Test("commas stand between members and elements, and nowhere else")
    func structure() {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.member("id", string: "o17", into: &bytes)
        writer.member("seq", integer: UInt64.max, into: &bytes)
        writer.member("n", integer: Int.min, into: &bytes)
        writer.member(null: "object", into: &bytes)
        writer.key("list", into: &bytes)
        writer.beginArray(into: &bytes)
        writer.beginArray(into: &bytes)
        writer.endArray(into: &bytes)
        writer.beginObject(into: &bytes)
        writer.endObject(into: &bytes)
        writer.bool(true, into: &bytes)
        writer.null(into: &bytes)
        writer.raw([UInt8]("[1, 2]".utf8), into: &bytes)
        writer.endArray(into: &bytes)
        writer.member("acknowledge", bool: false, into: &bytes)
        writer.member("lease", seconds: .seconds(3600), into: &bytes)
        writer.member("ratio", double: 0.25, into: &bytes)
        writer.member("userInfo", raw: [UInt8](#"{"a":1}"#.utf8), into: &bytes)
        writer.key(escaping: [UInt8]("a\"b".utf8), into: &bytes)
        writer.string([UInt8]("é".utf8).span, into: &bytes)
        writer.endObject(into: &bytes)
        let expected =
            #"{"id":"o17","seq":18446744073709551615,"n":-9223372036854775808,"object":null,"#
            + #""list":[[],{},true,null,[1, 2]],"acknowledge":false,"lease":3600,"ratio":0.25,"#
            + #""userInfo":{"a":1},"a\"b":"é"}"#
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
        #expect(throws: Never.self) { try JSONScanner.validate(bytes.span) }
    }

    @Test(
        "strings escape what they must and pass the rest through",
        arguments: [
            ("", #""""#), ("plain", #""plain""#), ("\"\\/", #""\"\\/""#),
            ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#), ("\u{0}\u{1F}", #""\u0000\u001F""#),
            ("a\u{7F}é€😀\u{2028}", "\"a\u{7F}é€😀\u{2028}\""), ("\"", #""\"""#),
            ("a\nb", #""a\nb""#),
        ])
    func strings(_ text: String, expected: String) {
        var bytes: [UInt8] = []
        JSONWriter.append(string: text.utf8Span.span, to: &bytes)
        #expect(bytes == [UInt8](expected.utf8))
    }

    @Test(
        "integers of every length",
        arguments: [
            (0, "0"), (9, "9"), (10, "10"), (-1, "-1"), (99, "99"), (100, "100"),
            (.max, "9223372036854775807"), (.min, "-9223372036854775808"),
        ] as [(Int, String)])
    func integers(_ value: Int, expected: String) {
        var bytes: [UInt8] = []
        JSONWriter.append(integer: value, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test(
        "doubles are as short as they can be and read back the same",
        arguments: [
            (3600, "3600"), (0.5, "0.5"), (0, "0"), (-0.0, "-0"), (-2.5, "-2.5"),
            (1e15, "1000000000000000"),
            (9_007_199_254_740_991, "9007199254740991"),
            (9_007_199_254_740_992, "9007199254740992"),
            (1e16, "1e+16"), (1e300, "1e+300"), (.leastNonzeroMagnitude, "5e-324"), (0.1, "0.1"),
        ])
    func doubles(_ value: Double, expected: String) throws {
        var bytes: [UInt8] = []
        JSONWriter.append(double: value, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
        var reader = JSONReader()
        #expect(try reader.readDouble(in: bytes.span).bitPattern == value.bitPattern)
        try reader.finish(in: bytes.span)
    }

    @Test(
        "durations are exact seconds without idle digits",
        arguments: [
            (.seconds(3600), "3600"), (.zero, "0"), (.milliseconds(500), "0.5"),
            (.milliseconds(-1500), "-1.5"), (.milliseconds(-500), "-0.5"),
            (.nanoseconds(1), "0.000000001"),
            (.milliseconds(60_050), "60.05"),
            (Duration(secondsComponent: 0, attosecondsComponent: 1), "0.000000000000000001"),
        ] as [(Duration, String)])
    func durations(_ value: Duration, expected: String) {
        var bytes: [UInt8] = []
        JSONWriter.append(seconds: value, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test("every scalar that can be written is read back as it was")
    func everyScalar() throws {
        var text = ""
        for value in stride(from: 0 as UInt32, through: 0x10FFFF, by: 61) {
            if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
        }
        for value in 0..<0x100 as Range<UInt32> {
            if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
        }
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.string(text, into: &bytes)
        var reader = JSONReader()
        #expect(try reader.readString(in: bytes.span) == [UInt8](text.utf8))
        try reader.finish(in: bytes.span)
    }
}
