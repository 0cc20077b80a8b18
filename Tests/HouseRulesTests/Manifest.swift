/// The rows of targets in Package.swift, read as text.
struct Manifest {
    struct Row: Equatable {
        /// The function that makes the row, such as `room` or `.target`.
        let maker: String
        /// The folder of the target, below `Sources` or `Tests`.
        let folder: String
        let text: String
    }

    let rows: [Row]

    private static let makers = [
        "room", "tests", ".target", ".executableTarget", ".testTarget", ".systemLibrary", ".plugin",
    ]

    init(text: String) {
        var rows: [Row] = []
        var rest = text[...]
        while let (maker, start) = Self.nextMaker(in: rest) {
            let end = Self.closingParenthesis(of: rest[start...])
            let row = String(rest[start..<end])
            if let name = Self.firstLiteral(of: row) {
                let folder = Self.folderOfPath(in: row) ?? name
                rows.append(
                    Row(maker: maker, folder: maker == "tests" ? name + "Tests" : folder, text: row)
                )
                rest = rest[end...]
            } else {
                rest = rest[rest.index(after: start)...]
            }
        }
        self.rows = rows
    }

    /// Whether the row gives its target the strict settings that every room has.
    static func isStrict(_ row: Row) -> Bool {
        ["room", "tests"].contains(row.maker) || row.text.contains("swiftSettings: strict")
    }

    /// The nearest maker with the place of its opening parenthesis.
    private static func nextMaker(in text: Substring) -> (maker: String, start: String.Index)? {
        var nearest: (maker: String, start: String.Index)?
        for maker in makers {
            for range in text.ranges(of: maker + "(") {
                let before = text[..<range.lowerBound].last
                let isWhole =
                    maker.hasPrefix(".") || !(before.map { $0.isLetter || $0 == "." } ?? false)
                let start = text.index(before: range.upperBound)
                if isWhole, nearest.map({ start < $0.start }) ?? true { nearest = (maker, start) }
            }
        }
        return nearest
    }

    private static func closingParenthesis(of text: Substring) -> String.Index {
        var depth = 0
        for index in text.indices {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            if depth == 0 { return text.index(after: index) }
        }
        return text.endIndex
    }

    /// The last folder of the path that a row gives, if its target is not named as its folder is.
    private static func folderOfPath(in row: String) -> String? {
        guard let label = row.firstRange(of: "path: \"") else { return nil }
        let path = row[label.upperBound...].prefix { $0 != "\"" }
        return path.split(separator: "/").last.map(String.init)
    }

    /// The first string literal, unless it is put together from others.
    private static func firstLiteral(of text: String) -> String? {
        let parts = text.split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].contains("\\") else { return nil }
        return String(parts[1])
    }
}
