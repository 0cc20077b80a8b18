import BelfryWire
import Testing

@Suite("The problems of openapi.yaml and Protocol.md")
struct ProblemTests {
    private static let prefix = "https://belfry.dev/problems/"
    private let file: ContractValue

    init() throws {
        file = try ContractFile("openapi.yaml").yaml()
    }

    @Test("the file lists the kinds that the broker has, and no other")
    func types() {
        let schemas = file["components"]["schemas"]
        let listed = schemas["Problem"]["properties"]["type"]["enum"].elements.compactMap(\.text)
        let removed = schemas["Tombstone"]["properties"]["type"]["const"].text
        #expect(removed == Problem.Kind.observerRemoved.type)
        #expect(listed.count == Set(listed).count)
        #expect(Set(listed + [removed]) == Set(Problem.Kind.allCases.map(\.type)))
    }

    @Test("each answer with a problem has an example a kind, with its title and status")
    func examples() throws {
        for (name, answer) in file["components"]["responses"].members {
            let content = answer["content"]["application/problem+json"]
            guard content != .null else { continue }
            let schema = name == "ObserverRemoved" ? "Tombstone" : "Problem"
            #expect(content["schema"]["$ref"] == .text("#/components/schemas/" + schema))
            #expect(!content["examples"].members.isEmpty, "\(name)")
            for example in content["examples"].members.values {
                let value = file.resolving(example)["value"]
                let kind = try #require(
                    Problem.Kind.allCases.first { $0.type == value["type"].text }, "\(name)")
                #expect(value["title"].text == kind.title, "\(name)")
                #expect(value["status"] == .number(Double(kind.status)), "\(name)")
            }
        }
    }

    @Test("each answer of an operation has the status of its examples, and of no other kind")
    func answers() {
        var seen: Set<String?> = []
        for operation in file["paths"].members.values.flatMap({ $0.members.values }) {
            for (status, answer) in operation["responses"].members {
                let content = file.resolving(answer)["content"]["application/problem+json"]
                for example in content["examples"].members.values {
                    let value = file.resolving(example)["value"]
                    #expect(value["status"] == Double(status).map { .number($0) })
                    seen.insert(value["type"].text)
                }
            }
        }
        // Any path may answer the first three; the fourth comes over a WebSocket alone.
        let elsewhere: [Problem.Kind] = [
            .methodNotAllowed, .notImplemented, .versionNotSupported, .resumeTooLate,
        ]
        #expect(seen.union(elsewhere.map(\.type)) == Set(Problem.Kind.allCases.map(\.type)))
    }

    @Test("each status of an answer is that of a kind, and the other way around")
    func statuses() {
        let operations = file["paths"].members.values.flatMap { $0.members.values }
        let codes = operations.flatMap { $0["responses"].members.keys }.compactMap { Int($0) }
            .filter { $0 >= 400 }
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
