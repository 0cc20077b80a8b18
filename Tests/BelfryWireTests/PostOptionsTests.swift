import BelfryCenter
import BelfryWire
import Testing

/// The options that some text asks for, as text: Q3's defaults are told too.
private func summary(_ options: PostOptions?) -> String {
    guard let options else { return "none" }
    let style = options.style.map { "\($0)" } ?? "plain"
    let mask = [(Coalescing.onName, "n"), (.onSender, "s")]
        .map { options.coalescing.contains($0.0) ? $0.1 : "-" }.joined()
    let modes = options.modes.map(text).joined(separator: "+")
    return [
        style, mask, options.keepsLatest ? "latest" : "first", modes,
        options.maxDelay.map { "\($0)" } ?? "-", options.isImmediate ? "immediate" : "-",
        options.timeToLive.map { "\($0)" } ?? "-",
    ].joined(separator: " ")
}

@Suite("Options of a post (Protocol.md section 1)")
struct PostOptionsTests {
    private let reader = RequestReader()

    @Test("options that differ in one of them are not equal, whichever it is")
    func equality() {
        let others = [
            PostOptions(style: .idle), PostOptions(coalescing: .onName),
            PostOptions(keepsLatest: true), PostOptions(modes: [bytes("held")]),
            PostOptions(maxDelay: 1), PostOptions(isImmediate: true), PostOptions(timeToLive: 1),
            PostOptions(timer: TimerTerms()),
        ]
        let plain = PostOptions()
        // A new option must be above too.
        #expect(Mirror(reflecting: plain).children.count == others.count)
        for other in others { #expect(other != plain) }
        #expect(plain == PostOptions())
    }

    private func options(_ members: String) throws(Problem) -> String {
        let (posts, _) = try reader.notifications("{\"name\":\"a\",\(members)}")
        return summary(posts.first?.options)
    }

    private func faults(_ members: String) -> [String]? {
        problem { () throws(Problem) in
            try reader.notifications("[{\"name\":\"a\",\(members)}]")
        }?.faultTexts
    }

    @Test(
        "a post has no options, unless one of them says something",
        arguments: [
            #""object":"o""#, #""style":null"#, #""immediate":false"#,
            #""style":null,"coalesce":null,"keep":null,"modes":null,"maxDelay":null,"#
                + #""immediate":null,"ttl":null"#,
        ])
    func none(members: String) throws {
        #expect(try options(members) == "none")
    }

    @Test(
        "a style alone has both masks, the default mode, and keeps the first (Q3)",
        arguments: ["now", "asap", "idle"])
    func styles(style: String) throws {
        #expect(try options("\"style\":\"\(style)\"") == "\(style) ns first default - - -")
    }

    @Test(
        "each option is read",
        arguments: [
            (#""style":"asap","coalesce":["name"]"#, "asap n- first default - - -"),
            (#""coalesce":["sender"],"style":"asap""#, "asap -s first default - - -"),
            (
                #""style":"asap","coalesce":["sender","name","sender"]"#,
                "asap ns first default - - -"
            ),
            (#""style":"asap","coalesce":[]"#, "asap -- first default - - -"),
            (#""style":"asap","coalesce":"n\u006fne""#, "asap -- first default - - -"),
            (#""style":"asap","keep":"latest""#, "asap ns latest default - - -"),
            (#""style":"idle","keep":"first""#, "idle ns first default - - -"),
            (#""style":"idle","modes":["common"]"#, "idle ns first common - - -"),
            (
                #""modes":["b","default","b","c,d"],"style":"idle""#,
                "idle ns first b+default+c,d - - -"
            ),
            (#""style":"idle","maxDelay":0.5"#, "idle ns first default 500000000 - -"),
            (#""maxDelay":86400,"style":"idle""#, "idle ns first default 86400000000000 - -"),
            (#""immediate":true"#, "plain ns first default - immediate -"),
            (#""style":"now","immediate":true"#, "now ns first default - immediate -"),
            (#""ttl":1e-9"#, "plain ns first default - - 1"),
            (#""ttl":2592000,"style":"asap""#, "asap ns first default - - 2592000000000000"),
        ])
    func each(members: String, expected: String) throws {
        #expect(try options(members) == expected)
    }

    @Test(
        "an option that the style cannot use is refused (Q1)",
        arguments: [
            (#""coalesce":["name"]"#, ["#/0/coalesce requires the style now, asap or idle"]),
            (#""coalesce":"none""#, ["#/0/coalesce requires the style now, asap or idle"]),
            (#""keep":"first""#, ["#/0/keep requires the style asap or idle"]),
            (#""keep":"first","style":"now""#, ["#/0/keep requires the style asap or idle"]),
            (#""keep":"latest","style":"now""#, ["#/0/keep requires the style asap or idle"]),
            (
                #""modes":["default"],"style":null"#,
                ["#/0/modes requires the style now, asap or idle"]
            ),
            (#""maxDelay":1"#, ["#/0/maxDelay requires the style idle"]),
            (#""maxDelay":1,"style":"asap""#, ["#/0/maxDelay requires the style idle"]),
            (#""maxDelay":1,"style":"now""#, ["#/0/maxDelay requires the style idle"]),
            (
                #""keep":"latest","maxDelay":1,"ttl":1"#,
                [
                    "#/0/keep requires the style asap or idle",
                    "#/0/maxDelay requires the style idle",
                ]
            ),
            // The misfits of an unknown style are not reported.
            (#""keep":"latest","style":"soon""#, ["#/0/style must be now, asap or idle"]),
        ])
    func misfits(members: String, expected: [String]) {
        #expect(faults(members) == expected)
    }

    @Test(
        "a fault is told with its pointer",
        arguments: [
            (#""style":"""#, "#/0/style must be now, asap or idle"),
            (#""style":1"#, "#/0/style must be a string, not a number"),
            (#""style":"now","coalesce":"name""#, "must be none, or an array of name and sender"),
            (#""style":"now","coalesce":7"#, "must be none, or an array of name and sender"),
            (#""style":"now","coalesce":["name","x"]"#, "#/0/coalesce/1 must be name or sender"),
            (#""style":"now","coalesce":["none"]"#, "#/0/coalesce/0 must be name or sender"),
            (
                #""style":"now","coalesce":["name",null]"#,
                "#/0/coalesce/1 must be a string, not null"
            ),
            (
                #""style":"now","coalesce":[["name"]]"#,
                "#/0/coalesce/0 must be a string, not an array"
            ),
            (#""style":"asap","keep":"last""#, "#/0/keep must be first or latest"),
            (#""style":"asap","keep":false"#, "#/0/keep must be a string, not true or false"),
            (#""style":"now","modes":[]"#, "#/0/modes must have 1 to 16 names, not 0"),
            (#""style":"now","modes":"default""#, "#/0/modes must be an array, not a string"),
            (#""style":"now","modes":["a",""]"#, "#/0/modes/1 must have 1 to 255 characters"),
            (#""style":"now","modes":["a",{}]"#, "#/0/modes/1 must be a string, not an object"),
            (
                #""style":"idle","maxDelay":0"#,
                "#/0/maxDelay must be a number above 0 and at most 86400"
            ),
            (
                #""style":"idle","maxDelay":86400.001"#,
                "#/0/maxDelay must be a number above 0 and at most 86400"
            ),
            (#""style":"idle","maxDelay":"1""#, "#/0/maxDelay must be a number, not a string"),
            (#""immediate":1"#, "#/0/immediate must be true or false, not a number"),
            (#""immediate":"true""#, "#/0/immediate must be true or false, not a string"),
            (#""ttl":0"#, "#/0/ttl must be a number above 0 and at most 2592000"),
            (#""ttl":-1"#, "#/0/ttl must be a number above 0 and at most 2592000"),
            (#""ttl":2592000.1"#, "#/0/ttl must be a number above 0 and at most 2592000"),
            (#""ttl":1e999"#, "#/0/ttl must be a number above 0 and at most 2592000"),
            (#""ttl":[]"#, "#/0/ttl must be a number, not an array"),
            (#""ttl":1,"ttl":1"#, "#/0/ttl must not be repeated"),
        ])
    func values(members: String, expected: String) {
        let faults = faults(members)
        #expect(faults?.count == 1)
        #expect(faults?.first?.hasSuffix(expected) == true, "\(faults ?? [])")
    }

    @Test("a post has at most 16 modes, those that come twice counted")
    func modeBorder() throws {
        func modes(_ count: Int) -> String {
            #""style":"asap","modes":["#
                + Array(repeating: "\"m\"", count: count).joined(separator: ",") + "]"
        }
        #expect(try options(modes(16)) == "asap ns first m - - -")
        #expect(faults(modes(17)) == ["#/0/modes must have 1 to 16 names, not 17"])
    }

    @Test("a fault behind an array points to its own place")
    func behindArray() {
        let members = #""style":"asap","modes":["a"],"coalesce":["name"],"keep":1"#
        #expect(faults(members) == ["#/0/keep must be a string, not a number"])
    }

    @Test("each item of a batch and each line has options of its own")
    func batch() throws {
        let items = [
            #"{"name":"a","style":"asap"}"#, #"{"name":"a"}"#, #"{"style":"idle","name":"a"}"#,
        ]
        let expected = ["asap ns first default - - -", "none", "idle ns first default - - -"]
        let (posts, _) = try reader.notifications("[\(items.joined(separator: ","))]")
        #expect(posts.map { summary($0.options) } == expected)
        let lines = try reader.lines(items.joined(separator: "\n"))
        #expect(lines.map { summary($0.options) } == expected)
        #expect(lines == posts)
    }
}

@Suite("Options of a post in a query")
struct PostQueryTests {
    private let reader = RequestReader()

    private func options(_ pairs: [(String, String)]) throws(Problem) -> String {
        summary(try reader.channelPost("{}", options: pairs).options)
    }

    private func faults(_ pairs: [(String, String)]) -> [String]? {
        problem { () throws(Problem) in
            try reader.channelPost("{}", options: pairs)
        }?.faultTexts
    }

    @Test("each option is read, in any order")
    func each() throws {
        #expect(try options([]) == "none")
        #expect(try options([("immediate", "false")]) == "none")
        #expect(try options([("style", "asap")]) == "asap ns first default - - -")
        let all = [
            ("style", "idle"), ("coalesce", "sender,name"), ("keep", "latest"),
            ("modes", "b,default,b"), ("maxDelay", "0.5"), ("immediate", "true"), ("ttl", "60"),
        ]
        let expected = "idle ns latest b+default 500000000 immediate 60000000000"
        #expect(try options(all) == expected)
        #expect(try options(all.reversed()) == expected)
        let post = try reader.channelPost(
            "{\"a\":1}", object: "o", causedBy: Bench.idText, options: all)
        #expect(post.content.userInfoText == "{\"a\":1}")
        #expect(post.content.objectText == "o")
        #expect(post.causedBy == Bench.id)
    }

    @Test(
        "a mask is a comma list or none",
        arguments: [("name", "n-"), ("sender", "-s"), ("name,name", "n-"), ("none", "--")])
    func masks(text: String, expected: String) throws {
        let given = try options([("style", "now"), ("coalesce", text)])
        #expect(given == "now \(expected) first default - - -")
    }

    @Test(
        "a fault is told with its parameter",
        arguments: [
            ("style", "", "must be now, asap or idle"),
            ("style", "Now", "must be now, asap or idle"),
            ("coalesce", "", "must be none, or a comma list of name and sender"),
            ("coalesce", "name,", "must be none, or a comma list of name and sender"),
            ("coalesce", "name, sender", "must be none, or a comma list of name and sender"),
            ("coalesce", "none,name", "must be none, or a comma list of name and sender"),
            ("keep", "", "must be first or latest"),
            ("modes", "", "must have 1 to 255 characters"),
            ("modes", "a,,b", "must have 1 to 255 characters"),
            (
                "modes", "a,\u{7}",
                "must not contain control characters (U+0000 to U+001F, U+007F)"
            ),
            ("modes", "1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7", "must have 1 to 16 names, not 17"),
            ("maxDelay", "0", "must be a number above 0 and at most 86400"),
            ("maxDelay", "86400.1", "must be a number above 0 and at most 86400"),
            ("maxDelay", "1s", "must be a number above 0 and at most 86400"),
            ("maxDelay", " 1", "must be a number above 0 and at most 86400"),
            ("maxDelay", "", "must be a number above 0 and at most 86400"),
            ("immediate", "1", "must be true or false"),
            ("immediate", "", "must be true or false"),
            ("ttl", "2592000.1", "must be a number above 0 and at most 2592000"),
            ("ttl", "-1", "must be a number above 0 and at most 2592000"),
            ("ttl", "+1", "must be a number above 0 and at most 2592000"),
            ("ttl", "\"1\"", "must be a number above 0 and at most 2592000"),
            ("ttl", "01", "must be a number above 0 and at most 2592000"),
            ("Style", "now", "is not a known parameter"),
            ("object", "o", "must not be repeated"),
            ("causedBy", "x", "must not be repeated"),
        ])
    func values(name: String, value: String, detail: String) {
        let style = name == "style" ? [] : [("style", "idle")]
        #expect(faults(style + [(name, value)]) == ["?\(name) \(detail)"])
    }

    @Test("the borders are taken")
    func borders() throws {
        let modes = (0..<16).map { "\($0)" }
        let given = try options([
            ("style", "idle"), ("modes", modes.joined(separator: ",")), ("maxDelay", "86400"),
            ("ttl", "2592000"),
        ])
        let all = modes.joined(separator: "+")
        #expect(given == "idle ns first \(all) 86400000000000 - 2592000000000000")
    }

    @Test("an option that the style cannot use, or that comes twice, is refused (Q1)")
    func misfits() {
        #expect(
            faults([("keep", "first"), ("maxDelay", "1"), ("ttl", "1"), ("ttl", "1")]) == [
                "?ttl must not be repeated", "?keep requires the style asap or idle",
                "?maxDelay requires the style idle",
            ])
        #expect(
            faults([("style", "asap"), ("maxDelay", "1")]) == ["?maxDelay requires the style idle"])
    }

    @Test("options are told with what else is wrong, but malformed JSON is 400 by itself")
    func together() {
        let found = problem { () throws(Problem) in
            try reader.channelPost("1", name: "", options: [("style", "x")])
        }
        #expect(
            found?.faultTexts == [
                "# must be an object, not a number", "?name must have 1 to 255 characters",
                "?style must be now, asap or idle",
            ])
        let malformed = problem { () throws(Problem) in
            try reader.channelPost("{", options: [("style", "x")])
        }
        #expect(malformed?.kind == .malformedJSON)
    }
}

@Suite("Which option each style can use (Q1, Q3, Q8)")
struct StyleOptionTests {
    private let reader = RequestReader()

    /// The options, as written in JSON and in a query.
    private static let values = [
        "coalesce": (#"["name"]"#, "name"), "keep": (#""latest""#, "latest"),
        "modes": (#"["m"]"#, "m"), "maxDelay": ("1", "1"), "ttl": ("1", "1"),
        "immediate": ("true", "true"),
    ]
    /// The styles that can use an option; "" is a plain post.
    private static let uses = [
        "coalesce": ["now", "asap", "idle"], "keep": ["asap", "idle"],
        "modes": ["now", "asap", "idle"], "maxDelay": ["idle"],
        "ttl": ["", "now", "asap", "idle"], "immediate": ["", "now", "asap", "idle"],
    ]

    @Test(
        "in a query, an envelope, a batch, lines and a call alike",
        arguments: ["", "now", "asap", "idle"],
        ["coalesce", "keep", "modes", "maxDelay", "ttl", "immediate"])
    func table(style: String, option: String) throws {
        let (json, text) = try #require(Self.values[option])
        let styles = try #require(Self.uses[option])
        let detail = styles.count == 3 ? "now, asap or idle" : styles.joined(separator: " or ")
        let fault = "\(option) requires the style \(detail)"
        func expected(_ place: String) -> [String]? {
            styles.contains(style) ? nil : [place + fault]
        }
        let query = (style.isEmpty ? [] : [("style", style)]) + [(option, text)]
        let inQuery = problem { () throws(Problem) in
            try reader.channelPost("{}", options: query)
        }
        #expect(inQuery?.faultTexts == expected("?"))
        let members = style.isEmpty ? "" : #""style":"\#(style)","#
        let envelope = #"{"name":"a",\#(members)"\#(option)":\#(json)}"#
        let alone = problem { () throws(Problem) in try reader.notifications(envelope) }
        #expect(alone?.faultTexts == expected("#/"))
        let batch = problem { () throws(Problem) in
            try reader.notifications(#"[{"name":"b"},\#(envelope)]"#)
        }
        #expect(batch?.faultTexts == expected("#/1/"))
        let lines = problem { () throws(Problem) in
            try reader.lines(#"{"name":"b"}"# + "\n" + envelope)
        }
        #expect(lines?.faultTexts == expected("#/1/"))
        let call = CallText(envelope)
        let inCall = problem { () throws(Problem) in
            try reader.post(params: call.params, in: call.bytes.span)
        }
        #expect(inCall?.faultTexts == expected("#/"))
    }
}
