/// The checks themselves; each is a function from sources to violations.
enum HouseRules {}

extension HouseRules {
    /// The modules that a file imports, with the index of the line of each.
    static func imports(of source: SwiftSource) -> [(module: String, line: Int)] {
        let kinds: Set = [
            "class", "struct", "enum", "protocol", "func", "var", "let", "typealias",
        ]
        var imports: [(module: String, line: Int)] = []
        for (index, token) in source.tokens.enumerated() where token.text == "import" {
            let following = source.tokens[(index + 1)...].prefix { $0.line == token.line }
            let module = following.first { !kinds.contains($0.text) }
            if let module, module.isWord { imports.append((module.text, token.line)) }
        }
        return imports
    }

    /// STYLE.md section 1: a room imports only what its row lists.
    static func arrows(of source: SwiftSource, in table: RoomTable) -> [Violation] {
        guard let room = source.target else { return [] }
        guard let allowed = table.imports(of: room) else {
            return [
                Violation(
                    path: source.path, line: 0,
                    fact: "`\(room)` has no row in the table of STYLE.md, section 1")
            ]
        }
        return imports(of: source).filter { !allowed.contains($0.module) }.map {
            source.violation(at: $0.line, "`\(room)` may not import `\($0.module)`")
        }
    }

    /// STYLE.md section 1: Foundation is imported by tests only.
    static func foundation(in source: SwiftSource) -> [Violation] {
        guard !source.path.hasPrefix("Tests/") else { return [] }
        return imports(of: source).filter { $0.module.hasPrefix("Foundation") }.map {
            source.violation(at: $0.line, "only tests may import `\($0.module)`")
        }
    }
}
