import Testing

/// The lists of walks on a small sample.
@Suite("The walks of Architecture.md (STYLE.md section 9)")
struct WalksTests {
    private static let sample = Walks(
        document: """
            ## 1. Something else
            ```
            x1  Nothing
            ```
            ## 2. Two walks
            ```
            in  A, B+C,
                D
            ```
            ### (a) One: 4 files
            Words are left out.
            ```
            a1  in, A
            a2  Room/E, a1
            ```
            ### (b) Another: 2 files
            ```
            b1  A, F
            b2  in
            ```
            """)

    @Test("the files of a walk are those of its steps and of all steps that these name")
    func files() {
        #expect(Self.sample.steps.map(\.name) == ["in", "a1", "a2", "b1", "b2"])
        #expect(Self.sample.files(ofWalk: "a") == ["A", "B+C", "D", "Room/E"])
        #expect(Self.sample.files(ofWalk: "b") == ["A", "B+C", "D", "F"])
        #expect(Self.sample.files(ofWalk: "x").isEmpty)
    }

    @Test("a file that is missing is found, and a heading with a wrong number")
    func faults() {
        let paths = ["A", "B+C", "D", "Room/E"].map { "Sources/X/\($0).swift" }
        #expect(
            Self.sample.faults(in: paths)
                == ["b1: there is no F.swift", "(b): 2 in the heading, 4 in the list"])
        let others = ["A", "B+C", "D", "E"].map { "Sources/X/\($0).swift" }
        #expect(
            Self.sample.faults(in: others)
                == [
                    "a2: there is no Room/E.swift", "b1: there is no F.swift",
                    "(b): 2 in the heading, 4 in the list",
                ])
    }

    @Test("steps that name each other end")
    func circle() {
        let walks = Walks(document: "## Walks and walks\n```\na1  a2, A\na2  a1, B\n```")
        #expect(walks.files(ofWalk: "a") == ["A", "B"])
        #expect(walks.faults(in: ["a/A.swift", "a/B.swift"]).isEmpty)
    }
}
