/// The table of rooms in STYLE.md, section 1, with the imports that each may have.
struct RoomTable: Equatable {
    struct Row: Equatable {
        let room: String
        let imports: Set<String>
    }

    let rows: [Row]

    /// The imports that this room may have, or `nil` for a room that has no row.
    func imports(of room: String) -> Set<String>? {
        rows.first { $0.room == room }?.imports
    }

    /// Reads the first table of the text whose first column is headed `Room`.
    ///
    /// A cell of imports is `nothing`, or names with commas. `Center` is `BelfryCenter` when there
    /// is such a room. `all above` is the rooms of the rows above, and a name after `but` is
    /// removed from them.
    init(style text: String) {
        let cells = text.split(separator: "\n", omittingEmptySubsequences: false).map(Self.cells)
        let start = cells.firstIndex { $0.first == "Room" } ?? cells.endIndex
        let table = cells[start...].dropFirst(2).prefix { $0.count >= 3 }
        let rooms = table.map { $0[0].filter { $0 != "`" } }
        rows = zip(rooms, table).enumerated().map { index, row in
            Row(room: row.0, imports: Self.imports(row.1[2], above: rooms.prefix(index), of: rooms))
        }
    }

    private static func cells(_ line: Substring) -> [String] {
        guard line.hasPrefix("|") else { return [] }
        return line.split(separator: "|").map(trimmed)
    }

    private static func imports(
        _ cell: String, above: ArraySlice<String>, of rooms: [String]
    ) -> Set<String> {
        var imports: Set<String> = []
        for item in cell.split(separator: ",").map(trimmed) where item != "nothing" {
            let words = item.split(separator: " ").map(String.init)
            guard words.starts(with: ["all", "above"]) else {
                imports.insert(module(item, of: rooms))
                continue
            }
            imports.formUnion(above)
            for left in words.dropFirst(3) { imports.remove(module(left, of: rooms)) }
        }
        return imports
    }

    private static func module(_ name: String, of rooms: [String]) -> String {
        rooms.contains("Belfry" + name) ? "Belfry" + name : name
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
