extension HouseRules {
    /// The figures of the rooms' plan: circles of files, and arrows between folders.
    ///
    /// The folders of the two largest rooms are held; the others have few or none.
    static func plan(of sources: [SwiftSource]) -> [Figure] {
        let rooms = Dictionary(grouping: sources) { $0.target ?? "" }
        return rooms.flatMap { room, sources -> [Figure] in
            let graph = FileGraph(of: sources)
            let count = graph.circles().filter { $0.count > 4 }.reduce(0) { $0 + $1.count }
            let circle = Figure(measure: .circle, subject: room, amount: count)
            guard ["BelfryServer", "BelfryCenter"].contains(room) else { return [circle] }
            return [circle]
                + graph.folderArrows().map {
                    Figure(measure: .arrow, subject: "\(room): \($0)", amount: 1)
                }
        }
    }

    /// The figures of a Swift file: its length, its functions, its columns and its summaries.
    static func figures(of source: SwiftSource) -> [Figure] {
        let long = functions(of: source).filter { $0.lineCount > Measure.function.limit }
        let lengths = Dictionary(grouping: long, by: \.name).map { name, functions in
            Figure(
                measure: .function, subject: "\(source.path) \(name)",
                amount: functions.reduce(0) { $0 + $1.lineCount })
        }
        return lengths + [
            Figure(measure: .file, subject: source.path, amount: source.lines.count),
            Figure(
                measure: .columns, subject: source.path,
                amount: source.lines.count { $0.text.count > 100 }),
            Figure(
                measure: .summaries, subject: source.path, amount: weakSummaries(of: source).count),
        ]
    }

    /// The columns of a Markdown page; a row of a table cannot be broken.
    static func columns(ofPage text: String, path: String) -> Figure {
        let lines = text.split(separator: "\n").filter { line in
            line.count > 100 && line.first { $0 != " " } != "|"
        }
        return Figure(measure: .columns, subject: path, amount: lines.count)
    }

    /// The summaries that do not begin with a verb or a noun, by the index of their lines.
    static func weakSummaries(of source: SwiftSource) -> [Int] {
        let weak: Set<Substring> = [
            "What", "Who", "Whoever", "Whose", "Whom", "Nobody", "Of", "As",
        ]
        return source.lines.indices.filter { index in
            let comment = source.lines[index].comment
            let isFirst = index == 0 || !source.lines[index - 1].comment.hasPrefix("///")
            guard isFirst, comment.hasPrefix("///") else { return false }
            let words = comment.dropFirst(3).split { !$0.isLetter }.prefix(2)
            return words.first.map(weak.contains) == true || words == ["How", "much"]
        }
    }
}
