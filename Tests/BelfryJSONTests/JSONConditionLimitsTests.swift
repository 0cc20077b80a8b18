import BelfryJSON
import Testing

@Suite("JSONCondition: what is refused, and what hostile texts cost")
struct JSONConditionLimitsTests {
    @Test(
        "T350: a fault is told with its place",
        arguments: [
            ("{}", ""), ("[]", ""), (#"{"a":{"like":1}}"#, "/a/like"), (#"{"a..b":1}"#, "/a..b"),
            ("", ""), ("{", ""), (#"{"a":1}x"#, ""), ("7", ""), ("null", ""), (#""a""#, ""),
            ("[{}]", "/0"), (#"[{"a":1},{}]"#, "/1"), (#"[{"a":1},7]"#, "/1"), ("[[]]", "/0"),
            (#"{"":1}"#, "/"), (#"{".a":1}"#, "/.a"), (#"{"a.":1}"#, "/a."),
            (#"{"a":{}}"#, "/a"), (#"{"a":[]}"#, "/a"), (#"{"a":[1,[]]}"#, "/a/1"),
            (#"{"a":[{"above":1}]}"#, "/a/0"), (#"{"total":{"above":"1"}}"#, "/total/above"),
            (#"{"a":{"below":null}}"#, "/a/below"), (#"{"a":{"prefix":1}}"#, "/a/prefix"),
            (#"{"a":{"suffix":["x"]}}"#, "/a/suffix"), (#"{"a":{"exists":1}}"#, "/a/exists"),
            (#"{"a":{"contains":null}}"#, "/a/contains"),
            (#"{"a":{"contains":["x"]}}"#, "/a/contains"),
            (#"{"a":{"contains":{"above":1}}}"#, "/a/contains"),
            (#"{"a":{"not":{}}}"#, "/a/not"), (#"{"a":{"not":[]}}"#, "/a/not"),
            (#"{"a":{"not":{"not":1}}}"#, "/a/not/not"),
            (#"{"a":{"not":{"above":true}}}"#, "/a/not/above"),
            (#"[{"a":1},{"b":{"not":[1,{}]}}]"#, "/1/b/not/1"),
            (#"{"a":1,"a":2}"#, "/a"), (#"{"a":1,"\u0061":2}"#, "/a"),
            (#"{"a":{"above":1,"above":2}}"#, "/a/above"),
            (#"{"a~/b":{"x~/y":1}}"#, "/a~0~1b/x~0~1y"), (#"{"ü":{"é":1}}"#, "/ü/é"),
            (#"{"a":"\ud800"}"#, "/a"), (#"{"a":["x","\udc00"]}"#, "/a/1"),
            (#"{"\ud800":1}"#, ""), (#"[{"a":{"\ud800":1}}]"#, "/0/a"),
            (#"{"a":1e1000000000}"#, "/a"), (#"{"a":{"above":1e-0000000000}}"#, "/a/above"),
            (#"{"a":[1,1e0000000001]}"#, "/a/1"),
        ])
    func faults(_ text: String, pointer: String) throws {
        let error = try #require(fault(of: text))
        #expect(error.pointer == pointer)
        #expect(!error.message.isEmpty)
    }

    @Test("an unknown operator is told the known ones")
    func unknown() {
        #expect(
            fault(of: #"{"a":{"like":1}}"#)?.message == """
                unknown operator "like"; use one of above, atLeast, below, atMost, prefix, suffix, \
                contains, exists, not
                """)
    }

    @Test("each limit holds at it, and one past it is refused by its number", arguments: borders)
    func limits(_ border: Border) throws {
        #expect(fault(of: border.within) == nil)
        let error = try #require(fault(of: border.past))
        #expect(error.pointer == border.pointer)
        #expect(error.message.contains("\(border.limit)"))
    }

    @Test("blanks around a condition do not count")
    func blanks() {
        let blanks = filled(5_000, " ")
        #expect(fault(of: "\(blanks){\"a\":1}\(blanks)") == nil)
    }

    @Test("what a hostile userInfo has is found, and what it lacks is not", arguments: Hostile.all)
    func hostile(_ hostile: Hostile) throws {
        _ = try JSONScanner.validate(hostile.text.span, depthLimit: 256)
        var members = JSONMembers()
        for _ in 0..<2 {
            members.read(hostile.text.span)
            for (condition, holds) in hostile.conditions {
                let condition = try JSONCondition([UInt8](condition.utf8).span)
                let isTrue = condition.isTrue(for: members, in: hostile.text.span)
                #expect(isTrue == holds)
            }
        }
    }
}

/// A text at a limit, and one past it.
struct Border: Sendable {
    let limit: Int
    let pointer: String
    let within: String
    let past: String

    init(_ limit: Int, at pointer: String, _ make: (Int) -> String) {
        self.limit = limit
        self.pointer = pointer
        within = make(limit)
        past = make(limit + 1)
    }
}

private let borders = [
    Border(JSONCondition.byteLimit, at: "") { #"{"a":"\#(filled($0 - 8))"}"# },
    Border(JSONCondition.alternativeLimit, at: "") { "[\(list($0) { #"{"a":\#($0)}"# })]" },
    Border(JSONCondition.conditionLimit, at: "/k32") { "{\(list($0) { #""k\#($0)":1"# })}" },
    Border(JSONCondition.conditionLimit, at: "/1/k29") { count in
        // A `not` counts, and so do its two operators.
        let others = list(count - 3) { #""k\#($0)":[1,2]"# }
        return #"[{"a":{"not":{"above":1,"below":2}}},{\#(others)}]"#
    },
    Border(JSONCondition.valueLimit, at: "/a") { #"{"a":[\#(list($0) { "\($0)" })]}"# },
    Border(JSONCondition.valueLimit, at: "/a/not") {
        #"{"a":{"not":[\#(list($0) { "\($0)" })]}}"#
    },
    Border(DocumentPath.keyLimit, at: "/\(path(17))") { #"{"\#(path($0))":1}"# },
    Border(DocumentPath.byteLimit, at: "/\(filled(1_025))") { #"{"\#(filled($0))":1}"# },
    Border(9, at: "/a") { #"{"a":1e\#(filled($0, "1"))}"# },
]

/// A userInfo that is made to cost a lot.
struct Hostile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let text: [UInt8]
    let conditions: [(String, Bool)]

    init(_ description: String, _ text: String, _ conditions: [(String, Bool)]) {
        testDescription = description
        self.text = [UInt8](text.utf8)
        self.conditions = conditions
    }

    static let all = [
        Hostile(
            "100,000 members", "{\(list(100_000) { #""k\#($0)":\#($0)"# })}",
            [(#"{"k0":0,"k99999":99999}"#, true), (#"{"k100000":null}"#, true)]),
        Hostile(
            "100,000 equal keys", "{\(list(100_000) { #""k":\#($0)"# })}",
            [(#"{"k":99999}"#, true), (#"{"k":0}"#, false), (#"{"l":null}"#, true)]),
        Hostile(
            "100,000 equal keys with escapes", "{\(list(100_000) { #""\u006b":\#($0)"# })}",
            [(#"{"k":99999}"#, true), (#"{"k":0}"#, false)]),
        Hostile(
            "long keys that differ at their ends",
            "{\(list(2_000) { #""\#(filled(500))\#($0)":\#($0)"# })}",
            [(#"{"\#(filled(500))1999":1999,"\#(filled(500))2000":null}"#, true)]),
        Hostile(
            "objects down to the depth limit",
            String(repeating: #"{"a":"#, count: 255) + "{}" + filled(255, "}"),
            [(#"{"\#(path(16))":1}"#, false), (#"{"\#(path(16))":{"exists":true}}"#, true)]),
        Hostile(
            "arrays down to the depth limit", #"{"a":\#(filled(255, "["))\#(filled(255, "]"))}"#,
            [(#"{"a":{"contains":1}}"#, false), (#"{"a":{"exists":true}}"#, true)]),
        Hostile(
            "a million digits", #"{"a":1\#(filled(1_000_000, "0")).\#(filled(1_000_000, "0"))1}"#,
            [(#"{"a":{"above":1e1000000}}"#, true), (#"{"a":{"above":1.1e1000000}}"#, false)]),
        Hostile(
            "nothing but zeros",
            #"{"a":0.\#(filled(1_000_000, "0")),"b":0.\#(filled(999_999, "0"))1}"#,
            [(#"{"a":0,"b":1e-1000000}"#, true)]),
        Hostile(
            "a string that nearly contains another one", #"{"a":"\#(filled(260_000, "a"))"}"#,
            [
                (#"{"a":{"contains":"\#(filled(4_000, "a"))b"}}"#, false),
                (#"{"a":{"contains":"\#(filled(4_000, "a"))"}}"#, true),
            ]),
        Hostile(
            "100,000 elements with escapes", #"{"a":[\#(list(100_000) { _ in #""\u0061\n""# })]}"#,
            [(#"{"a":{"contains":"a"}}"#, false), (#"{"a":{"contains":"a\n"}}"#, true)]),
    ]
}

/// A text of so many characters.
private func filled(_ count: Int, _ character: String = "x") -> String {
    String(repeating: character, count: count)
}

/// So many things with commas between them.
private func list(_ count: Int, _ make: (Int) -> String) -> String {
    (0..<count).map(make).joined(separator: ",")
}

/// A path of so many keys.
private func path(_ count: Int) -> String {
    [String](repeating: "a", count: count).joined(separator: ".")
}

private func fault(of text: String) -> JSONConditionError? {
    do throws(JSONConditionError) {
        _ = try JSONCondition([UInt8](text.utf8).span)
        return nil
    } catch {
        return error
    }
}
