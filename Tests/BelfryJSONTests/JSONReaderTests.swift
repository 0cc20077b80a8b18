import BelfryJSON
import Testing

@Suite("JSONReader (RFC 8259)")
struct JSONReaderTests {
    @Test("an envelope is read member by member, and userInfo is left as bytes")
    func envelope() throws {
        let bytes = [UInt8](
            #" {"n\u0061me":"a\/b", "userInfo" : {"x":[1,"\ud800"],"x":2} ,"seq":-7,"x":null} "#
                .utf8)
        var reader = JSONReader()
        var seen: [String] = []
        try reader.beginObject(in: bytes.span)
        while try reader.nextMember(in: bytes.span) {
            let key = String(decoding: reader.key, as: UTF8.self)
            switch key {
            case "name":
                seen.append(String(decoding: try reader.readString(in: bytes.span), as: UTF8.self))
            case "userInfo":
                let range = try reader.skipValue(in: bytes.span)
                seen.append(String(decoding: bytes[range], as: UTF8.self))
            case "seq": seen.append("\(try reader.readInt(in: bytes.span))")
            default: seen.append("null: \(try reader.readNullIfPresent(in: bytes.span))")
            }
        }
        try reader.finish(in: bytes.span)
        #expect(seen == ["a/b", #"{"x":[1,"\ud800"],"x":2}"#, "-7", "null: true"])
    }

    @Test("nested containers are entered and left, and commas are due where they should be")
    func nested() throws {
        let bytes = [UInt8](#"[[],[1,[2]],{},{"a":[true,false],"b":3}]"#.utf8)
        var reader = JSONReader()
        var found: [String] = []
        func visit(_ reader: inout JSONReader) throws {
            switch try reader.peekKind(in: bytes.span) {
            case .array:
                found.append("[")
                try reader.beginArray(in: bytes.span)
                while try reader.nextElement(in: bytes.span) { try visit(&reader) }
                found.append("]")
            case .object:
                found.append("{")
                try reader.beginObject(in: bytes.span)
                while try reader.nextMember(in: bytes.span) {
                    found.append(String(decoding: reader.key, as: UTF8.self))
                    try visit(&reader)
                }
                found.append("}")
            case .number: found.append("\(try reader.readInt(in: bytes.span))")
            case .boolean: found.append("\(try reader.readBool(in: bytes.span))")
            case .string, .null: _ = try reader.skipValue(in: bytes.span)
            }
        }
        try visit(&reader)
        try reader.finish(in: bytes.span)
        #expect(found.joined() == "[[][1[2]]{}{a[truefalse]b3}]")
    }

    @Test(
        "malformed containers are refused where they break",
        arguments: [
            ("[1 2]", .unexpectedByte(at: 3)), ("[,1]", .unexpectedByte(at: 1)),
            ("[1,]", .unexpectedByte(at: 3)), ("[1", .unexpectedEnd), ("[1,", .unexpectedEnd),
            ("[1}", .unexpectedByte(at: 2)), ("[]]", .trailingBytes(at: 2)), ("[", .unexpectedEnd),
            ("[1]x", .trailingBytes(at: 3)), ("", .unexpectedEnd), ("x", .unexpectedByte(at: 0)),
        ] as [(String, JSONError)])
    func malformedArrays(_ text: String, error: JSONError) {
        let bytes = [UInt8](text.utf8)
        #expect(throws: error) {
            var reader = JSONReader()
            try reader.beginArray(in: bytes.span)
            while try reader.nextElement(in: bytes.span) {
                _ = try reader.skipValue(in: bytes.span)
            }
            try reader.finish(in: bytes.span)
        }
    }

    @Test(
        "malformed objects are refused where they break",
        arguments: [
            (#"{"a":1,}"#, .unexpectedByte(at: 7)), (#"{"a" 1}"#, .unexpectedByte(at: 5)),
            (#"{,"a":1}"#, .unexpectedByte(at: 1)), (#"{"a":1 "b":2}"#, .unexpectedByte(at: 7)),
            (#"{"a":}"#, .unexpectedByte(at: 5)), (#"{"a"}"#, .unexpectedByte(at: 4)),
            (#"{"a":1"#, .unexpectedEnd), (#"{"a":01}"#, .invalidNumber(at: 6)),
            (#"{"\x":1}"#, .invalidEscape(at: 2)), (#"{1:2}"#, .unexpectedByte(at: 1)),
        ] as [(String, JSONError)])
    func malformedObjects(_ text: String, error: JSONError) {
        let bytes = [UInt8](text.utf8)
        #expect(throws: error) {
            var reader = JSONReader()
            try reader.beginObject(in: bytes.span)
            while try reader.nextMember(in: bytes.span) { _ = try reader.skipValue(in: bytes.span) }
        }
    }

    @Test(
        "strings are unescaped to UTF-8",
        arguments: [
            (#""""#, ""), (#""abc""#, "abc"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""\u0041\u00e9\u20AC""#, "Aé€"), (#""x\ud83d\ude00y""#, "x😀y"),
            (#""\uD800\uDC00""#, "\u{10000}"), (#""\uDBFF\uDFFF""#, "\u{10FFFF}"),
            (#""\u0000\u007f\u0080""#, "\u{0}\u{7F}\u{80}"), (#""\u07ff\u0800""#, "\u{7FF}\u{800}"),
            (#""\uD7FF\uE000\uFFFF""#, "\u{D7FF}\u{E000}\u{FFFF}"), (#""é\n€""#, "é\n€"),
            (#""\\u0041""#, #"\u0041"#), (#""\\""#, "\\"),
        ])
    func strings(_ text: String, expected: String) throws {
        let bytes = [UInt8](text.utf8)
        var reader = JSONReader()
        #expect(try reader.readString(in: bytes.span) == [UInt8](expected.utf8))
        try reader.finish(in: bytes.span)
    }

    @Test(
        "a lone surrogate is well-formed but no text, and reading goes on behind it",
        arguments: [
            (#"["\ud800"]"#, 2), (#"["ab\udc00"]"#, 4), (#"["\ud800\ud800"]"#, 2),
            (#"["\udc00\ud800"]"#, 2), (#"["\ud800\n"]"#, 2), (#"["\ud800x"]"#, 2),
            (#"["\ud800\u0041"]"#, 2), (#"["\ud83d\ude00\ud83d"]"#, 14),
        ])
    func loneSurrogates(_ text: String, offset: Int) throws {
        let bytes = [UInt8](text.utf8)
        #expect(try JSONScanner.validate(bytes.span) == .array)
        var reader = JSONReader()
        try reader.beginArray(in: bytes.span)
        #expect(try reader.nextElement(in: bytes.span))
        #expect(throws: JSONError.loneSurrogate(at: offset)) {
            try reader.readString(in: bytes.span)
        }
        #expect(try !reader.nextElement(in: bytes.span))
        try reader.finish(in: bytes.span)
        #expect(!JSONError.loneSurrogate(at: offset).isMalformed)
    }

    @Test("a lone surrogate in a key leaves the reader in front of the value")
    func loneSurrogateInKey() throws {
        let bytes = [UInt8](#"{"\ud800":{"a":1},"b":2}"#.utf8)
        var reader = JSONReader()
        try reader.beginObject(in: bytes.span)
        #expect(throws: JSONError.loneSurrogate(at: 2)) { try reader.nextMember(in: bytes.span) }
        #expect(try reader.skipValue(in: bytes.span) == 10..<17)
        #expect(try reader.nextMember(in: bytes.span))
        #expect(reader.key == [0x62])
        #expect(reader.keyOffset == 18)
    }

    @Test(
        "integers are read to the borders of Int and not past them",
        arguments: [
            ("0", 0), ("-0", 0), ("7", 7), ("-7", -7), ("9223372036854775807", .max),
            ("-9223372036854775808", .min),
        ] as [(String, Int)])
    func integers(_ text: String, expected: Int) throws {
        let bytes = [UInt8](text.utf8)
        var reader = JSONReader()
        #expect(try reader.readInt(in: bytes.span) == expected)
        try reader.finish(in: bytes.span)
    }

    @Test(
        "what is no Int is refused, and reading goes on behind it",
        arguments: [
            ("[9223372036854775808]", .numberOutOfRange(at: 1)),
            ("[-9223372036854775809]", .numberOutOfRange(at: 1)),
            ("[100000000000000000000000]", .numberOutOfRange(at: 1)),
            ("[1.0]", .notAnInteger(at: 1)),
            ("[1e2]", .notAnInteger(at: 1)),
            ("[ \"1\"]", .wrongKind(expected: .number, found: .string, at: 2)),
            ("[[[1]]]", .wrongKind(expected: .number, found: .array, at: 1)),
        ] as [(String, JSONError)])
    func wrongIntegers(_ text: String, error: JSONError) throws {
        let bytes = [UInt8](text.utf8)
        var reader = JSONReader()
        try reader.beginArray(in: bytes.span)
        _ = try reader.nextElement(in: bytes.span)
        #expect(throws: error) { try reader.readInt(in: bytes.span) }
        #expect(!error.isMalformed)
        #expect(try !reader.nextElement(in: bytes.span))
    }

    @Test(
        "doubles are read to the nearest value",
        arguments: [
            ("0", 0), ("1", 1), ("-1", -1), ("0.5", 0.5), ("1e3", 1000), ("1E-3", 0.001),
            ("123456789012345678901234567890", 123456789012345678901234567890.0),
            ("0.1", 0.1), ("1.7976931348623157e308", Double.greatestFiniteMagnitude),
            ("5e-324", Double.leastNonzeroMagnitude), ("1e-400", 0),
            ("9007199254740993", 9007199254740992),
        ])
    func doubles(_ text: String, expected: Double) throws {
        let bytes = [UInt8](text.utf8)
        var reader = JSONReader()
        #expect(try reader.readDouble(in: bytes.span) == expected)
        try reader.finish(in: bytes.span)
    }

    @Test("a double keeps the sign of zero and refuses what would be infinite")
    func doubleBorders() throws {
        let zero = [UInt8]("-0".utf8)
        var reader = JSONReader()
        #expect(try reader.readDouble(in: zero.span).sign == .minus)
        let huge = [UInt8]("-1e400".utf8)
        var second = JSONReader()
        #expect(throws: JSONError.numberOutOfRange(at: 0)) { try second.readDouble(in: huge.span) }
        try second.finish(in: huge.span)
    }

    @Test("a value of another kind is named and passed by, whichever kind was asked for")
    func wrongKinds() throws {
        let bytes = [UInt8](#"[1,"a",true,null,{},[]]"#.utf8)
        func refuses(
            _ expected: JSONKind, _ found: JSONKind, _ offset: Int,
            _ read: (inout JSONReader) throws -> Void, _ reader: inout JSONReader
        ) throws {
            #expect(try reader.nextElement(in: bytes.span))
            #expect(throws: JSONError.wrongKind(expected: expected, found: found, at: offset)) {
                try read(&reader)
            }
        }
        var reader = JSONReader()
        try reader.beginArray(in: bytes.span)
        try refuses(.string, .number, 1, { _ = try $0.readString(in: bytes.span) }, &reader)
        try refuses(.number, .string, 3, { _ = try $0.readDouble(in: bytes.span) }, &reader)
        try refuses(.number, .boolean, 7, { _ = try $0.readInt(in: bytes.span) }, &reader)
        try refuses(.boolean, .null, 12, { _ = try $0.readBool(in: bytes.span) }, &reader)
        try refuses(.array, .object, 17, { try $0.beginArray(in: bytes.span) }, &reader)
        try refuses(.object, .array, 20, { try $0.beginObject(in: bytes.span) }, &reader)
        #expect(try !reader.nextElement(in: bytes.span))
        try reader.finish(in: bytes.span)
    }

    @Test("a malformed value is malformed, even where another kind was asked for")
    func malformedBeforeWrong() {
        let bytes = [UInt8]("[1,]".utf8)
        var reader = JSONReader()
        #expect(throws: JSONError.unexpectedByte(at: 3)) { try reader.readString(in: bytes.span) }
    }

    @Test("the depth limit is counted from the skipped value, not from the envelope")
    func depth() throws {
        let bytes = [UInt8](#"{"a":[[]],"b":[[[]]]}"#.utf8)
        var reader = JSONReader(depthLimit: 2)
        try reader.beginObject(in: bytes.span)
        _ = try reader.nextMember(in: bytes.span)
        #expect(try reader.skipValue(in: bytes.span) == 5..<9)
        _ = try reader.nextMember(in: bytes.span)
        #expect(throws: JSONError.depthLimit(limit: 2, at: 16)) {
            try reader.skipValue(in: bytes.span)
        }
    }

    @Test("a second key of one name is found, however it is escaped")
    func duplicateKeys() throws {
        let table = JSONKeyTable(["name", "object", "userInfo", "é"])
        let bytes = [UInt8](#"{"name":1,"other":2,"obj\u0065ct":3,"n\u0061me":4,"e\u0301":5}"#.utf8)
        var reader = JSONReader()
        var keys = JSONKeySet()
        var duplicates: [Int] = []
        var unknown: [Int] = []
        try reader.beginObject(in: bytes.span)
        while try reader.nextMember(in: bytes.span) {
            if let ordinal = table.ordinal(of: reader.key) {
                if !keys.insert(ordinal) { duplicates.append(reader.keyOffset) }
            } else {
                unknown.append(reader.keyOffset)
            }
            _ = try reader.skipValue(in: bytes.span)
        }
        #expect(duplicates == [36])
        // "é" in two scalars equals "é" for String, but not for us.
        #expect(unknown == [10, 50])
        #expect(keys.contains(0) && keys.contains(1) && !keys.contains(2) && !keys.contains(63))
    }

    @Test("a table finds each of its keys, and no prefix or neighbor of one")
    func keyTable() {
        let table = JSONKeyTable(["a", "ab", "", "b"])
        #expect(table.ordinal(of: [0x61]) == 0)
        #expect(table.ordinal(of: [0x61, 0x62]) == 1)
        #expect(table.ordinal(of: []) == 2)
        #expect(table.ordinal(of: [0x62]) == 3)
        #expect(table.ordinal(of: [0x62, 0x61]) == nil)
        #expect(table.ordinal(of: [0x61, 0x61, 0x62]) == nil)
    }

    @Test("the last of 64 ordinals has a place")
    func keySetBorder() {
        var keys = JSONKeySet()
        let answers = [keys.insert(63), keys.insert(63), keys.insert(0), keys.insert(0)]
        #expect(answers == [true, false, true, false])
    }
}
