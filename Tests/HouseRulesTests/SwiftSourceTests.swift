import Testing

@Suite("SwiftSource")
struct SwiftSourceTests {
    private func line(_ text: String) -> SwiftSource.Line? {
        SwiftSource(path: "a.swift", text: text).lines.first
    }

    @Test(
        "code keeps its marks and loses comments and the text of strings",
        arguments: [
            ("let a = 1  // one", "let a = 1  "),
            ("f(/* not /* this */ one */ 2)", "f( 2)"),
            ("let s = \"// no comment\"", "let s = \"\""),
            ("let s = \"a \\\" b\" + c", "let s = \"\" + c"),
            ("let s = \"\\(f(\"x\", (y)))!\"", "let s = \"(f(\"\", (y)))\""),
            ("let s = #\"\\(a) \"b\"# + c", "let s = #\"\"# + c"),
            ("let s = #\"\\#(a)\"#", "let s = #\"(a)\"#"),
            ("#if os(Linux)", "#if os(Linux)"),
        ])
    func code(text: String, expected: String) {
        #expect(line(text)?.code == expected)
        #expect(line(text)?.text == text)
    }

    @Test("a string of several lines ends at its three quotes")
    func multiline() {
        let text = "let s = \"\"\"\n    a \"b\" // c\n    \"\"\"\nlet t = 1"
        let source = SwiftSource(path: "a.swift", text: text)
        #expect(source.lines.map(\.code) == ["let s = \"\"\"", "", "\"\"\"", "let t = 1"])
    }

    @Test("a comment keeps its marks")
    func comment() {
        #expect(line("f()  /// Why.")?.comment == "/// Why.")
    }

    @Test("a token knows whether it touches the one before")
    func tokens() {
        let tokens = SwiftSource(path: "a.swift", text: "a! != b_1").tokens
        #expect(tokens.map(\.text) == ["a", "!", "!", "=", "b_1"])
        #expect(tokens.map(\.isAttached) == [false, true, false, true, false])
    }

    @Test("the target is the folder below Sources or Tests")
    func target() {
        #expect(SwiftSource(path: "Sources/BelfryHTTP/A.swift", text: "").target == "BelfryHTTP")
        #expect(SwiftSource(path: "Package.swift", text: "").target == nil)
    }
}
