/// The cells of a table of Markdown.
enum MarkdownTable {
    /// The rows of the first table whose first column has this heading.
    static func rows(headed heading: String, in text: String) -> [[String]] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(cells)
        let start = lines.firstIndex { $0.first == heading } ?? lines.endIndex
        return Array(lines[start...].dropFirst(2).prefix { !$0.isEmpty })
    }

    private static func cells(_ line: Substring) -> [String] {
        guard line.hasPrefix("|") else { return [] }
        return line.split(separator: "|").map(trimmed)
    }

    static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
