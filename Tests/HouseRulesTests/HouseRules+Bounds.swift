/// A comment that says what bounds a loop: `// Bound: NAME` or `// Share: NAME`.
struct BoundMark: Equatable {
    let path: String
    /// The line, counted from 1.
    let line: Int
    /// The rows of the table that it names; a loop may have more than one.
    let names: [String]
    /// Whether the loop takes from a meter, and the rest waits for another command or turn.
    let isShare: Bool

    /// The name of the file, without its folder and its ending.
    var file: String {
        let name = path.split(separator: "/").last ?? ""
        return String(name.prefix { $0 != "." })
    }
}

extension HouseRules {
    /// The names of what loops take from: each says that the rest of a loop waits.
    static let meters: Set = [
        "turnIsFull", "largeAnswersMustWait", "turnEndLimit", "workLimit", "walkLookCount",
        "ofEnd", "reportShare", "shareEnd", "flushByteLimit", "pageScanLimit", "pageTextByteLimit",
        "scanLimit",
        "goesOn", "pastWork", "rowLimit",
    ]

    /// Whether the loops of a file have a price: it belongs to a center or to its host.
    static func pricesLoops(in source: SwiftSource) -> Bool {
        let folders = ["Sources/BelfryCenter/", "Sources/BelfryServer/Centers/"]
        if folders.contains(where: { source.path.hasPrefix($0) }) { return true }
        guard source.path.hasPrefix("Sources/BelfryServer/") else { return false }
        return zip(source.tokens, source.tokens.dropFirst()).contains { word, name in
            word.text == "extension" && name.text == "CenterHost"
        }
    }

    /// STYLE.md section 7: each loop says what bounds it, unless the code shows that.
    ///
    /// The mark is behind the first line of the loop, or on a line of its own right above it.
    static func unpricedLoops(in source: SwiftSource) -> [Violation] {
        let tokens = source.tokens
        var violations: [Violation] = []
        var used: Set<Int> = []
        for loop in loops(of: source) {
            let line = tokens[loop.start].line
            guard let (place, mark) = boundMark(ofLoopAt: line, in: source) else {
                if !isConstant(loop, in: tokens) {
                    violations.append(
                        source.violation(at: line, "a loop without `// Bound:` or `// Share:`"))
                }
                continue
            }
            used.insert(place)
            let isMetered = tokens[loop.start...loop.end].contains { meters.contains($0.text) }
            if mark.isShare, !isMetered {
                violations.append(source.violation(at: line, "a share without a meter"))
            }
        }
        let strays = source.lines.indices.filter { line in
            !used.contains(line) && boundMark(at: line, in: source) != nil
        }
        return violations + strays.map { source.violation(at: $0, "a bound without its loop") }
    }

    /// The marks of a file.
    static func boundMarks(in source: SwiftSource) -> [BoundMark] {
        source.lines.indices.compactMap { boundMark(at: $0, in: source) }
    }

    /// The mark of a loop, with the index of its line.
    private static func boundMark(
        ofLoopAt line: Int, in source: SwiftSource
    ) -> (place: Int, mark: BoundMark)? {
        if let mark = boundMark(at: line, in: source) { return (line, mark) }
        guard line > 0, !source.lines[line - 1].hasCode else { return nil }
        return boundMark(at: line - 1, in: source).map { (line - 1, $0) }
    }

    private static func boundMark(at line: Int, in source: SwiftSource) -> BoundMark? {
        let comment = source.lines[line].comment
        let isShare = comment.hasPrefix("// Share: ")
        guard isShare || comment.hasPrefix("// Bound: ") else { return nil }
        let names = comment.dropFirst("// Bound: ".count).split(separator: ",").map { name in
            String(name.drop { $0 == " " })
        }
        return BoundMark(path: source.path, line: line + 1, names: names, isShare: isShare)
    }
}
