import BelfryJSON
import FuzzTargets
import Testing

@Suite("Document: what changes it, and how that is told")
struct DocumentEditTests {
    @Test(
        "the examples of RFC 7396, appendix A; null is an absent value",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
            (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
            (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
            (#"{"a":"foo"}"#, #"null"#, #"{}"#),
            (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
            (#"{"e":null}"#, #"{"a":1}"#, #"{"a":1}"#),
            (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ])
    func appendix(_ original: String, patchText: String, result: String) throws {
        var document = try document(original)
        try document.merge(try patch(patchText))
        #expect(document.text == result)
        #expect(document.byteCount == result.utf8.count)
    }

    @Test(
        "what is no object on the way becomes one when something is set, and stays when nothing is",
        arguments: [
            ("{}", "p.q", #"{"p":{"q":5}}"#, "{}"),
            (#"{"p":7}"#, "p.q", #"{"p":{"q":5}}"#, #"{"p":7}"#),
            (#"{"p":[{}]}"#, "p.q.r", #"{"p":{"q":{"r":5}}}"#, #"{"p":[{}]}"#),
            (#"{"p":{"q":1,"r":2}}"#, "p.q", #"{"p":{"q":5,"r":2}}"#, #"{"p":{"r":2}}"#),
            (#"{"p":{"q":1}}"#, "p.q", #"{"p":{"q":5}}"#, #"{"p":{}}"#),
            ("[]", "p", #"{"p":5}"#, "[]"),
        ])
    func way(_ text: String, at place: String, set: String, removed: String) throws {
        var document = try document(text)
        try document.set(try BelfryJSONTests.document("5"), at: path(place))
        #expect(document.text == set)
        document = try BelfryJSONTests.document(text)
        let edit = document.remove(at: try path(place))
        #expect(document.text == removed)
        #expect(edit.isChange == (text != removed))
    }

    @Test(
        "an edit is of one leaf when nothing else is different, however much was written",
        arguments: [
            (#"{"a":{"b":1,"c":2},"d":3}"#, #"{"a":{"b":5}}"#, "a.b", true),
            (#"{"a":{"b":1,"c":2},"d":3}"#, #"{"a":{"b":5}}"#, "a", false),
            (#"{"a":{"b":1,"c":2},"d":3}"#, #"{"a":{"b":5}}"#, "a.c", false),
            (#"{"a":{"b":1,"c":2},"d":3}"#, #"{"a":{"b":5}}"#, "d", false),
            (#"{"a":{"b":1,"c":2},"d":3}"#, #"{"a":{"b":5}}"#, "", false),
            (#"{"a":{"b":1,"c":2},"d":3}"#, #"{"a":{"b":5},"d":4}"#, "a.b", false),
            (#"{"a":{"b":1,"c":2},"d":3}"#, #"{"a":{"b":5,"c":6}}"#, "a.b", false),
            (#"{"a":{"b":1}}"#, #"{"a":{"b":{"c":1}}}"#, "a.b", false),
            (#"{"a":{"b":1}}"#, #"{"a":{"b":null}}"#, "a.b", false),
            (#"{"a":{"b":1}}"#, #"{"a":{"b":[2]}}"#, "a.b", true),
            ("1", "2", "", true),
        ])
    func leaf(_ original: String, patchText: String, place: String, isOfLeaf: Bool) throws {
        var document = try document(original)
        let edit = try document.merge(try patch(patchText))
        #expect(edit.isOfLeaf(at: try path(place)) == isOfLeaf)
    }

    @Test("what removes the whole leaves the object without members, and the edit tells that")
    func whole() throws {
        var document = try document("{}")
        let nothing = try document.merge(try patch("null"))
        #expect(!nothing.isChange)
        #expect(nothing.change(at: .whole) == .none)
        try document.set(try BelfryJSONTests.document("5"), at: path("p"))
        let edit = document.remove(at: .whole)
        #expect(document.text == "{}")
        #expect(edit.new?.text == "{}")
    }

    @Test("an edit begins where the way had to be made")
    func beginnings() throws {
        var document = try document(#"{"who":{},"p":7}"#)
        let five = try BelfryJSONTests.document("5")
        let below = try document.set(five, at: path("who.c4.cursor"))
        #expect(try below.path == path("who.c4"))
        #expect(below.old == nil)
        #expect(below.new?.text == #"{"cursor":5}"#)
        let over = try document.set(five, at: path("p.q"))
        #expect(try over.path == path("p"))
        #expect(over.old?.text == "7")
        let again = try document.set(five, at: path("p.q"))
        #expect(try again.path == path("p.q"))
        #expect(!again.isChange)
    }

    @Test(
        "a change is told to its place, to those above and below, and to nobody else",
        arguments: [
            ("", #"{"p":{"q":{"r":5}}}"#, #"{"p":{"q":7}}"#), ("p", #"{"q":{"r":5}}"#, #"{"q":7}"#),
        ])
    func above(_ observed: String, forth: String, back: String) throws {
        var document = try document(#"{"p":{"q":7,"s":1}}"#)
        let edit = try document.set(try BelfryJSONTests.document("5"), at: path("p.q.r"))
        #expect(
            try edit.change(at: path(observed))
                == .merge(forth: patch(forth), back: patch(back)))
        #expect(
            try edit.change(at: path("p.q"))
                == .set(new: patch(#"{"r":5}"#), old: patch("7")))
        #expect(try edit.change(at: path("p.q.r")) == .set(new: patch("5"), old: nil))
        for other in ["p.s", "p.q.x", "p.q.r.s", "x", "p.qq"] {
            #expect(try edit.change(at: path(other)) == .none)
        }
    }

    @Test("two objects are merged, whatever way the second came; all else is set or removed")
    func kinds() throws {
        func change(_ old: String?, _ new: String?) throws -> DocumentChange {
            try .difference(from: old.map(document), to: new.map(document))
        }
        #expect(try change(nil, nil) == .none)
        #expect(try change("[1, 2]", "[1,2]") == .none)
        #expect(try change(#"{"a":1,"b":2}"#, #"{ "b":2, "a":1 }"#) == .none)
        #expect(try change("1", nil) == .removed(old: patch("1")))
        #expect(try change(nil, "{}") == .set(new: patch("{}"), old: nil))
        #expect(try change("1.0", "1") == .set(new: patch("1"), old: patch("1.0")))
        #expect(try change("{}", "[]") == .set(new: patch("[]"), old: patch("{}")))
        #expect(
            try change(#"{"a":0,"b":2,"c":{"d":1,"e":1}}"#, #"{"a":1,"c":{"d":1,"e":{"f":2}}}"#)
                == .merge(
                    forth: patch(#"{"a":1,"b":null,"c":{"e":{"f":2}}}"#),
                    back: patch(#"{"a":0,"b":2,"c":{"e":1}}"#)))
    }

    @Test("a write past a limit is refused, and nothing has changed; one that shrinks is not")
    func limits() throws {
        let limits = DocumentLimits(byteLimit: 15, depthLimit: 3)
        let text = #"{"a":{"b":"x"}}"#
        var document = try document(text)
        let value = BelfryJSONTests.document(_:)
        #expect(throws: DocumentError.tooManyBytes(byteCount: 16, limit: 15)) {
            try document.set(value("\"xx\""), at: path("a.b"), limits: limits)
        }
        #expect(throws: DocumentError.tooManyBytes(byteCount: 21, limit: 15)) {
            try document.merge(patch(#"{"c":1}"#), at: path("a"), limits: limits)
        }
        #expect(throws: DocumentError.tooManyBytes(byteCount: 33, limit: 15)) {
            try document.set(value("1"), at: path("c.d.e"), limits: limits)
        }
        #expect(document.text == text)
        try document.set(value("\"y\""), at: path("a.b"), limits: limits)
        #expect(document.byteCount == 15)
        let small = DocumentLimits(byteLimit: 4)
        try document.set(value("\"\""), at: path("a.b"), limits: small)
        #expect(document.byteCount == 14)
        document.remove(at: try path("a"))
        #expect(document == .empty)
    }

    @Test("what is set at a path nests from there")
    func depth() throws {
        let limits = DocumentLimits(depthLimit: 3)
        var document = Document.empty
        let value = BelfryJSONTests.document(_:)
        try document.set(value("[]"), at: path("a.b"), limits: limits)
        #expect(document.depth == 3)
        for (text, place) in [("[[]]", "a.b"), ("{}", "a.b.c"), ("1", "a.b.c.d")] {
            #expect(throws: DocumentError.tooDeep(limit: 3)) {
                try document.set(value(text), at: path(place), limits: limits)
            }
            #expect(throws: DocumentError.tooDeep(limit: 3)) {
                try document.merge(value(text), at: path(place), limits: limits)
            }
        }
        #expect(document.text == #"{"a":{"b":[]}}"#)
        let keys = [String](repeating: "k", count: 16).joined(separator: ".")
        try document.set(value("1"), at: path(keys))
        #expect(document.depth == 16)
        #expect(throws: DocumentError.tooDeep(limit: 16)) {
            try document.set(value("[]"), at: path(keys))
        }
    }
}

@Suite("Document: random writes beside a plain model")
struct DocumentModelTests {
    private static let keys = ["a", "b", "c", "é", "\"\\", "\n\u{1}"]

    /// A JSON text of at most that depth; null is among the rest.
    private static func text(depth: Int, using generator: inout SplitMix) -> String {
        let leaves = [
            "1", "1.0", "\"x\"", "\"\\u0078\"", "true", "[]", "[null,{\"b\":1,\"a\":null}]", "null",
        ]
        guard depth > 0, Int.random(in: 0..<3, using: &generator) > 0 else {
            return leaves.randomElement(using: &generator) ?? ""
        }
        let members = keys.shuffled(using: &generator)
            .prefix(Int.random(in: 0...4, using: &generator))
            .map { key in
                var text: [UInt8] = []
                JSONWriter.append(string: [UInt8](key.utf8), to: &text)
                return String(decoding: text, as: UTF8.self) + ":"
                    + Self.text(depth: depth - 1, using: &generator)
            }
        return "{" + members.joined(separator: " , ") + "}"
    }

    private static func path(using generator: inout SplitMix) throws -> DocumentPath {
        let keys = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
            Self.keys.randomElement(using: &generator) ?? ""
        }
        return try BelfryJSONTests.path(keys.joined(separator: "."))
    }

    @Test(
        "the bytes are the model's, each path is told its own change, and each edit can be undone",
        arguments: 0..<200)
    func writes(seed: UInt64) throws {
        var generator = SplitMix(state: seed)
        var document = Document.empty
        var model = PlainValue.object([:])
        for _ in 0..<40 {
            let before = document
            let path = try Self.path(using: &generator)
            let text = [UInt8](Self.text(depth: 3, using: &generator).utf8)
            let plain = try PlainValue(reading: text)
            let edit: DocumentEdit
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                edit = try document.set(Document.parse(text.span), at: path)
                model = model.setting(plain.isNull ? nil : plain.withoutNulls, at: path.keys[...])
            case 1:
                edit = document.remove(at: path)
                model = model.setting(nil, at: path.keys[...])
            default:
                edit = try document.merge(Document.parsePatch(text.span), at: path)
                model = model.setting(
                    PlainValue.mergePatch(model.value(at: path.keys[...]), plain),
                    at: path.keys[...])
            }
            #expect(document.bytes == model.bytes)
            #expect(document.byteCount == model.bytes.count)
            #expect(try Document.parse(document.bytes.span) == document)
            // When the whole goes, an object is left.
            #expect(edit.isChange == (edit.new == nil && path.isWhole || document != before))
            try check(
                edit, from: before, to: document, at: [path, Self.path(using: &generator), .whole])
            var undone = document
            undone.undo(edit)
            #expect(undone == before)
        }
    }

    /// Forth leads from the old state to the new one, back leads back, at each of the paths.
    private func check(
        _ edit: DocumentEdit, from before: Document, to after: Document, at paths: [DocumentPath]
    ) throws {
        for path in paths where !(path.isWhole && edit.path.isWhole) {
            let (old, new) = (before.value(at: path), after.value(at: path))
            let change = edit.change(at: path)
            #expect(change == .difference(from: old, to: new))
            if case .merge(let forth, let back) = change, var value = old {
                try value.merge(forth)
                #expect(value == new)
                try value.merge(back)
                #expect(value == old)
            }
        }
    }
}
