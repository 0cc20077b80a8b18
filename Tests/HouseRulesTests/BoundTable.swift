/// The table of `ThreatModel.md` that says what bounds each loop of centers and their host.
struct BoundTable {
    static let path = "Documentation/ThreatModel.md"

    /// The rows of the loop, of the transports, and of what goes through centers with a closure:
    /// no loop statement of a center or its host has these names.
    static let elsewhere: Set = [
        "input", "departures", "deadlines", "flush", "metrics", "largest", "unfinished", "slowest",
        "room",
    ]

    /// How many files a row names at most; of more it names one less, and how many they are.
    private static let fileLimit = 6

    private let lines: [Substring]
    /// The indexes of its rows.
    private let rows: [Int]

    init(document: String) {
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false)
        let head = lines.firstIndex { $0.hasPrefix("| name | what is gone through |") }
        self.lines = lines
        // Behind the head and the line below it.
        let behind = lines.indices.dropFirst(head.map { $0 + 2 } ?? lines.count)
        rows = Array(behind.prefix { lines[$0].hasPrefix("|") })
    }

    /// The names of its rows.
    var names: [String] { rows.map { cells(of: $0).first ?? "" } }

    /// Compares its rows with the marks of the loops: each has the other.
    func violations(of marks: [BoundMark]) -> [Violation] {
        let names = names
        let known = Set(names)
        let used = Set(marks.flatMap(\.names))
        let strangers = marks.flatMap { mark in
            mark.names.filter { !known.contains($0) }.map { name in
                Violation(path: mark.path, line: mark.line, fact: "no row has the name `\(name)`")
            }
        }
        let idle = zip(rows, names).filter { used.contains($1) == Self.elsewhere.contains($1) }
            .map { row, name in
                let fact = used.contains(name) ? "has loops here now" : "is the name of no loop"
                return Violation(path: Self.path, line: row + 1, fact: "`\(name)` \(fact)")
            }
        return strangers + idle
    }

    /// The document, with the last column made from the marks.
    func page(with marks: [BoundMark]) -> String {
        var page = lines.map { String($0) }
        for row in rows {
            var cells = Array(cells(of: row).prefix(4))
            cells.append(Self.files(of: cells.first ?? "", in: marks))
            page[row] = "| " + cells.joined(separator: " | ") + " |"
        }
        return page.joined(separator: "\n")
    }

    /// The files whose loops have a name.
    static func files(of name: String, in marks: [BoundMark]) -> String {
        let files = Set(marks.filter { $0.names.contains(name) }.map(\.file)).sorted()
        if files.isEmpty { return "—" }
        if files.count <= fileLimit { return files.joined(separator: ", ") }
        let first = files.prefix(fileLimit - 1).joined(separator: ", ")
        return "\(first) and \(files.count - fileLimit + 1) more"
    }

    private func cells(of row: Int) -> [String] {
        lines[row].split(separator: "|").map { cell in
            cell.split(separator: " ").joined(separator: " ")
        }
    }
}
