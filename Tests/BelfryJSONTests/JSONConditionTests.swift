import BelfryJSON
import Testing

@Suite("JSONCondition: what a userInfo fulfils")
struct JSONConditionTests {
    @Test(
        "T340: a number is compared with numbers alone, and exactly",
        arguments: [
            (#"{"total":99}"#, false), (#"{"total":100}"#, true), (#"{"total":"100"}"#, false),
            ("{}", false), (#"{"total":1e2}"#, true),
            (#"{"total":100.0000000000000000001}"#, true),
            (#"{"total":99.99999999999999999999999999}"#, false), (#"{"total":-100}"#, false),
            (#"{"total":null}"#, false), (#"{"total":[100]}"#, false), (#"{"total":{}}"#, false),
        ])
    func numbers(_ userInfo: String, holds: Bool) throws {
        #expect(try isTrue(#"{"total":{"atLeast":100}}"#, userInfo) == holds)
    }

    @Test(
        "T341: a number is the decimal that it is, and no double",
        arguments: [
            ("9007199254740993", "9007199254740992", false),
            ("9007199254740993", "9007199254740993", true),
            ("9007199254740993", "9007199254740993.0", true),
            ("9007199254740993", "9007199254740.993e3", true),
            ("1", "1.0", true), ("1", "1e0", true), ("1", "10e-1", true), ("1", "0.1E+1", true),
            ("0", "-0", true), ("-0", "0.000", true), ("0", "0e5", true), ("0", "-0.0e-3", true),
            ("0.1", "0.10", true), ("0.1", "1e-1", true), ("0.1", "0.1000000000000000055", false),
            ("-1", "1", false), ("-1", "-1.00", true), ("1e400", "1e400", true),
            ("1e400", "1e401", false), ("1e999999999", "10e999999998", true),
            ("1e999999999", "0.1e999999999", false), ("1e-999999999", "1e-999999999", true),
            ("1", #""1""#, false), ("1", "true", false),
        ])
    func decimals(_ operand: String, value: String, holds: Bool) throws {
        #expect(try isTrue(#"{"v":\#(operand)}"#, #"{"v":\#(value)}"#) == holds)
        #expect(try isTrue(#"{"v":\#(value)}"#, #"{"v":\#(operand)}"#) == holds)
    }

    @Test("numbers are in one order, whatever they are written like")
    func order() throws {
        let ascending = [
            "-1e999999999", "-123456789012345678901234567890", "-100", "-99.5", "-1.01", "-1",
            "-0.5", "-1e-3", "-1e-999999999", "0", "1e-999999999", "0.000123", "0.1", "0.1001",
            "0.2", "1", "1.5", "2", "10", "10.01", "99", "100", "100.0000000000000000001", "1e20",
            "123456789012345678901234567890", "123456789012345678901234567891", "1e999999999",
        ]
        for (place, operand) in ascending.enumerated() {
            for (other, value) in ascending.enumerated() {
                let userInfo = #"{"v":\#(value)}"#
                for (name, holds) in [
                    ("above", other > place), ("atLeast", other >= place),
                    ("below", other < place), ("atMost", other <= place),
                ] {
                    #expect(
                        try isTrue(#"{"v":{"\#(name)":\#(operand)}}"#, userInfo) == holds,
                        "\(value) \(name) \(operand)")
                }
                #expect(try isTrue(#"{"v":\#(operand)}"#, userInfo) == (place == other))
            }
        }
    }

    @Test(
        "a number whose exponent has more than nine digits is there, and no number",
        arguments: ["1e1000000000", "1e-1000000000", "0e0000000000", "1E+0000000001"])
    func longExponent(_ value: String) throws {
        let userInfo = #"{"v":\#(value)}"#
        for condition in ["1", "0", "[0,1,10]", #"{"above":0}"#, #"{"atMost":1}"#, "null"] {
            #expect(try !isTrue(#"{"v":\#(condition)}"#, userInfo))
        }
        #expect(try isTrue(#"{"v":{"exists":true}}"#, userInfo))
        #expect(try isTrue(#"{"v":{"not":0}}"#, userInfo))
        #expect(try !isTrue(#"{"v":{"contains":0}}"#, #"{"v":[\#(value)]}"#))
    }

    @Test(
        "T342: strings are compared unescaped, byte by byte",
        arguments: [
            (#"{"k":"é"}"#, true), (#"{"k":"\u00e9"}"#, true), (#"{"k":"\u00E9"}"#, true),
            ("{\"k\":\"e\u{301}\"}", false), (#"{"\u006b":"é"}"#, true), (#"{"k":"é "}"#, false),
        ])
    func strings(_ userInfo: String, holds: Bool) throws {
        for operand in ["é", #"\u00e9"#] {
            #expect(try isTrue(#"{"k":"\#(operand)"}"#, userInfo) == holds)
        }
    }

    @Test(
        "T343: a condition that is false of another type is true in a not",
        arguments: [
            (#"{"s":"open"}"#, true), (#"{"s":"done"}"#, false), ("{}", true), (nil, true),
            (#"{"s":null}"#, true), (#"{"s":["done"]}"#, true), ("[]", true), (#""done""#, true),
        ] as [(String?, Bool)])
    func notDone(_ userInfo: String?, holds: Bool) throws {
        #expect(try isTrue(#"{"s":{"not":"done"}}"#, userInfo) == holds)
    }

    @Test(
        "T344: an array contains an element, a string a part of it",
        arguments: [
            (#""urgent""#, #"["a","urgent"]"#, true), (#""urgent""#, #""very urgent!""#, true),
            (#""urgent""#, #"{"urgent":1}"#, false), (#""urgent""#, #"["very urgent!"]"#, false),
            (#""urgent""#, #"[["urgent"]]"#, false), (#""urgent""#, #"["\u0075rgent"]"#, true),
            (#""urgent""#, #""very \u0075rgent""#, true), (#""urgent""#, #"[]"#, false),
            (#""urgent""#, #""urgen""#, false), (#""aab""#, #""aaaaab""#, true),
            (#""abacabab""#, #""abacabacabab""#, true), (#""""#, #""""#, true),
            (#""""#, #"["a"]"#, false), (#""""#, #"[""]"#, true), ("1", #"[2,[1],"1",1.0]"#, true),
            ("1", #"[2,[1],"1",{"1":1}]"#, false), ("1", #""1""#, false), ("1", "1", false),
            ("true", "[false,true]", true), ("true", "[false,null]", false),
        ])
    func contains(_ operand: String, value: String, holds: Bool) throws {
        #expect(
            try isTrue(#"{"tags":{"contains":\#(operand)}}"#, #"{"tags": \#(value) }"#) == holds)
    }

    @Test(
        "T345: of equal keys the last counts, with all that is in it",
        arguments: [
            (#"{"k":2}"#, #"{"k":1,"k":2}"#, true), (#"{"k":1}"#, #"{"k":1,"k":2}"#, false),
            (#"{"k":2}"#, #"{"k":1,"\u006b":2}"#, true),
            (#"{"a.x":1}"#, #"{"a":{"x":1},"a":{"y":2}}"#, false),
            (#"{"a.y":2}"#, #"{"a":{"x":1},"a":{"y":2}}"#, true),
            (#"{"a.x":1}"#, #"{"a":{"x":1},"a":3}"#, false),
            (#"{"a.x":1}"#, #"{"a":3,"a":{"x":2,"x":1}}"#, true),
            (#"{"k":{"exists":false}}"#, #"{"k":1,"k":null}"#, true),
        ])
    func duplicates(_ condition: String, userInfo: String, holds: Bool) throws {
        #expect(try isTrue(condition, userInfo) == holds)
        // The same among so many that a table finds them.
        let others = (0..<100).map { #""m\#($0)":{"k":0,"x":0}"# }.joined(separator: ",")
        let many = "{\(others),\(userInfo.dropFirst())"
        #expect(try isTrue(condition, many) == holds)
    }

    @Test(
        "each form of a condition is true and false",
        arguments: [
            (#""a""#, #""a""#, #""b""#), ("true", "true", "false"), ("false", "false", "null"),
            ("null", "null", "false"), (#"["a",1,null]"#, "1.0", "2"), ("[null]", "null", "0"),
            (#"{"above":1}"#, "2", "1"), (#"{"atLeast":1}"#, "1", "0.9"),
            (#"{"below":1}"#, "0.9", "1"), (#"{"atMost":1}"#, "1", "1.1"),
            (#"{"prefix":"ab"}"#, #""abc""#, #""a""#), (#"{"prefix":"ab"}"#, #""ab""#, #"["ab"]"#),
            (#"{"prefix":""}"#, #""""#, "0"), (#"{"suffix":"bc"}"#, #""abc""#, #""bcd""#),
            (#"{"suffix":"\n"}"#, #""a\n""#, #""n""#), (#"{"contains":"b"}"#, #""abc""#, "{}"),
            (#"{"exists":true}"#, "[]", "null"), (#"{"exists":false}"#, "null", "0"),
            (#"{"not":1}"#, "2", "1"), (#"{"not":[1,2]}"#, "3", "2"),
            (#"{"not":null}"#, "0", "null"), (#"{"not":{"exists":true}}"#, "null", "1"),
            (#"{"not":{"above":1,"below":3}}"#, "3", "2"), (#"{"above":1,"below":3}"#, "2", "3"),
            (#"{"not":5,"above":1}"#, "6", "5"), (#"{"above":1,"not":[5]}"#, "6", "1"),
        ])
    func forms(_ condition: String, fulfils: String, fails: String) throws {
        #expect(try isTrue(#"{"v":\#(condition)}"#, #"{"v":\#(fulfils)}"#))
        #expect(try !isTrue(#"{"v":\#(condition)}"#, #"{"v":\#(fails)}"#))
        #expect(try isTrue(#" [{"w":0},{"v":\#(condition),"v.w":null}] "#, #"{"v":\#(fulfils)}"#))
        #expect(try !isTrue(#"{"v":\#(condition),"w":0}"#, #"{"v":\#(fulfils)}"#))
    }

    @Test(
        "a string with half a surrogate pair is there, and like none",
        arguments: [#""\ud800""#, #""a\udc00b""#, #""\ud83d\ud83d\ude00""#])
    func loneSurrogates(_ value: String) throws {
        let userInfo = #"{"v":\#(value),\#(value):1,"w":{\#(value):{"x":1}}}"#
        for condition in [
            #""a""#, #""""#, #"{"prefix":""}"#, #"{"suffix":""}"#, #"{"contains":""}"#, "null",
        ] {
            #expect(try !isTrue(#"{"v":\#(condition)}"#, userInfo))
        }
        #expect(try isTrue(#"{"v":{"exists":true,"not":"a"}}"#, userInfo))
        #expect(try !isTrue(#"{"v":{"contains":""}}"#, #"{"v":[\#(value)]}"#))
        #expect(try isTrue(#"{"v":{"contains":"a"}}"#, #"{"v":[\#(value),"a"]}"#))
        // What is behind such a key belongs to nobody, and what follows is found.
        #expect(try isTrue(#"{"x":null,"w.x":null,"y":2}"#, "\(userInfo.dropLast()),\"y\":2}"))
    }

    @Test(
        "a key path leads through objects alone",
        arguments: [
            (#"{"a.b.c":1}"#, #"{"a":{"b":{"c":1}}}"#, true),
            (#"{"a.b.c":1}"#, #"{"a":{"b":[{"c":1}]}}"#, false),
            (#"{"a.0":1}"#, #"{"a":[1]}"#, false), (#"{"a.b":1}"#, #"{"a.b":1}"#, false),
            (#"{"a.b":null}"#, #"{"a":7}"#, true), (#"{"b":1}"#, #"{"a":{"b":1}}"#, false),
            (#"{"b":1}"#, #"{"a":{"b":2},"b":1}"#, true),
            (#"{"a.b":1}"#, #"{"b":1,"a":{}}"#, false),
            (#"{"a~/ü.\"":1}"#, #"{"a~/ü":{"\u0022":1}}"#, true),
            (#"{"longer than eight":1}"#, #"{"longer then eight":2,"longer than eight":1}"#, true),
            (#"{"longer than eight":1}"#, #"{"longer then eight":1}"#, false),
            (#"{"longer than eight":1}"#, #"{"longer tha\u006e eight":1}"#, true),
        ])
    func paths(_ condition: String, userInfo: String, holds: Bool) throws {
        #expect(try isTrue(condition, userInfo) == holds)
        let others = (0..<100).map { #""m\#($0)":{"b":0,"c":0}"# }.joined(separator: ",")
        #expect(try isTrue(condition, "{\(others),\(userInfo.dropFirst())") == holds)
        #expect(try isTrue(condition, "{ \(others) , \(userInfo.dropFirst())") == holds)
    }

    @Test("members are read again, and nothing of the text before is left")
    func again() throws {
        let condition = try JSONCondition([UInt8](#"{"a.b":1}"#.utf8).span)
        var members = JSONMembers()
        let many = (0..<10_000).map { #""m\#($0)":\#($0)"# }.joined(separator: ",")
        for (text, holds) in [
            (#"{"a":{"b":1}}"#, true), ("{}", false), (#"{"a":{"b":1},\#(many)}"#, true),
            ("{\(many)}", false), (#"{"\u0061":{"\u0062":1}}"#, true), ("7", false),
        ] {
            let bytes = [UInt8](text.utf8)
            members.read(bytes.span)
            #expect(condition.isTrue(for: members, in: bytes.span) == holds)
        }
        members.read(nil)
        let nothing: [UInt8] = []
        let isTrueOfNothing = condition.isTrue(for: members, in: nothing.span)
        #expect(!isTrueOfNothing)
    }

    @Test("two conditions are equal when their texts are, without outer blanks")
    func equality() throws {
        let first = try JSONCondition([UInt8](" {\"a\":1}\n".utf8).span)
        #expect(first.text == [UInt8](#"{"a":1}"#.utf8))
        #expect(try first == JSONCondition([UInt8](#"{"a":1}"#.utf8).span))
        #expect(try first != JSONCondition([UInt8](#"{"a":1.0}"#.utf8).span))
        #expect(first.footprint >= 300 && first.footprint <= 1_000)
    }
}

/// Whether a userInfo fulfils a condition.
private func isTrue(_ condition: String, _ userInfo: String?) throws -> Bool {
    let condition = try JSONCondition([UInt8](condition.utf8).span)
    guard let userInfo else { return condition.isTrue(in: nil) }
    let bytes = [UInt8](userInfo.utf8)
    _ = try JSONScanner.validate(bytes.span)
    return condition.isTrue(in: bytes.span)
}
