import Testing

/// The measures of the house on small samples, and what the exceptions make of them.
@Suite("The figures of the house (STYLE.md section 3)")
struct HouseFiguresTests {
    private func source(_ text: String, path: String = "Sources/BelfryServer/A.swift")
        -> SwiftSource
    {
        SwiftSource(path: path, text: text)
    }

    private func amount(_ measure: Measure, _ subject: String, in figures: [Figure]) -> Int? {
        figures.first { $0.measure == measure && $0.subject == subject }?.amount
    }

    // MARK: - Types

    @Test(
        "a stored property counts, a static or computed one does not",
        arguments: [
            ("let a: Int", 1), ("private(set) var a = 1", 1), ("var a: [Int] = []", 1),
            ("var a: Int { 1 }", 0), ("var a: Int {\n get { 1 }\n}", 0),
            ("var a = 1 { didSet { b() } }", 1), ("var a: Int { willSet { b() } }", 1),
            ("var a: A<B, C>\n{\n 1\n}", 0), ("var a, b: Int", 2), ("var a: (B, C)", 1),
            ("let a: (B) -> C\nlet b: D", 2), ("static let a = 1", 0), ("class var a = 1", 0),
            ("lazy var a = { 1 }()", 1), ("func f() { let a = 1 }", 0),
            ("@Flag var a = false", 1), ("var a: Int =\n 1", 1), ("// let a = 1", 0),
        ])
    func storedProperties(member: String, count: Int) {
        let types = HouseRules.types(declaredIn: source("struct S: P {\n\(member)\n}"))
        #expect(types["S"]?.storedCount ?? 0 == count)
    }

    @Test("the methods of a type are added up over its extensions, and not those of others")
    func methods() {
        let first = source(
            """
            public struct S<T> where T: P {
                func a() { func inner() {} }
                static func b() {}
                struct Row { func c() {} }
                init() {}
            }
            extension S.Row { func d() {} }
            class C { class func e() {} }
            """)
        let second = source("extension S { func f() {} }", path: "Sources/BelfryServer/B.swift")
        let other = source("extension S { func g() {} }", path: "Sources/BelfryWire/B.swift")
        let figures = HouseRules.types(of: [first, second, other])
        #expect(amount(.methods, "BelfryServer/S", in: figures) == 3)
        #expect(amount(.methods, "BelfryServer/S.Row", in: figures) == 2)
        #expect(amount(.methods, "BelfryServer/C", in: figures) == 1)
        #expect(amount(.methods, "BelfryWire/S", in: figures) == 1)
    }

    @Test("20 stored properties and 60 methods are within the limits, one more is not")
    func typeLimits() {
        func isOver(_ members: [String], _ measure: Measure) -> Bool {
            let text = "struct S {\n" + members.joined(separator: "\n") + "\n}"
            return HouseRules.types(of: [source(text)]).contains {
                $0.measure == measure && $0.isOverLimit
            }
        }
        func properties(_ count: Int) -> [String] { (0..<count).map { "let p\($0): Int" } }
        func methods(_ count: Int) -> [String] { (0..<count).map { "func f\($0)() {}" } }
        #expect(!isOver(properties(20), .stored))
        #expect(isOver(properties(21), .stored))
        #expect(!isOver(methods(60), .methods))
        #expect(isOver(methods(61), .methods))
    }

    // MARK: - Files and functions

    @Test("400 lines of a file and 70 of a function are within the limits, one more is not")
    func lengths() {
        func isOver(_ text: String, _ measure: Measure) -> Bool {
            HouseRules.figures(of: source(text)).contains {
                $0.measure == measure && $0.isOverLimit
            }
        }
        func lines(_ count: Int) -> String { String(repeating: "a()\n", count: count) }
        #expect(!isOver(lines(400), .file))
        #expect(isOver(lines(401), .file))
        for start in ["func f() {\n", "init() {\n"] {
            #expect(!isOver(start + lines(68) + "}\n", .function))
            #expect(isOver(start + lines(69) + "}\n", .function))
        }
    }

    // MARK: - The plan

    /// A file that declares a type and names another one.
    private func file(_ path: String, declares name: String, names other: String) -> SwiftSource {
        source("struct \(name) { var a: \(other) }", path: "Sources/BelfryServer/\(path)")
    }

    /// Files whose types name each other in a ring.
    private func ring(of count: Int) -> [SwiftSource] {
        (0..<count).map { index in
            file("\(index).swift", declares: "T\(index)", names: "T\((index + 1) % count)")
        }
    }

    @Test("a circle of four files is within the limit, one of five is not")
    func circles() {
        for (count, figure) in [(1, 0), (4, 0), (5, 5)] {
            #expect(
                amount(.circle, "BelfryServer", in: HouseRules.plan(of: ring(of: count)))
                    == figure)
        }
        #expect(FileGraph(of: ring(of: 2)).circles().map(\.count) == [2])
        let chain = [file("a", declares: "A", names: "B"), file("b", declares: "B", names: "C")]
        #expect(FileGraph(of: chain).circles().isEmpty)
    }

    @Test("two circles with a bridge between them are two, and both count")
    func twoCircles() {
        let more = (10..<15).map { index in
            file("\(index).swift", declares: "T\(index)", names: "T\(index == 14 ? 10 : index + 1)")
        }
        let bridge = file("b.swift", declares: "B", names: "T10 = T0()")
        let graph = FileGraph(of: ring(of: 5) + more + [bridge])
        #expect(graph.circles().map(\.count) == [5, 5])
        #expect(
            amount(.circle, "BelfryServer", in: HouseRules.plan(of: ring(of: 5) + more)) == 10)
    }

    @Test("an arrow between two folders is found, one within a folder is not")
    func folderArrows() {
        let files = [
            file("Loop/A.swift", declares: "A", names: "B"),
            file("Centers/Calls/B.swift", declares: "B", names: "C"),
            file("Centers/C.swift", declares: "C", names: "Int"),
            source("// A\nlet a = \"A\"", path: "Sources/BelfryServer/Output/D.swift"),
        ]
        let arrows = HouseRules.plan(of: files).filter { $0.measure == .arrow }
        #expect(
            arrows == [Figure(measure: .arrow, subject: "BelfryServer: Loop > Centers", amount: 1)])
        #expect(arrows.count(where: \.isOverLimit) == 1)
    }

    // MARK: - Columns and summaries

    @Test("100 columns are within the limit, one more is not, and a table of Markdown may be wide")
    func columns() {
        func wide(_ count: Int) -> String { String(repeating: "x", count: count) }
        let text = "// \(wide(97))\n// \(wide(98))\n/// \(wide(97))\nlet a = 1\n"
        let figures = HouseRules.figures(of: source(text))
        #expect(figures.first { $0.measure == .columns }?.amount == 2)
        let page = "\(wide(100))\n\(wide(101))\n\n| \(wide(100)) |\n  | \(wide(100)) |\n"
        #expect(HouseRules.columns(ofPage: page, path: "a.md").amount == 1)
    }

    @Test(
        "a summary does not begin with a clause or a pronoun",
        arguments: [
            ("What it is.", false), ("Who asks.", false), ("Whoever asks.", false),
            ("Whose it is.", false), ("Nobody asks.", false), ("Of many, one.", false),
            ("As many as there are.", false), ("How much there is.", false),
            ("The bytes.", true), ("Reads what it is.", true), ("Whatever.", true),
            ("Offers many.", true), ("How many there are.", true), ("", true),
        ])
    func summaries(summary: String, isGood: Bool) {
        let text = "/// \(summary)\n/// What comes behind is no summary.\nlet a = 1"
        #expect(HouseRules.weakSummaries(of: source(text)).isEmpty == isGood)
    }

    // MARK: - Exceptions

    @Test(
        "an entry is neither smaller nor larger than its figure",
        arguments: [
            ("file 500 a.swift", 500, nil),
            ("# A comment.\n\nfile any a.swift", 900, nil),
            ("", 400, nil),
            ("", 401, "file 401 a.swift: past the limit of 400"),
            (
                "file 500 a.swift", 501,
                "file 501 a.swift: the entry has 500, and an entry may only fall"
            ),
            ("file 500 a.swift", 499, "file 499 a.swift: the entry has 500; lower it"),
            ("file 500 a.swift", 400, "file a.swift: within the limit now; remove the entry"),
            (
                "function 500 a.swift", 400,
                "function a.swift: within the limit now; remove the entry"
            ),
        ] as [(String, Int, String?)])
    func exceptions(text: String, amount: Int, fact: String?) {
        let figure = Figure(measure: .file, subject: "a.swift", amount: amount)
        let violations = Exceptions(text: text).violations(of: [figure])
        #expect(violations.map(\.fact) == (fact.map { [$0] } ?? []))
    }

    @Test(
        "an entry that cannot be read, or that is there twice, is told with its line",
        arguments: ["file a.swift", "files 500 a.swift", "file many a.swift", "file 500", "file"])
    func malformedEntries(line: String) {
        let violations = Exceptions(text: "file 401 b.swift\n" + line).malformed
        #expect(violations.map(\.line) == [2])
        let twice = Exceptions(text: "file 401 b.swift\nfile 402 b.swift").malformed
        #expect(twice.map(\.line) == [2])
    }
}
