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

    /// STYLE.md section 1: a folder names types of another one of its room only where its row
    /// allows it, and no row allows more than is needed.
    static func folderArrows(of sources: [SwiftSource], in table: FolderTable) -> [Violation] {
        let rooms = Dictionary(grouping: sources) { $0.target ?? "" }
        let found = rooms.reduce(into: Set<FolderTable.Arrow>()) { arrows, room in
            guard table.rooms.contains(room.key) else { return }
            for (from, to) in FileGraph(of: room.value).folderArrows() {
                arrows.insert(FolderTable.Arrow(room: room.key, from: from, to: to))
            }
        }
        let facts =
            found.subtracting(table.arrows).map { "\($0) is not in the table of folders" }
            + table.arrows.subtracting(found).map { "\($0) is needed no more: remove it" }
        return facts.sorted().map { Violation(path: "STYLE.md", line: 0, fact: $0) }
    }

    /// STYLE.md section 1: Foundation is imported by tests only.
    static func foundation(in source: SwiftSource) -> [Violation] {
        guard !source.path.hasPrefix("Tests/") else { return [] }
        return imports(of: source).filter { $0.module.hasPrefix("Foundation") }.map {
            source.violation(at: $0.line, "only tests may import `\($0.module)`")
        }
    }
}
