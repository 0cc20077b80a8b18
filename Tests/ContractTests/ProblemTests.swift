import BelfryWire
import Testing

@Suite("The problems of openapi.yaml and Protocol.md")
struct ProblemTests {
    private static let prefix = "https://belfry.dev/problems/"
    private let file: ContractFile

    init() throws {
        file = try ContractFile("openapi.yaml")
    }

    @Test("the file lists the kinds that the broker has, and no other")
    func types() {
        let schemas = file.section("components").section("schemas", depth: 1)
        let listed = schemas.section("Problem", depth: 2).lines.compactMap { line in
            let text = line.drop { $0 == " " || $0 == "-" }
            return text.hasPrefix(Self.prefix) ? String(text) : nil
        }
        let removed = schemas.section("Tombstone", depth: 2).values(of: "const")
            .filter { $0.hasPrefix(Self.prefix) }
        #expect(removed == [Problem.Kind.observerRemoved.type])
        #expect(listed.count == Set(listed).count)
        #expect(Set(listed + removed) == Set(Problem.Kind.allCases.map(\.type)))
    }

    @Test("each example has the title and the status of its kind")
    func examples() throws {
        let responses = file.section("components").section("responses", depth: 1)
        for (index, line) in responses.lines.enumerated() {
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("type: " + Self.prefix) else { continue }
            let kind = try #require(
                Problem.Kind.allCases.first { text == "type: " + $0.type }, "\(text)")
            #expect(responses.lines[index + 1].hasSuffix(" title: " + kind.title))
            #expect(responses.lines[index + 2].hasSuffix(" status: \(kind.status)"))
        }
    }

    @Test("each status of an answer is that of a kind, and the other way around")
    func statuses() {
        let codes = file.section("paths").keys(depth: 4).compactMap { Int($0) }.filter { $0 >= 400 }
        // Any path may answer these; the introduction of the file says so once.
        let anywhere: Set = [405, 501, 505]
        #expect(Set(codes).union(anywhere) == Set(Problem.Kind.allCases.map(\.status)))
    }

    @Test("the table of errors in Protocol.md has a row a kind")
    func protocolTable() throws {
        let text = try ContractFile("Documentation/Protocol.md")
        let rows = text.lines.filter { line in
            Problem.Kind.allCases.contains { line.hasPrefix("| `\($0.slug)` |") }
        }
        #expect(rows.count == Problem.Kind.allCases.count)
        for kind in Problem.Kind.allCases {
            let row = "| `\(kind.slug)` | \(kind.status) |"
            #expect(rows.contains { $0.hasPrefix(row) }, "\(row)")
        }
    }
}
