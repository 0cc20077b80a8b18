import Testing

/// The rule of loops and its table, on small samples.
@Suite("HouseRules: bounds of loops")
struct LoopSamplesTests {
    private func source(
        _ text: String, path: String = "Sources/BelfryCenter/Asks/A+B.swift"
    ) -> SwiftSource {
        SwiftSource(path: path, text: text)
    }

    @Test(
        "a loop needs a mark behind its first line or right above it, and a share its meter",
        arguments: [
            ("for a in b {  // Bound: list\n}", []),
            ("// Bound: list, ends\nfor a in b\nwhere c { d() }", []),
            ("while a < b {  // Share: time\n    if outbox.turnIsFull { return }\n}", []),
            ("while work < workLimit,  // Share: time\n    let a = b {\n}", []),
            ("repeat {  // Share: time\n    a()\n} while !outbox.turnIsFull\nb()", []),
            ("a.filter { b in  // a closure\n    true }\nc.prefix(while: d)", []),
            ("func f(\n    while a: B, for c: D,\n    for e: F\n) {}", []),
            ("// for a in b {}\nlet a = \"for a in b {}\"", []),
            ("for a in b {\n}", [1]),
            ("while true { a() }", [1]),
            ("repeat {\n    a()\n} while b\nwhile c { d() }", [1, 4]),
            ("a.map { for b in c { d() } }", [1]),
            ("for a in b {  // Bound: list\n    for c in d { e() }\n}", [2]),
            ("// Bound: list\n\nfor a in b { c() }", [3, 1]),
            ("for a in b {  // bound: list\n}", [1]),
            ("while a < b {  // Share: time\n    c()\n}\nif outbox.turnIsFull {}", [1]),
            ("let a = b  // Bound: list", [1]),
        ])
    func unpricedLoops(text: String, lines: [Int]) {
        #expect(HouseRules.unpricedLoops(in: source(text)).map(\.line) == lines)
    }

    @Test(
        "a loop whose bound the code shows needs no mark",
        arguments: [
            ("for a in 0..<8 {}", true), ("for _ in 1...1_000 { b() }", true),
            ("for a in [b, c(d[0])] {}", true), ("for (a, b) in [(1, 2)] where a > c {}", true),
            ("for a in Kind.allCases {}", true), ("for a in Kind.allCases where b[a] {}", true),
            ("for a in 0..<b {}", false), ("for a in [b] + c {}", false),
            ("for a in [b][0] {}", false), ("for a in b.allCases.flatMap(c) {}", false),
            ("for a in 0..<8.b {}", false), ("while 0 < 8 {}", false),
        ])
    func constantLoops(text: String, isConstant: Bool) {
        #expect(HouseRules.unpricedLoops(in: source(text)).isEmpty == isConstant)
    }

    @Test(
        "loops have a price in centers and in what belongs to their host",
        arguments: [
            ("Sources/BelfryCenter/A.swift", "", true),
            ("Sources/BelfryServer/Centers/Calls/A.swift", "", true),
            ("Sources/BelfryServer/Cluster/A.swift", "extension CenterHost {}", true),
            ("Sources/BelfryServer/Cluster/A.swift", "struct A { var host: CenterHost }", false),
            ("Sources/BelfryWire/A.swift", "extension CenterHost {}", false),
        ])
    func priced(path: String, text: String, isPriced: Bool) {
        #expect(HouseRules.pricesLoops(in: source(text, path: path)) == isPriced)
    }

    // MARK: - The table

    private static let document = """
        # A

        | name | what is gone through | bound | what ends it | where |
        | --- | --- | --- | --- | --- |
        | input | a | b | c | — |
        | list | d | e | f | A+B |

        | name | other |
        """

    @Test("a mark without a row is told, and a row without a mark unless it is known elsewhere")
    func rowsAndMarks() {
        let table = BoundTable(document: Self.document)
        #expect(table.names == ["input", "list"])
        func lines(_ text: String) -> [Int] {
            table.violations(of: HouseRules.boundMarks(in: source(text))).map(\.line)
        }
        #expect(lines("for a in b {}  // Bound: list") == [])
        #expect(lines("\nfor a in b {}  // Bound: list, more") == [2])
        #expect(lines("") == [6])
        #expect(lines("for a in b {}  // Bound: list, input") == [5])
    }

    @Test("the last column is made from the marks")
    func lastColumn() {
        let table = BoundTable(document: Self.document)
        func marks(_ files: [String]) -> [BoundMark] {
            files.map { file in
                BoundMark(path: "a/\(file).swift", line: 1, names: ["list"], isShare: false)
            }
        }
        #expect(table.page(with: marks(["A+B", "A+B"])) == Self.document)
        #expect(table.page(with: []) == Self.document.replacing("A+B", with: "—"))
        let seven = marks(["G", "F", "E", "D", "C", "B", "A"])
        #expect(BoundTable.files(of: "list", in: seven) == "A, B, C, D, E and 2 more")
        let six = Array(seven.dropFirst())
        #expect(BoundTable.files(of: "list", in: six) == "A, B, C, D, E, F")
    }
}
