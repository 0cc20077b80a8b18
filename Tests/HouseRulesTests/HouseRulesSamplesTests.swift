import Testing

/// The checks themselves, on small samples that obey a rule and that break it.
@Suite("HouseRules")
struct HouseRulesSamplesTests {
    private static let table = RoomTable(
        style: """
            | Word | Means |
            | --- | --- |
            | a | b |

            | Room | Job | May import | Must not touch |
            | --- | --- | --- | --- |
            | `BelfryCenter` | center | nothing | bytes |
            | `BelfryWebSocket` | bytes | CZlib | sockets |
            | `BelfryWire` | JSON | Center, CZlib | HTTP |
            | `BelfryClient` | client | Wire | the server |
            | `BelfryServer` | joins | all above but Client, CAssets | system calls |
            """)

    private func source(_ text: String, path: String = "Sources/BelfryWire/A.swift") -> SwiftSource
    {
        SwiftSource(path: path, text: text)
    }

    // MARK: - Arrows

    @Test("the table of rooms gives each room its imports")
    func roomTable() {
        let table = Self.table
        #expect(table.rows.count == 5)
        #expect(table.imports(of: "BelfryCenter") == [])
        #expect(table.imports(of: "BelfryWire") == ["BelfryCenter", "CZlib"])
        #expect(
            table.imports(of: "BelfryServer")
                == ["BelfryCenter", "BelfryWebSocket", "BelfryWire", "CAssets"])
        #expect(table.imports(of: "BelfryNew") == nil)
    }

    @Test("a listed import passes and any other is told with its line")
    func arrows() {
        let text =
            "package import BelfryCenter\n@_spi(A) import struct CZlib.z_stream\nimport Glibc\n"
        let violations = HouseRules.arrows(of: source(text), in: Self.table)
        #expect(violations.map(\.line) == [3])
        let imports = HouseRules.imports(of: source(text)).map(\.module)
        #expect(imports == ["BelfryCenter", "CZlib", "Glibc"])
    }

    @Test("the word import in a comment or a string is no import")
    func wordImport() {
        #expect(HouseRules.imports(of: source("// import A\nlet a = \"import B\"")).isEmpty)
    }

    @Test("a room without a row is told")
    func unknownRoom() {
        let new = source("", path: "Sources/BelfryNew/A.swift")
        #expect(HouseRules.arrows(of: new, in: Self.table).count == 1)
    }

    @Test(
        "Foundation is refused outside the tests",
        arguments: [
            ("Sources/BelfryWire/A.swift", 2), ("Examples/Calculator/A.swift", 2),
            ("Tests/BelfryWireTests/A.swift", 0),
        ])
    func foundation(path: String, count: Int) {
        let text = "import Foundation\nimport FoundationEssentials\n"
        #expect(HouseRules.foundation(in: source(text, path: path)).count == count)
    }

    // MARK: - Comment marks

    @Test(
        "an unsafe expression needs its sentence in the same group of lines",
        arguments: [
            ("// SAFETY: n bytes fit.\nlet a = unsafe f()", true),
            ("// SAFETY: n bytes fit.\nlet a = g { b in\n    unsafe f(b)\n}", true),
            ("let a = unsafe f()  // SAFETY: n bytes fit.", true),
            ("// SAFETY: the caller keeps it.\n@inline(never)\nfunc f() { unsafe g() }", true),
            ("let a = unsafe f()", false),
            ("// SAFETY: another one.\n\nlet a = unsafe f()", false),
            ("// SAFETY: another one.\nlet a = 1\nfunc f() {\n    unsafe g()\n}", false),
            ("// It is safe.\nlet a = unsafe f()", false),
            ("let a = \"unsafe\"  // unsafe", true),
            ("@unsafe func f()", true),
            ("nonisolated(unsafe) var a = 1", true),
        ])
    func safety(text: String, isGood: Bool) {
        #expect(HouseRules.unmarkedUnsafe(in: source(text)).isEmpty == isGood)
    }

    @Test(
        "unsafe code stays in the rooms at the machine's edge",
        arguments: [
            ("Sources/BelfryLoop/A.swift", true),
            ("Sources/BelfryWebSocket/Inflater.swift", true),
            ("Sources/BelfryWebSocket/Frame.swift", false),
            ("Sources/BelfryCenter/A.swift", false),
            ("Tests/BelfryCenterTests/A.swift", true),
        ])
    func unsafeRooms(path: String, isGood: Bool) {
        let violations = HouseRules.misplacedUnsafe(in: source("let a = unsafe f()", path: path))
        #expect(violations.isEmpty == isGood)
    }

    @Test(
        "a Sendable check that is off needs its comment",
        arguments: [
            ("// SENDABLE: guarded by `lock`.\nfinal class A: @unchecked Sendable {}", true),
            ("// SENDABLE: set once.\n@usableFromInline\nnonisolated(unsafe) var a = 1", true),
            ("final class A: @unchecked Sendable {}", false),
            ("nonisolated(unsafe) var a = 1", false),
            ("final class A: Sendable {}", true),
        ])
    func sendable(text: String, isGood: Bool) {
        #expect(HouseRules.unmarkedSendable(in: source(text)).isEmpty == isGood)
    }

    @Test(
        "a task needs an issue number",
        arguments: [
            ("// TODO: later", false), ("// TODO #12: later", true), ("// FIXME(#7)", true),
            ("/* XXX */", false), ("let a = \"TODO\"", true), ("// a TODOS list", true),
            ("// TODO: use #if", false),
        ])
    func tasks(text: String, isGood: Bool) {
        #expect(HouseRules.unnumberedTasks(in: source(text)).isEmpty == isGood)
    }

    @Test(
        "force is refused, negation and comparison are not",
        arguments: [
            ("let a = b!", false), ("let a = b![0]", false), ("f()!.g()", false),
            ("a[0]!", false), ("try! f()", false), ("b as! Int", false), ("var a: Int!", false),
            ("let a = \"\\(b!)\"", false),
            ("if !a && b != c || a!=b {}", true), ("f(!a, [!b])", true), ("let a = \"b!\"", true),
            ("// Stop!", true), ("#if !os(Linux)", true), ("let a = b !== c", true),
        ])
    func force(text: String, isGood: Bool) {
        #expect(HouseRules.forcedValues(in: source(text)).isEmpty == isGood)
    }

    @Test(
        "a public or package declaration needs a summary right above it",
        arguments: [
            ("/// What.\npublic let a = 1", true),
            ("/// What.\n///\n/// More.\n@inlinable\npublic func f() {}", true),
            ("public let a = 1", false),
            ("// What.\npublic let a = 1", false),
            ("/// What.\n\npublic let a = 1", false),
            ("/// What.\nlet a = 1\npublic let b = 1", false),
            ("open class A {}", false),
            ("public import A\npublic extension B {}", true),
            ("/// What.\npackage let a = 1", true),
            ("package let a = 1", false),
            ("package import A\nlet b = open(path)", true),
        ])
    func summaries(text: String, isGood: Bool) {
        #expect(HouseRules.undocumentedInterface(in: source(text)).isEmpty == isGood)
    }

    // MARK: - Words

    @Test(
        "a banned word is found as a word of a name",
        arguments: [
            ("ObserverManager", "Manager"), ("BaseCenter", "Base"), ("HTTPUtil", "Util"),
            ("Database", nil), ("BaseballTeam", nil), ("Implicit", nil), ("Commons", nil),
        ] as [(String, String?)])
    func bannedWord(name: String, word: String?) {
        #expect(HouseRules.bannedWord(in: name) == word)
    }

    @Test("banned words are looked for in type names and file names, not elsewhere")
    func bannedNames() {
        let text = "enum HTTPHelper {}\nclass func a() {}\n// A Helper.\nlet BaseURL = 1"
        #expect(HouseRules.bannedNames(in: source(text)).map(\.line) == [1])
        let named = source("", path: "Sources/BelfryWire/Array+Helper.swift")
        #expect(HouseRules.bannedNames(in: named).map(\.line) == [0])
    }

    @Test("a path of one machine is told, an address or a longer path is not")
    func machinePaths() {
        let bad = ["root", "home", "Users", "work"].map { "cd /\($0)/x" } + ["see ../" + "shared"]
        let good = ["https://example.com/home/x", "net/work/x", "/usr/local/bin", "/*/home/"]
        let text = (bad + good).joined(separator: "\n")
        let violations = HouseRules.machinePaths(path: "a.md", text: text)
        #expect(violations.map(\.line) == [1, 2, 3, 4, 5])
    }

    // MARK: - Length

    @Test("a function's length counts from its first line to its brace")
    func lengths() {
        let text = """
            protocol P {
                func a() -> Int
                init(a: Int)
            }
            func b(
                _ c: Int = { 1 }()
            ) throws -> Int
            where T: P {
                { 2 }()
            }
            init() { self.init(a: 1) }
            """
        let functions = HouseRules.functions(of: source(text))
        #expect(
            functions == [
                FunctionLength(name: "b", line: 5, lineCount: 6),
                FunctionLength(name: "init", line: 11, lineCount: 1),
            ])
    }

    // MARK: - Package.swift

    @Test("the manifest's rows are read with their makers")
    func manifest() {
        let manifest = Manifest(
            text: """
                func room(_ name: String) -> Target { .target(name: name, swiftSettings: strict) }
                func tests(of name: String) -> Target { .testTarget(name: "\\(name)Tests") }
                    room("BelfryCenter"),
                    tests(of: "BelfryCenter", .product(name: "Logging", package: "swift-log")),
                    .target(name: "CBelfrySystem"),
                    .testTarget(name: "RulesTests", dependencies: [.target(name: "X")]),
                    .executableTarget(name: "belfry", swiftSettings: strict),
                    .executableTarget(name: "tool", path: "Tests/Tool", swiftSettings: strict),
                """)
        #expect(
            manifest.rows.map(\.folder)
                == [
                    "BelfryCenter", "BelfryCenterTests", "CBelfrySystem", "RulesTests", "belfry",
                    "Tool",
                ])
        #expect(manifest.rows.map(Manifest.isStrict) == [true, true, false, false, true, true])
    }

    // MARK: - Citations

    private static let citations = Citations(
        rules: "| rule | words |\n| --- | --- |\n| C1 | one |\n| Q10 | ten |\n",
        decisions: ["Documentation/Decisions/0007-a.md", "Documentation/Decisions/README.md"],
        documents: ["Protocol.md": "# P\n\n## 1. Posting\n\n### 2. no section\n"])

    @Test(
        "what a file cites must be there",
        arguments: [
            ("rule C1, rules C1 and Q10, decision 7, Protocol.md section 1", []),
            ("rule C2", ["rule C2"]), ("Rules C1 to Q11", ["rule Q11"]),
            ("decisions 7 and 8", ["decision 8"]),
            ("(Protocol.md section 2)", ["Protocol.md section 2"]),
            (
                "Nothing" + ".md sections 1 and 2",
                ["1", "2"].map { "Nothing.md " + "section " + $0 }
            ),
            ("the rules and the decisions, Protocol.md", []),
        ])
    func citedThings(line: String, unknown: [String]) {
        let violations = Self.citations.unknown(in: "\n" + line, path: "a")
        #expect(
            violations == unknown.map { Violation(path: "a", line: 2, fact: "there is no \($0)") })
    }

    @Test("a test names the rules before its colon")
    func namedRules() {
        let text = """
            @Test("Q8 (T70): three now posts, D3")
            @Test("T62 to T66, Q3 to Q5: masks")
            @Suite("rules C1 to C9")
            """
        #expect(Citations.named(in: text) == ["Q8", "T70", "T62", "T66", "Q3", "Q5"])
    }

    // MARK: - Transports

    @Test(
        "the case of a transport is found, and the member of a value is none",
        arguments: [
            ("if transport == .webSocket {}", true), ("case .events: 1", true),
            ("f(.events)", true), ("let a = Transport.events", true), ("[.webSocket]", true),
            ("loop.events", false), ("loops[0].events", false), ("let events = 1", false),
        ])
    func strayTransports(line: String, isFound: Bool) {
        let source = SwiftSource(path: "Sources/BelfryServer/Output/A.swift", text: "\n" + line)
        func violations(_ listed: String) -> [Violation] {
            HouseRules.strayTransports(
                in: source, names: ["webSocket", "events"], listed: [listed])
        }
        #expect(violations("B.swift").map(\.line) == (isFound ? [2] : []))
        #expect(violations("A.swift").isEmpty)
    }

    @Test("the cases that a file declares are read")
    func declaredCases() {
        let source = SwiftSource(
            path: "a", text: "enum A {\n case one\n case two\n}\nswitch a { case .three: 1 }")
        #expect(HouseRules.cases(declaredIn: source) == ["one", "two"])
    }

    @Test("the files that a paragraph names are read")
    func namedFiles() {
        let document = "A `a.swift`.\n\nB `b.swift`\nand `c+D.swift`, `x`.\n\nC `e.swift`\n"
        let files = HouseRules.files(namedIn: document, paragraph: "B ")
        #expect(files == ["b.swift", "c+D.swift"])
    }

    // MARK: - Submissions

    @Test(
        "what a command brought about is not read behind its submission in the same function",
        arguments: [
            ("func f() {\n submitCommand(a, &b)\n if case .done = effects.outcome {}\n}", [3]),
            ("func f() {\n host.submitCommand(\n  a)\n let b = host.applied.number\n}", [4]),
            ("func f() {\n submitCommand(a)\n g(centers[b].row, &effects)\n}", [3, 3]),
            ("func f() {\n func g() {\n  submitCommand(a)\n  h(effects)\n }\n}", [4]),
            ("init() {\n if a { submitCommand(b) }\n c { effects.deliveries }\n}", [3]),
            ("func f() {\n h(effects)\n submitCommand(a(b), to: applied.position)\n}", []),
            ("func f() { submitCommand(a) }\nfunc g() { h(effects, applied.number) }", []),
            ("func f() { submitCommand(a)\n fanOut(&b) // effects\n centers.look() }", []),
            ("func submitCommand(a: A) { applied.number = effects.count }", []),
            ("protocol P { func f() }\nfunc g() { tell(a, &b); h(effects) }", []),
        ])
    func hastyReads(text: String, lines: [Int]) {
        func violations(_ file: String, _ text: String) -> [Violation] {
            HouseRules.hastyReads(in: source(text, path: "Sources/BelfryServer/Centers/" + file))
        }
        #expect(violations("A.swift", text).map(\.line) == lines)
        #expect(HouseRules.hastyReads(in: source(text)).isEmpty)
        let short = text.replacing("func f", with: "func post")
        #expect(violations("A.swift", short).map(\.line) == lines)
        #expect(violations("CenterHost+Posting.swift", text).map(\.line) == lines)
    }

    @Test("the short way of a post may read behind its submission")
    func shortWay() {
        let text = "func post() { submitCommand(a); b(effects) }\nfunc f() {}"
        let path = "Sources/BelfryServer/Centers/CenterHost+Posting.swift"
        #expect(HouseRules.hastyReads(in: source(text, path: path)).isEmpty)
    }

    // MARK: - Planted faults

    @Test(
        "a planted fault needs the lines that it takes out and keeps",
        arguments: [("a\nb\nc\n", []), ("a\nc\n", [3]), ("b\na\n", [3])])
    func lostPlaces(text: String, lines: [Int]) {
        let patch = """
            --- a/x
            +++ b/x
            @@ -1,2 +1,2 @@
             a
            -b
            +d

            """
        let violations = HouseRules.lostPlaces(of: patch, path: "p") { $0 == "x" ? text : nil }
        #expect(violations.map(\.line) == lines)
    }
}
