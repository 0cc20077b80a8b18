import BelfryCenter
import BelfryWire
import Testing

@Suite("RequestReader.notifications")
struct NotificationsTests {
    private let reader = RequestReader()

    private func faults(_ body: String) -> [String]? {
        problem { () throws(Problem) in try reader.notifications(body) }?.faultTexts
    }

    @Test("one object is one post, and userInfo passes through")
    func single() throws {
        let userInfo = #"{ "x":1e400,"x":"\udc00", "y" : [ ] }"#
        let (posts, isBatch) = try reader.notifications(
            " {\"userInfo\": \(userInfo) ,\"n\\u0061me\":\"\\ud834\\udd1e/\","
                + "\"object\":\"o\",\"causedBy\":\"\(Bench.idText)\"} ")
        #expect(!isBatch && posts.count == 1)
        #expect(posts[0].content.nameText == "𝄞/")
        #expect(posts[0].content.objectText == "o")
        #expect(posts[0].content.userInfoText == userInfo)
        #expect(posts[0].causedBy == Bench.id)
    }

    @Test("null is as good as absent, but for the name")
    func nulls() throws {
        let (posts, _) = try reader.notifications(
            #"{"name":"a","object":null,"userInfo":null,"causedBy":null}"#)
        #expect(posts == [PostRequest(content: .init(name: bytes("a")))])
        #expect(faults(#"{"name":null}"#) == ["#/name must be a string, not null"])
    }

    @Test("an array is a batch in its order")
    func batch() throws {
        let (posts, isBatch) = try reader.notifications(#"[{"name":"a"},{"name":"b"}]"#)
        #expect(isBatch)
        #expect(posts.map(\.content.nameText) == ["a", "b"])
    }

    @Test(
        "a fault is told with its pointer",
        arguments: [
            ("{}", ["#/name is required"]),
            (#"{"name":""}"#, ["#/name must have 1 to 255 characters"]),
            (#"{"name":1}"#, ["#/name must be a string, not a number"]),
            (#"{"name":"a","object":""}"#, ["#/object must have 1 to 255 characters"]),
            (#"{"name":"a","object":{}}"#, ["#/object must be a string, not an object"]),
            (#"{"name":"a","userInfo":[]}"#, ["#/userInfo must be an object, not an array"]),
            (#"{"name":"a","causedBy":"x"}"#, ["#/causedBy must be the id of a notification"]),
            (#"{"name":"a","a/b~ é":1}"#, ["#/a~1b~0%20%C3%A9 is not a known field"]),
            (#"{"name":"a","name":"a"}"#, ["#/name must not be repeated"]),
            (#"{"name":"a","n\u0061me":"a"}"#, ["#/name must not be repeated"]),
            (#"{"name":"\ud800"}"#, ["#/name must not contain half a surrogate pair"]),
            (#"{"name":"a","\udc00":[[]]}"#, ["# has a key with half a surrogate pair"]),
            (
                #"{"name":"\u0000"}"#,
                ["#/name must not contain control characters (U+0000 to U+001F, U+007F)"]
            ),
            ("3", ["# must be an object, not a number"]),
            ("[]", ["# must have 1 to 1000 items, not 0"]),
            ("[{},[]]", ["#/0/name is required", "#/1 must be an object, not an array"]),
            (
                #"[{"name":"a"},{"name":"b","x":1,"object":2}]"#,
                ["#/1/x is not a known field", "#/1/object must be a string, not a number"]
            ),
        ])
    func pointers(body: String, expected: [String]) {
        #expect(faults(body) == expected)
    }

    @Test("all faults of all items are told, up to 16")
    func bounded() {
        let item = #"{"name":1,"object":2}"#
        let body = "[" + Array(repeating: item, count: 20).joined(separator: ",") + "]"
        #expect(faults(body)?.count == 16)
        #expect(faults(body)?.last == "#/7/object must be a string, not a number")
    }

    @Test(
        "malformed JSON anywhere wins over every other fault",
        arguments: [
            #"{"name":1,"x":2"#, #"[{"name":1},{"name":"a"},]"#, #"{"name":"belfry.a"} 1"#,
            "{\"name\":1,\"userInfo\":{\"a\":\"\u{1}\"}}", #"{"name":1,"name":01}"#,
            #"[{"style":"now"},{"name":"\x"}]"#, "", " ", #"{"\ud800":1,"a":tru}"#,
        ])
    func malformed(body: String) {
        let problem = problem { () throws(Problem) in try reader.notifications(body) }
        #expect(problem?.kind == .malformedJSON)
        #expect(problem?.errors == [])
    }

    @Test("malformed JSON behind the last item that is read is found too")
    func malformedTail() {
        let items = Array(repeating: "{}", count: 1_001).joined(separator: ",")
        let problem = problem { () throws(Problem) in try reader.notifications("[\(items)") }
        #expect(problem?.kind == .malformedJSON)
    }

    @Test("a batch has at most 1,000 items")
    func batchBorder() throws {
        func batch(_ count: Int) -> String {
            "[" + Array(repeating: #"{"name":"a"}"#, count: count).joined(separator: ",") + "]"
        }
        #expect(try reader.notifications(batch(1_000)).posts.count == 1_000)
        #expect(faults(batch(1_001)) == ["# must have 1 to 1000 items, not 1001"])
    }

    @Test("a reserved name is 403, unless fields are at fault")
    func reserved() {
        func kind(_ body: String) -> Problem? {
            problem { () throws(Problem) in try reader.notifications(body) }
        }
        let body = #"[{"name":"a"},{"name":"belfry.\u0078"}]"#
        #expect(kind(body)?.kind == .forbidden)
        #expect(kind(body)?.faultTexts == ["#/1/name is reserved"])
        #expect(kind(#"[{},{"name":"belfry.x"}]"#)?.kind == .invalidFields)
    }

    @Test("a userInfo over its limits is found behind other items, and reading goes on")
    func userInfoLimits() {
        var limits = WireLimits()
        limits.userInfoByteLimit = 10
        limits.userInfoDepthLimit = 2
        let reader = RequestReader(limits: limits)
        func problemOf(_ body: String) -> Problem? {
            problem { () throws(Problem) in try reader.notifications(body) }
        }
        #expect(problemOf(#"{"name":"a","userInfo": {"a":"xx"} }"#)?.kind == nil)
        let large = problemOf(#"[{"name":"a"},{"name":"a","userInfo":{"a":"xxx"}},{}]"#)
        #expect(large?.kind == .contentTooLarge)
        #expect(large?.faultTexts == ["#/1/userInfo must have at most 10 bytes"])
        #expect(problemOf(#"{"name":"a","userInfo":{"a":{}}}"#)?.kind == nil)
        let deep = problemOf(#"[{"userInfo":{"":{"":1,"b":[]}},"name":"a"},{"x":[[[]]]},{}]"#)
        #expect(deep?.kind == .contentTooLarge)
        let deepest = problemOf(#"[{"userInfo":{"":[[]]},"name":"a"},{"x":[[[]]]},{}]"#)
        #expect(
            deepest?.faultTexts == [
                "#/0/userInfo must not nest deeper than 2 levels", "#/1/x is not a known field",
                "#/1/name is required", "#/2/name is required",
            ])
    }

    @Test("an unknown key of any length makes no long pointer")
    func longKey() {
        let known = String(repeating: "k", count: 255)
        #expect(faults("{\"name\":\"a\",\"\(known)\":1}") == ["#/\(known) is not a known field"])
        #expect(faults("{\"name\":\"a\",\"\(known)k\":1}") == ["# is not a known field"])
    }
}

@Suite("RequestReader.notificationLines (NDJSON)")
struct NotificationLinesTests {
    private let reader = RequestReader()

    @Test("each line is one post; blank lines and the last line end do not count")
    func lines() throws {
        let posts = try reader.lines(
            "{\"name\":\"a\"}\r\n\n  \n {\"name\":\"b\",\"userInfo\":{}}\n")
        #expect(posts.map(\.content.nameText) == ["a", "b"])
        #expect(posts[1].content.userInfoText == "{}")
    }

    @Test("a pointer starts with the index of the line")
    func pointers() {
        let problem = problem { () throws(Problem) in
            try reader.lines("{\"name\":\"a\"}\n\n{\"x\":1}\n[]")
        }
        #expect(
            problem?.faultTexts == [
                "#/1/x is not a known field", "#/1/name is required",
                "#/2 must be an object, not an array",
            ])
    }

    @Test(
        "a value ends with its line, and the place of malformed JSON is one of the body",
        arguments: [
            ("{}\n{\"name\":\n\"a\"}", 11), ("{}\n{} {}", 6), ("{}\nx", 3), ("{}\n{\n}\n", 4),
        ])
    func malformed(body: String, offset: Int) {
        let problem = problem { () throws(Problem) in try reader.lines(body) }
        #expect(problem?.kind == .malformedJSON)
        #expect(problem?.members == [.init("offset", integer: offset)])
    }

    @Test("there are 1 to 1,000 lines")
    func border() throws {
        let line = "{\"name\":\"a\"}\n"
        #expect(try reader.lines(String(repeating: line, count: 1_000)).count == 1_000)
        for (count, body) in [
            (0, ""), (0, "\n\r\n"), (1_001, String(repeating: line, count: 1_001)),
        ] {
            let problem = problem { () throws(Problem) in try reader.lines(body) }
            #expect(problem?.faultTexts == ["# must have 1 to 1000 items, not \(count)"])
        }
    }
}
