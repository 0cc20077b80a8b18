import BelfryJSON
import Testing

@Suite("JSONScanner (RFC 8259)")
struct JSONScannerTests {
    @Test("a text of one value is accepted, and its kind told", arguments: Corpus.valid)
    func accepts(_ text: String, kind: JSONKind) throws {
        #expect(try JSONScanner.validate([UInt8](text.utf8).span) == kind)
    }

    @Test("valid text stays valid within whitespace of every kind", arguments: Corpus.valid)
    func acceptsPadded(_ text: String, kind: JSONKind) throws {
        let padded = [UInt8]("\t\r\n \(text) \n\r\t".utf8)
        #expect(try JSONScanner.validate(padded.span) == kind)
        var scanner = JSONScanner()
        let range = try scanner.skipValue(in: padded.span)
        let trimmed = text.utf8.drop { $0 <= 0x20 }
        #expect(padded[range].starts(with: trimmed.prefix(1)))
        #expect(padded[range].last.map { $0 > 0x20 } == true)
    }

    @Test("every text cut short is refused, unless a number ends there", arguments: Corpus.valid)
    func refusesPrefixes(_ text: String, kind: JSONKind) {
        if kind == .number { return }
        let bytes = [UInt8](text.utf8)
        let end = bytes.lastIndex { $0 > 0x20 } ?? 0
        for count in 0..<end {
            #expect(throws: JSONError.unexpectedEnd) {
                try JSONScanner.validate([UInt8](bytes[..<count]).span)
            }
        }
    }

    @Test("malformed text is refused with the fact and the offset", arguments: Corpus.invalid)
    func refuses(_ text: String, error: JSONError) {
        #expect(throws: error) { try JSONScanner.validate([UInt8](text.utf8).span) }
        #expect(error.isMalformed)
    }

    @Test(
        "bytes that are no UTF-8 are refused at the start of their sequence",
        arguments: Corpus.invalidUTF8)
    func refusesInvalidUTF8(_ sequence: [UInt8]) {
        let bytes = [UInt8](#"["a"#.utf8) + sequence + [UInt8](#""]"#.utf8)
        #expect(throws: JSONError.invalidUTF8(at: 3)) { try JSONScanner.validate(bytes.span) }
    }

    @Test(
        "the first and last scalar of each length of UTF-8 are accepted",
        arguments: [0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF] as [UInt32]
    )
    func acceptsBorderScalars(_ value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        let bytes = [0x22] + [UInt8](String(Character(scalar)).utf8) + [0x22]
        #expect(try JSONScanner.validate(bytes.span) == .string)
    }

    @Test("every control character must be escaped", arguments: 0..<0x20 as Range<UInt8>)
    func refusesControlCharacters(_ byte: UInt8) {
        #expect(throws: JSONError.controlCharacter(at: 2)) {
            try JSONScanner.validate([0x22, 0x61, byte, 0x22].span)
        }
    }

    @Test("every byte after a backslash but the eight and u is refused")
    func escapes() throws {
        for byte in UInt8.min...UInt8.max {
            let text: [UInt8] = [0x22, 0x5C, byte, 0x30, 0x30, 0x34, 0x31, 0x22]
            if "\"\\/bfnrtu".utf8.contains(byte) {
                #expect((try? JSONScanner.validate(text.span)) == .string || byte == 0x22)
            } else {
                #expect(throws: JSONError.invalidEscape(at: 1)) {
                    try JSONScanner.validate(text.span)
                }
            }
        }
    }

    @Test(
        "depth at the limit passes and one past it fails",
        arguments: [1, 2, 63, 64, 65, 127, 128, 129, 255, 256])
    func depth(_ limit: Int) throws {
        let atLimit =
            [UInt8](repeating: 0x5B, count: limit) + [UInt8](repeating: 0x5D, count: limit)
        #expect(try JSONScanner.validate(atLimit.span, depthLimit: limit) == .array)
        let pastIt = [0x5B] + atLimit + [0x5D]
        #expect(throws: JSONError.depthLimit(limit: limit, at: limit)) {
            try JSONScanner.validate(pastIt.span, depthLimit: limit)
        }
    }

    @Test(
        "each bracket must match its opener, however deep it is", arguments: [127, 128, 129, 254])
    func deepBrackets(depth: Int) throws {
        // Every third container is an object, so that no two words of bits are alike.
        func isObject(_ level: Int) -> Bool { level % 3 == 1 }
        let opening = (0..<depth).map { isObject($0) ? #"{"a":"# : "[" }.joined()
        let closing = (0..<depth).reversed().map { isObject($0) ? "}" : "]" }
        let text = [UInt8]((opening + "1" + closing.joined()).utf8)
        #expect(try JSONScanner.validate(text.span, depthLimit: 256) == .array)
        for wrong in [0, depth / 2, depth - 1] {
            var wrongly = closing
            wrongly[wrong] = closing[wrong] == "]" ? "}" : "]"
            let text = [UInt8]((opening + "1" + wrongly.joined()).utf8)
            #expect(throws: JSONError.unexpectedByte(at: opening.utf8.count + 1 + wrong)) {
                try JSONScanner.validate(text.span, depthLimit: 256)
            }
        }
    }

    @Test("the default limit is 64, for objects as for arrays, side by side as often as wanted")
    func defaultDepth() throws {
        func nested(_ depth: Int) -> [UInt8] {
            let opening = String(repeating: #"{"a":["#, count: depth / 2)
            return [UInt8]((opening + String(repeating: "]}", count: depth / 2)).utf8)
        }
        #expect(try JSONScanner.validate(nested(64).span) == .object)
        #expect(throws: JSONError.depthLimit(limit: 64, at: 192)) {
            try JSONScanner.validate(nested(66).span)
        }
        let wide = "[" + [String](repeating: "[{}]", count: 200).joined(separator: ",") + "]"
        #expect(try JSONScanner.validate([UInt8](wide.utf8).span, depthLimit: 3) == .array)
    }

    @Test("a scalar needs no depth, and a closing bracket must match its opener")
    func brackets() {
        #expect(throws: JSONError.unexpectedByte(at: 3)) {
            try JSONScanner.validate([UInt8]("[{}}".utf8).span)
        }
        #expect(throws: JSONError.unexpectedByte(at: 6)) {
            try JSONScanner.validate([UInt8](#"{"a":1]"#.utf8).span)
        }
    }

    @Test("skipped values report their own bytes and leave the rest")
    func ranges() throws {
        let bytes = [UInt8](#"  {"a": [1, 2]}  17 "x""#.utf8)
        var scanner = JSONScanner()
        #expect(try scanner.skipValue(in: bytes.span) == 2..<15)
        #expect(try scanner.skipValue(in: bytes.span) == 17..<19)
        #expect(throws: JSONError.trailingBytes(at: 20)) { try scanner.finish(in: bytes.span) }
        #expect(try scanner.skipValue(in: bytes.span) == 20..<23)
        try scanner.finish(in: bytes.span)
    }

    @Test("the members of an object are found by short keys")
    func shortKeys() throws {
        let bytes = [UInt8](#" { "name" : "x\u0061", "userInfo":"yö","ninebytes":1,"k\n":2} "#.utf8)
        let (brace, comma) = (UInt8(ascii: "{"), UInt8(ascii: ","))
        var scanner = JSONScanner()
        #expect(try scanner.nextShortKey(behind: comma, in: bytes.span) == nil)
        #expect(try scanner.nextShortKey(behind: brace, in: bytes.span) == 0x656D_616E)
        #expect(try scanner.plainString(in: bytes.span) == nil)
        #expect(try scanner.nextShortKey(behind: brace, in: bytes.span) == nil)
        #expect(try scanner.nextShortKey(behind: comma, in: bytes.span) == 0x6F66_6E49_7265_7375)
        let text = try scanner.plainString(in: bytes.span) ?? 0..<0
        #expect(Array(bytes[text]) == Array("yö".utf8))
        #expect(try scanner.endsObject(in: bytes.span) == false)
        for _ in 0..<2 {
            #expect(try scanner.nextShortKey(behind: comma, in: bytes.span) == 0)
            #expect(try scanner.plainString(in: bytes.span) == nil)
            _ = try scanner.skipValue(in: bytes.span)
        }
        #expect(try scanner.endsObject(in: bytes.span) == true)
        #expect(scanner.isAtEnd(of: bytes.span) == true)
    }
}
