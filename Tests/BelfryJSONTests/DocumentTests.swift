import BelfryJSON
import Testing

/// Reads what a test wrote down.
func document(_ text: String) throws -> Document {
    try Document.parse([UInt8](text.utf8).span)
}

/// Reads a patch that a test wrote down.
func patch(_ text: String) throws -> Document {
    try Document.parsePatch([UInt8](text.utf8).span)
}

/// Reads a path that a test wrote down.
func path(_ text: String) throws -> DocumentPath {
    try DocumentPath.parse([UInt8](text.utf8).span)
}

extension Document {
    /// The canonical bytes as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

@Suite("Document: what is read and written")
struct DocumentTests {
    @Test(
        "a document has no white space, no null members, and an order of its own",
        arguments: [
            (#" { "b" : 1 , "a" : { } } "#, #"{"a":{},"b":1}"#),
            (#"{"a":null,"b":{"c":null}}"#, #"{"b":{}}"#),
            (#"{"a":null,"b":[null]}"#, #"{"b":[null]}"#),
            (
                "{\"a\":[ 1 ,\n{ \"z\" : null,\t\"b\" : \" x \" } ]}",
                #"{"a":[1,{"z":null,"b":" x "}]}"#
            ),
            (
                #"{"n":1.50e+2,"m":-0,"l":123456789012345678901234567890}"#,
                #"{"l":123456789012345678901234567890,"m":-0,"n":1.50e+2}"#
            ),
            (#"{"s":"\u0041\/A"}"#, #"{"s":"\u0041\/A"}"#),
            (#"{"\u0062":1,"a":2}"#, #"{"a":2,"b":1}"#),
            (#"{"\u0022\n\u0001":1}"#, #"{"\"\n\u0001":1}"#),
            (#"{"\u00e9":1,"z":2,"Z":3,"":4,"zz":5}"#, #"{"":4,"Z":3,"z":2,"zz":5,"é":1}"#),
            (#" "dark" "#, #""dark""#), ("[ ]", "[]"), ("7", "7"), ("true", "true"),
        ])
    func canonical(_ text: String, expected: String) throws {
        let document = try document(text)
        #expect(document.text == expected)
        #expect(document.byteCount == expected.utf8.count)
        #expect(try Document.parse(document.bytes.span) == document)
    }

    @Test("a patch keeps its nulls")
    func nulls() throws {
        #expect(try patch(#"{ "b":null, "a":{"c":null} }"#).text == #"{"a":{"c":null},"b":null}"#)
        #expect(try patch(" null ").isNull)
        #expect(try !patch(#"{"a":null}"#).isNull)
    }

    @Test("objects are told from all else")
    func kinds() throws {
        #expect(try document("{}").isObject)
        #expect(try document("{}") == .empty)
        for text in ["[]", "1", "\"{}\"", "null", "true"] { #expect(try !document(text).isObject) }
    }

    @Test(
        "a key may stand in an object once, however it is spelled, and wherever the object is",
        arguments: [
            (#"{"a":1,"a":1}"#, 7), (#"{"a":1,"\u0061":2}"#, 7), (#"{"a":null,"b":1,"a":1}"#, 16),
            (#"{"x":{"a":1,"a":1}}"#, 12), (#"[[{"a":1,"b":[],"a":1}]]"#, 16),
            (#"{"":1,"":1}"#, 6),
        ])
    func twice(_ text: String, offset: Int) {
        let bytes = [UInt8](text.utf8)
        #expect(throws: DocumentError.text(.duplicateMember(at: offset))) {
            try Document.parse(bytes.span)
        }
        #expect(throws: DocumentError.text(.duplicateMember(at: offset))) {
            try Document.parsePatch(bytes.span)
        }
    }

    @Test(
        "half a surrogate pair is refused in keys, in leaves and in arrays",
        arguments: [
            (#"{"\ud800":1}"#, 2), (#"{"a":"\udc00"}"#, 6), (#"[{"a":["\ud800x"]}]"#, 8),
            (#"[{"\ud800":1}]"#, 3), (#""\ud83d\ud83d""#, 1),
        ])
    func surrogates(_ text: String, offset: Int) {
        #expect(throws: DocumentError.text(.loneSurrogate(at: offset))) { try document(text) }
    }

    @Test("a pair is read as one")
    func pair() throws {
        #expect(try document(#"{"\ud83d\ude00":"\ud83d\ude00"}"#).text == #"{"😀":"\ud83d\ude00"}"#)
    }

    @Test(
        "what is no JSON is no document",
        arguments: [
            ("", JSONError.unexpectedEnd), ("{", .unexpectedEnd),
            ("{\"a\":1,}", .unexpectedByte(at: 7)),
            ("[1,]", .unexpectedByte(at: 3)), ("[1 2]", .unexpectedByte(at: 3)),
            ("{\"a\" 1}", .unexpectedByte(at: 5)), ("{1:1}", .unexpectedByte(at: 1)),
            ("{} {}", .trailingBytes(at: 3)), ("[01]", .invalidNumber(at: 2)),
            ("{\"a\":tru}", .unexpectedByte(at: 8)), ("[{\"a\":1]", .unexpectedByte(at: 7)),
            ("\"\u{1}\"", .controlCharacter(at: 1)), ("[\"\\x\"]", .invalidEscape(at: 2)),
        ])
    func malformed(_ text: String, error: JSONError) {
        #expect(throws: DocumentError.text(error)) { try document(text) }
        #expect(error.isMalformed)
    }

    @Test(
        "objects and arrays nest up to the limit and no deeper",
        arguments: [("{\"a\":", "1", "}"), ("[", "", "]"), ("[{\"a\":", "1", "}]")])
    func depth(opening: String, core: String, closing: String) throws {
        let levels = opening.hasPrefix("[{") ? 2 : 1
        func text(_ depth: Int) -> String {
            String(repeating: opening, count: depth / levels) + core
                + String(repeating: closing, count: depth / levels)
        }
        #expect(try document(text(16)).depth == 16)
        #expect(throws: DocumentError.tooDeep(limit: 16)) { try document(text(16 + levels)) }
        let bytes = [UInt8](text(2).utf8)
        #expect(throws: DocumentError.tooDeep(limit: 1)) {
            try Document.parse(bytes.span, limits: DocumentLimits(depthLimit: 1))
        }
    }

    @Test("brackets in strings are no depth")
    func brackets() throws {
        #expect(try document(#"["[[{\"[[",{"a":"]"}]"#).depth == 2)
        #expect(try document(#""[[""#).depth == 0)
    }

    @Test(
        "there are as many canonical bytes as the limit and no more; white space and nulls are none"
    )
    func bytes() throws {
        func text(_ count: Int) -> String {
            "{\"a\":\"" + String(repeating: "x", count: count - 8) + "\"}"
        }
        #expect(try document(text(262_144)).byteCount == 262_144)
        #expect(throws: DocumentError.tooManyBytes(byteCount: 262_145, limit: 262_144)) {
            try document(text(262_145))
        }
        let limits = DocumentLimits(byteLimit: 7)
        let spaced = [UInt8](#"  { "a" : 1 , "b" : null }  "#.utf8)
        #expect(try Document.parse(spaced.span, limits: limits).byteCount == 7)
        #expect(throws: DocumentError.tooManyBytes(byteCount: 16, limit: 7)) {
            try Document.parsePatch(spaced.span, limits: limits)
        }
    }

    @Test("a path leads through objects alone")
    func lookup() throws {
        let document = try document(#"{"a":{"b":{"c":1}},"l":[{"x":1}],"é":2}"#)
        #expect(try document.value(at: path("a.b"))?.text == #"{"c":1}"#)
        #expect(try document.value(at: path("a.b.c"))?.text == "1")
        #expect(try document.value(at: path("é"))?.text == "2")
        #expect(document.value(at: .whole) == document)
        for text in ["b", "a.b.c.d", "l.0", "l.0.x", "a.c"] {
            #expect(try document.value(at: path(text)) == nil)
        }
    }
}

@Suite("DocumentPath")
struct DocumentPathTests {
    @Test(
        "a path is its keys, joined by points",
        arguments: [
            ("ui", ["ui"]), ("ui.theme", ["ui", "theme"]), ("é.😀", ["é", "😀"]),
            ("a b.\"", ["a b", "\""]),
            ("", []),
        ])
    func keys(_ text: String, keys: [String]) throws {
        let path = try path(text)
        #expect(path.keys == keys.map { [UInt8]($0.utf8) })
        #expect(path.text == [UInt8](text.utf8))
        #expect(path.isWhole == keys.isEmpty)
    }

    @Test(
        "an empty key has no address",
        arguments: [("a..b", 2), (".", 0), (".a", 0), ("a.", 2), ("a.b..", 4)])
    func emptyKeys(_ text: String, offset: Int) {
        #expect(throws: DocumentPathError.emptyKey(at: offset)) { try path(text) }
    }

    @Test("a path has 16 keys and 1,024 bytes, and no more")
    func limits() throws {
        let keys = [String](repeating: "k", count: 17)
        #expect(try path(keys.dropLast().joined(separator: ".")).keys.count == 16)
        #expect(throws: DocumentPathError.tooManyKeys(limit: 16)) {
            try path(keys.joined(separator: "."))
        }
        #expect(try path(String(repeating: "é", count: 512)).keys.count == 1)
        #expect(throws: DocumentPathError.tooManyBytes(limit: 1_024)) {
            try path(String(repeating: "é", count: 512) + "a")
        }
    }

    @Test("a path is UTF-8")
    func encoding() {
        #expect(throws: DocumentPathError.invalidUTF8) {
            try DocumentPath.parse(([0x61, 0x2E, 0xC3] as [UInt8]).span)
        }
    }

    @Test("a path leads to itself and to what is below it")
    func leads() throws {
        #expect(try path("a.b").leads(to: path("a.b")))
        #expect(try path("a.b").leads(to: path("a.b.c")))
        #expect(try DocumentPath.whole.leads(to: path("a")))
        #expect(try !path("a.b").leads(to: path("a")))
        #expect(try !path("a.b").leads(to: path("a.bc")))
    }
}
