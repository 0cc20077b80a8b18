import BelfryCenter
import BelfryWire
import Testing

@Suite("RequestReader.channelPost")
struct ChannelPostTests {
    private let reader = RequestReader()

    @Test("the body is the userInfo, trimmed and otherwise untouched")
    func body() throws {
        let userInfo =
            #"{"a": 123456789012345678901234567890, "a":1.50, "\ud800":"\u00e9\/","#
            + "\n \"\u{e9}\":{}}"
        let post = try reader.channelPost(
            " \r\n\t\(userInfo) \n", name: "B", object: "o", causedBy: Bench.idText)
        #expect(post.content.nameText == "B")
        #expect(post.content.objectText == "o")
        #expect(post.content.userInfoText == userInfo)
        #expect(post.causedBy == Bench.id)
    }

    @Test("a body of nothing but whitespace is no userInfo", arguments: ["", " \r\n\t"])
    func blank(body: String) throws {
        let post = try reader.channelPost(body)
        #expect(post.content.userInfoText == nil)
        #expect(post.content.objectText == nil)
        #expect(post.causedBy == nil)
    }

    @Test(
        "a userInfo that is no object is refused",
        arguments: ["null", "[]", "1", "\"x\"", "true"])
    func kind(body: String) {
        let problem = problem { () throws(Problem) in try reader.channelPost(body) }
        #expect(problem?.kind == .invalidFields)
        #expect(problem?.faultTexts.first?.hasPrefix("# must be an object, not ") == true)
    }

    @Test(
        "a body that is no JSON is 400 with the place, whatever else is wrong",
        arguments: [("{\"a\":1,}", 7), ("{} x", 3), ("{\"a\"", 4), ("\u{1}", 0), ("[1", 2)])
    func malformed(body: String, offset: Int) {
        let problem = problem { () throws(Problem) in
            try reader.channelPost(body, name: "", object: "", causedBy: "x")
        }
        #expect(problem?.kind == .malformedJSON)
        #expect(problem?.detail.contains(" at offset \(offset). Send a JSON object, ") == true)
        #expect(problem?.members == [.init("offset", integer: offset)])
    }

    @Test("a body that is not UTF-8 is 400")
    func notUTF8() {
        let body: [UInt8] = bytes("{\"a\":\"") + [0xFF] + bytes("\"}")
        let problem = problem { () throws(Problem) in
            try reader.channelPost(name: bytes("a"), body: body.span)
        }
        #expect(
            problem?.detail == #"""
                The content is not valid JSON: invalid UTF-8 at offset 6. Send a JSON object, \#
                as {"title":"7"}.
                """#)
    }

    @Test("name, object and causedBy are checked together")
    func parameters() {
        let problem = problem { () throws(Problem) in
            try reader.channelPost("1", name: "a\u{7}", object: "", causedBy: "01j")
        }
        #expect(
            problem?.faultTexts == [
                "# must be an object, not a number",
                "?name must not contain control characters (U+0000 to U+001F, U+007F)",
                "?object must have 1 to 255 characters",
                "?causedBy must be the id of a notification",
            ])
    }

    @Test("a name has at most 255 scalars, however many bytes", arguments: ["x", "é", "𝄞"])
    func nameBorder(scalar: String) throws {
        let longest = String(repeating: scalar, count: 255)
        let post = try reader.channelPost("", name: longest, object: longest)
        #expect(post.content.nameText == longest)
        #expect(post.content.objectText == longest)
        let problem = problem { () throws(Problem) in
            try reader.channelPost("", name: longest + scalar)
        }
        #expect(problem?.faultTexts == ["?name must have 1 to 255 characters"])
    }

    @Test("a name has no C0 and no DEL, but may have C1 and spaces")
    func controls() throws {
        for value in [UInt8](0...0x1F) + [0x7F] {
            let problem = problem { () throws(Problem) in
                try reader.channelPost(name: [0x61, value], body: [UInt8]().span)
            }
            #expect(problem?.kind == .invalidFields)
        }
        #expect(throws: Never.self) { try reader.channelPost("", name: " \u{80}\u{9F}\u{FFFE}") }
    }

    @Test(
        "a name from a path that is not UTF-8 is refused",
        arguments: [[0x80], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]]
            as [[UInt8]])
    func encoding(name: [UInt8]) {
        let problem = problem { () throws(Problem) in
            try reader.channelPost(name: name, body: [UInt8]().span)
        }
        #expect(problem?.faultTexts == ["?name must be valid UTF-8"])
    }

    @Test("names that start with belfry. are 403, and only those")
    func reserved() throws {
        let problem = problem { () throws(Problem) in
            try reader.channelPost("{}", name: "belfry.x")
        }
        #expect(problem?.kind == .forbidden)
        #expect(problem?.faultTexts == ["?name is reserved"])
        for name in ["belfry", "Belfry.x", "belfryx", ".belfry."] {
            #expect(try reader.channelPost("", name: name).content.nameText == name)
        }
        #expect(try reader.channelPost("", object: "belfry.x").content.objectText == "belfry.x")
    }

    @Test("userInfo has at most 256 KiB without the whitespace around it; one more is 413")
    func byteBorder() throws {
        let largest = "{\"a\":\"" + String(repeating: "x", count: 262_144 - 8) + "\"}"
        #expect(try reader.channelPost("  \(largest)  ").content.userInfoText == largest)
        let problem = problem { () throws(Problem) in
            try reader.channelPost("{ " + largest.dropFirst(), name: "")
        }
        #expect(problem?.kind == .contentTooLarge)
        #expect(problem?.members == [.init("limit", integer: 262_144)])
    }

    @Test("userInfo nests at most 64 deep; deeper is 422, but no JSON is 400")
    func depthBorder() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "{\"a\":", count: depth - 1) + "{}"
                + String(repeating: "}", count: depth - 1)
        }
        #expect(try reader.channelPost(nested(64)).content.userInfoText == nested(64))
        for depth in [65, 128, 129, 1_000] {
            let problem = problem { () throws(Problem) in try reader.channelPost(nested(depth)) }
            #expect(problem?.kind == .invalidFields)
            #expect(
                problem?.faultTexts == [
                    "# must not nest deeper than \(depth > 128 ? 128 : 64) levels"
                ])
        }
        let problem = problem { () throws(Problem) in try reader.channelPost(nested(65) + "}") }
        #expect(problem?.kind == .malformedJSON)
    }
}
