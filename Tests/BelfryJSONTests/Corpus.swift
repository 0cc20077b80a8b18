import BelfryJSON

/// Texts after the kinds of case in the JSON parsing test suite (y_ and n_), as our own lines.
enum Corpus {
    static let valid: [(String, JSONKind)] = arrays + objects + strings + numbers + literals

    private static let arrays: [(String, JSONKind)] = [
        "[]", "[ ]", "[[]   ]", #"[""]"#, #"["a"]"#, "[false]", #"[null, 1, "1", {}]"#, "[null]",
        "[1\n]", " [1]", "[1,null,null,null,2]", "[2] ", "[[],[[]],{}]", "[true,false,null]",
        "[[[[[[]]]]]]", #"[{"a":[{"b":[]}]}]"#, "[\t1\r\n,\t2]",
    ].map { ($0, .array) }

    private static let objects: [(String, JSONKind)] = [
        "{}", "{ }", #"{"asd":"sdf", "dfg":"fgh"}"#, #"{"asd":"sdf"}"#, #"{"a":"b","a":"c"}"#,
        #"{"a":"b","a":"b"}"#, #"{"":0}"#, #"{"foo\u0000bar": 42}"#,
        #"{ "min": -1.0e+28, "max": 1.0e+28 }"#, #"{"a":[]}"#,
        #"{"title":"\u041f\u043e\u043b"}"#, "{\n\"a\": \"b\"\n}", #"{"a" : {"b" : {}}}"#,
        #"{"x":[{"id": "xxxxxxxxxxxxxxxxxxxxxxxx"}], "id": "xxxxxxxxxxxxxxxxxxxxxxxx"}"#,
        #"{"\ud800":1}"#, #"{"\"":1,"\\":2}"#,
    ].map { ($0, .object) }

    private static let strings: [(String, JSONKind)] = [
        #""""#, #"" ""#, #""asd""#, #""\u0060\u012a\u12AB""#, #""\uD801\udc37""#,
        #""\ud83d\ude39\ud83d\udc8d""#, #""\"\\\/\b\f\n\r\t""#, #""\\u0000""#, #""\"""#,
        #""a/*b*/c/*d//e""#, #""\\a""#, #""\\n""#, #""\u0012""#, #""\uFFFF""#, "\"\u{FFFF}\"",
        "\"\u{10FFFF}\"", "\"\u{1BFFF}\"", #""\u0123""#, "\"\u{2028}\u{2029}\"", "\"\u{7F}\"",
        #""\u0000""#, "\"\u{20AC}\u{1D11E}\"", "\"a\u{7F}a\"", #""\u0061\u30af\u30EA\u30b9""#,
        "\"\u{2342}\u{3288}\u{327}\"", #""\uD834\uDd1e""#, #""\u0821""#, #""\u005C\u0022""#,
        #""\uA66D""#, #""\uDBFF\uDFFE""#, #""\uFDD0""#, #""\uFFFE""#, #""\u200B\u2064""#,
        "\"\u{FEFF}\"", #""\uD800""#, #""\uDC00""#, #""\uD800\n""#, #""\uD800\uD800""#,
        #""\uDd1ea""#, #""\ud8ab\u0041""#, "\"\u{E000}\u{D7FF}\"",
    ].map { ($0, .string) }

    private static let numbers: [(String, JSONKind)] = [
        "0", "-0", "1", "-1", "123", "123e65", "0e+1", "0e1", "20e1", "1E22", "1E-2", "1E+2",
        "123e45",
        "123.456e78", "1e-2", "1e+2", "123.456789", "-123", "-0.0", "0.5", "10", "100", "-10.00",
        "-0.000000000000000000000000000000000000000000000000000000000000000000000000000001",
        "9223372036854775808", "100000000000000000000000000000000000", "1e400", "-1e400",
        "1e-10000",
        "0.4e00669999999999999999999999999999999999999999999999999999999999999999999999",
        "1234567890.0987654321", "0e0", "1e00",
    ].map { ($0, .number) }

    private static let literals: [(String, JSONKind)] = [
        ("true", .boolean), ("false", .boolean), ("null", .null), ("\n\ttrue", .boolean),
        (" null ", .null),
    ]

    static let invalid: [(String, JSONError)] =
        invalidStructures + invalidArrays + invalidObjects + invalidStrings + invalidNumbers

    private static let invalidStructures: [(String, JSONError)] = [
        ("", .unexpectedEnd), (" ", .unexpectedEnd), ("\n\t", .unexpectedEnd),
        ("\u{FEFF}", .unexpectedByte(at: 0)), ("\u{FEFF}{}", .unexpectedByte(at: 0)),
        ("\u{2060}", .unexpectedByte(at: 0)), ("\u{C}", .unexpectedByte(at: 0)),
        ("\u{0}", .unexpectedByte(at: 0)), ("<null>", .unexpectedByte(at: 0)),
        ("*", .unexpectedByte(at: 0)), ("å", .unexpectedByte(at: 0)),
        ("'a'", .unexpectedByte(at: 0)),
        ("abc", .unexpectedByte(at: 0)), ("]", .unexpectedByte(at: 0)),
        ("}", .unexpectedByte(at: 0)),
        (",", .unexpectedByte(at: 0)), (":", .unexpectedByte(at: 0)),
        ("True", .unexpectedByte(at: 0)),
        ("TRUE", .unexpectedByte(at: 0)), ("nul", .unexpectedEnd), ("tru", .unexpectedEnd),
        ("fals", .unexpectedEnd), ("nulx", .unexpectedByte(at: 3)),
        ("trua", .unexpectedByte(at: 3)),
        ("falze", .unexpectedByte(at: 3)), ("truex", .trailingBytes(at: 4)),
        ("nulll", .trailingBytes(at: 4)), ("[]]", .trailingBytes(at: 2)),
        ("{}}", .trailingBytes(at: 2)), ("[] x", .trailingBytes(at: 3)),
        ("1 2", .trailingBytes(at: 2)),
        ("\"a\" \"b\"", .trailingBytes(at: 4)), ("{}#", .trailingBytes(at: 2)),
        ("[]/**/", .trailingBytes(at: 2)), ("[]//", .trailingBytes(at: 2)),
        ("[1]\u{A0}", .trailingBytes(at: 3)), ("1\u{0}", .trailingBytes(at: 1)),
    ]

    private static let invalidArrays: [(String, JSONError)] = [
        ("[", .unexpectedEnd), ("[1", .unexpectedEnd), ("[1,", .unexpectedEnd),
        ("[[", .unexpectedEnd),
        ("[\"\"", .unexpectedEnd), ("[1 true]", .unexpectedByte(at: 3)),
        (#"["a" "b"]"#, .unexpectedByte(at: 5)), (#"["": 1]"#, .unexpectedByte(at: 3)),
        ("[,1]", .unexpectedByte(at: 1)), ("[1,,2]", .unexpectedByte(at: 3)),
        ("[1,]", .unexpectedByte(at: 3)), ("[,]", .unexpectedByte(at: 1)),
        ("[,", .unexpectedByte(at: 1)),
        ("[1,\n]", .unexpectedByte(at: 4)), ("[\"a\",,]", .unexpectedByte(at: 5)),
        ("[*]", .unexpectedByte(at: 1)), ("[\u{A0}]", .unexpectedByte(at: 1)),
        ("[\u{B}1]", .unexpectedByte(at: 1)), ("[\u{C}]", .unexpectedByte(at: 1)),
        ("[1:2]", .unexpectedByte(at: 2)), ("[1}", .unexpectedByte(at: 2)),
        ("[a", .unexpectedByte(at: 1)), ("[][]", .trailingBytes(at: 2)),
        ("[{]", .unexpectedByte(at: 2)),
        ("[\\n]", .unexpectedByte(at: 1)), ("[nul]", .unexpectedByte(at: 4)),
        ("[/*c*/1]", .unexpectedByte(at: 1)), ("[1;2]", .unexpectedByte(at: 2)),
    ]

    private static let invalidObjects: [(String, JSONError)] = [
        ("{", .unexpectedEnd), (#"{"a""#, .unexpectedEnd), (#"{"a":"#, .unexpectedEnd),
        (#"{"a":1"#, .unexpectedEnd), (#"{"a":1,"#, .unexpectedEnd),
        (#"{"a"}"#, .unexpectedByte(at: 4)),
        (#"{"a":}"#, .unexpectedByte(at: 5)), (#"{"a":1,}"#, .unexpectedByte(at: 7)),
        (#"{"a":1,,"b":2}"#, .unexpectedByte(at: 7)), ("{1:1}", .unexpectedByte(at: 1)),
        ("{a:1}", .unexpectedByte(at: 1)), ("{'a':1}", .unexpectedByte(at: 1)),
        ("{,}", .unexpectedByte(at: 1)), (#"{"a","b"}"#, .unexpectedByte(at: 4)),
        (#"{"a"::1}"#, .unexpectedByte(at: 5)), (#"{"a":1 "b":2}"#, .unexpectedByte(at: 7)),
        ("{null:null}", .unexpectedByte(at: 1)), (#"{"a" b}"#, .unexpectedByte(at: 5)),
        ("{[]:1}", .unexpectedByte(at: 1)), (#"{"a":"b"}#"#, .trailingBytes(at: 9)),
        (#"{"a":"b"}/**/"#, .trailingBytes(at: 9)), (#"{"a"=1}"#, .unexpectedByte(at: 4)),
        (#"{"a":1;"b":2}"#, .unexpectedByte(at: 6)), (#"{:1}"#, .unexpectedByte(at: 1)),
        (#"{"a":/*c*/1}"#, .unexpectedByte(at: 5)), (#"{"a":tru}"#, .unexpectedByte(at: 8)),
    ]

    private static let invalidStrings: [(String, JSONError)] = [
        ("\"", .unexpectedEnd), ("\"a", .unexpectedEnd), (#""\"#, .unexpectedEnd),
        (#""\""#, .unexpectedEnd), (#""\u"#, .unexpectedEnd), (#""\u00A"#, .unexpectedEnd),
        (#""\u00A""#, .invalidEscape(at: 1)), (#""\u""#, .invalidEscape(at: 1)),
        (#""\u00G0""#, .invalidEscape(at: 1)), (#""\uqqqq""#, .invalidEscape(at: 1)),
        (#""\U0041""#, .invalidEscape(at: 1)), (#""\x00""#, .invalidEscape(at: 1)),
        (#""\a""#, .invalidEscape(at: 1)), (#""\'""#, .invalidEscape(at: 1)),
        (#""\0""#, .invalidEscape(at: 1)), (#""\v""#, .invalidEscape(at: 1)),
        (#""\ ""#, .invalidEscape(at: 1)), ("\"\\\u{9}\"", .invalidEscape(at: 1)),
        ("\"\\\u{1F300}\"", .invalidEscape(at: 1)), (#""\uD800\u""#, .invalidEscape(at: 7)),
        (#""\uD800\u1""#, .invalidEscape(at: 7)), (#""\uD834\uDd""#, .invalidEscape(at: 7)),
        (#""\uD800\x""#, .invalidEscape(at: 7)), (#""\u-123""#, .invalidEscape(at: 1)),
        ("\"a\nb\"", .controlCharacter(at: 2)), ("\"\t\"", .controlCharacter(at: 1)),
        ("\"a\u{0}\"", .controlCharacter(at: 2)), (#"\u0020"asd""#, .unexpectedByte(at: 0)),
        (#""asd"x"#, .trailingBytes(at: 5)), ("“a”", .unexpectedByte(at: 0)),
    ]

    private static let invalidNumbers: [(String, JSONError)] = [
        ("-", .unexpectedEnd), ("1.", .unexpectedEnd), ("1e", .unexpectedEnd),
        ("1e+", .unexpectedEnd),
        ("0E-", .unexpectedEnd), ("+1", .unexpectedByte(at: 0)), (".5", .unexpectedByte(at: 0)),
        ("-.5", .invalidNumber(at: 1)), ("--1", .invalidNumber(at: 1)),
        ("-a", .invalidNumber(at: 1)),
        ("- 1", .invalidNumber(at: 1)), ("01", .invalidNumber(at: 1)),
        ("-01", .invalidNumber(at: 2)),
        ("00", .invalidNumber(at: 1)), ("-00.1", .invalidNumber(at: 2)),
        ("[012]", .invalidNumber(at: 2)),
        ("[1.]", .invalidNumber(at: 3)), ("[2.e3]", .invalidNumber(at: 3)),
        ("[0.e1]", .invalidNumber(at: 3)), ("[1e]", .invalidNumber(at: 3)),
        ("[1eE2]", .invalidNumber(at: 3)), ("[1e+]", .invalidNumber(at: 4)),
        ("[1e+-2]", .invalidNumber(at: 4)), ("[0e]", .invalidNumber(at: 3)),
        ("[1.0e-]", .invalidNumber(at: 6)), ("-Infinity", .invalidNumber(at: 1)),
        ("-NaN", .invalidNumber(at: 1)), ("NaN", .unexpectedByte(at: 0)),
        ("Infinity", .unexpectedByte(at: 0)), ("nan", .unexpectedByte(at: 1)),
        ("0x1", .trailingBytes(at: 1)), ("1a", .trailingBytes(at: 1)),
        ("1.2.3", .trailingBytes(at: 3)),
        ("[1.2.3]", .unexpectedByte(at: 4)), ("[0x42]", .unexpectedByte(at: 2)),
        ("[1 000]", .unexpectedByte(at: 3)), ("[1+2]", .unexpectedByte(at: 2)),
        ("1_000", .trailingBytes(at: 1)), ("1e1.5", .trailingBytes(at: 3)),
        ("１", .unexpectedByte(at: 0)),
        ("[-1x]", .unexpectedByte(at: 3)), ("[1,5e]", .invalidNumber(at: 5)),
    ]

    static let invalidUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xC2], [0xC2, 0x41],
        [0xC3, 0xC3],
        [0xE0, 0x80, 0xAF], [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xE2, 0x28, 0xA1],
        [0xED, 0xA0, 0x80],
        [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0x81, 0xED, 0xB0, 0x80], [0xEF, 0xBF],
        [0xF0, 0x80, 0x80, 0x80],
        [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x92], [0xF0, 0x9F, 0x28, 0x80],
        [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
        [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80],
        [0xFE], [0xFF], [0xE5],
    ]
}
