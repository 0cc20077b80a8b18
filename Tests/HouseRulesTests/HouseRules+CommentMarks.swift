extension HouseRules {
    /// STYLE.md section 8: each `unsafe` has a sentence that names the bound.
    ///
    /// The mark is on the line itself or above it in the same group of lines: no blank line and no
    /// beginning of a function lies between them.
    static func unmarkedUnsafe(in source: SwiftSource) -> [Violation] {
        unsafeLines(of: source).filter { !hasMark("SAFETY:", above: $0, in: source) }.map {
            source.violation(at: $0, "`unsafe` without a `// SAFETY:` comment")
        }
    }

    /// STYLE.md section 8: which rooms may use unsafe code at all.
    static func misplacedUnsafe(in source: SwiftSource) -> [Violation] {
        let rooms: Set = ["BelfryBytes", "BelfrySystem", "BelfryLoop", "BelfryTLS", "BelfryStore"]
        guard source.path.hasPrefix("Sources/"), let room = source.target else { return [] }
        let isInflater = room == "BelfryWebSocket" && source.path.contains("flat")
        guard !rooms.contains(room), !isInflater else { return [] }
        return unsafeLines(of: source).map {
            source.violation(at: $0, "`\(room)` may not use unsafe code")
        }
    }

    /// STYLE.md section 7: code without concurrency checks says why that is right.
    static func unmarkedSendable(in source: SwiftSource) -> [Violation] {
        let tokens = source.tokens
        let lines = tokens.indices.compactMap { index -> Int? in
            let texts = tokens[index...].prefix(4).map(\.text)
            let isUnchecked = texts.starts(with: ["@", "unchecked", "Sendable"])
            let isNonisolated = texts == ["nonisolated", "(", "unsafe", ")"]
            return isUnchecked || isNonisolated ? tokens[index].line : nil
        }
        return lines.filter { !hasMark("SENDABLE:", above: $0, in: source) }.map {
            source.violation(at: $0, "a Sendable check is off without a `// SENDABLE:` comment")
        }
    }

    /// STYLE.md section 4: a task that a comment leaves for later names its issue.
    static func unnumberedTasks(in source: SwiftSource) -> [Violation] {
        let marks: Set<Substring> = ["TODO", "FIXME", "XXX", "HACK"]
        return source.lines.indices.filter { index in
            let comment = source.lines[index].comment
            let words = comment.split { !$0.isLetter && !$0.isNumber && $0 != "#" }
            let hasNumber = words.contains {
                $0.hasPrefix("#") && $0.dropFirst().first?.isNumber == true
            }
            return words.contains(where: marks.contains) && !hasNumber
        }.map { source.violation(at: $0, "a task without an issue number") }
    }

    /// STYLE.md section 5: never `try!`, never `!`.
    static func forcedValues(in source: SwiftSource) -> [Violation] {
        let tokens = source.tokens
        return tokens.indices.dropFirst().filter { index in
            let (before, mark) = (tokens[index - 1], tokens[index])
            let isComparison =
                index + 1 < tokens.count && tokens[index + 1].isAttached
                && tokens[index + 1].text == "="
            let isPostfix = before.isWord || [")", "]", "}", "?", "`", "\""].contains(before.text)
            return mark.text == "!" && mark.isAttached && isPostfix && !isComparison
        }.map { index in
            let word = tokens[index - 1].text
            return source.violation(
                at: tokens[index].line,
                ["try", "as"].contains(word) ? "`\(word)!`" : "a value is unwrapped by force")
        }
    }

    /// STYLE.md section 4: every public or package declaration has a summary.
    static func undocumentedInterface(in source: SwiftSource) -> [Violation] {
        let kinds: Set = ["class", "func", "var", "subscript"]
        let tokens = source.tokens
        let lines = tokens.indices.compactMap { index -> Int? in
            let next = index + 1 < tokens.count ? tokens[index + 1].text : ""
            switch tokens[index].text {
            case "public", "package":
                return ["import", "extension", "("].contains(next) ? nil : tokens[index].line
            case "open": return kinds.contains(next) ? tokens[index].line : nil
            default: return nil
            }
        }
        return lines.filter { !hasSummary(above: $0, in: source) }.map {
            source.violation(at: $0, "a public or package declaration without a summary")
        }
    }

    // MARK: - Looking at lines

    /// The lines that hold `unsafe` as an expression mark.
    private static func unsafeLines(of source: SwiftSource) -> [Int] {
        let tokens = source.tokens
        return tokens.indices.filter { index in
            let before = tokens[..<index].suffix(2).map(\.text)
            return tokens[index].text == "unsafe" && before != ["nonisolated", "("]
                && before.last != "@" && before.last != "."
        }.map { tokens[$0].line }
    }

    private static func hasMark(_ mark: String, above line: Int, in source: SwiftSource) -> Bool {
        var index = line
        var isPastFunction = false
        while index >= 0, !source.lines[index].isBlank {
            let current = source.lines[index]
            if isPastFunction, current.hasCode, !isAttribute(current) { return false }
            if current.comment.contains(mark) { return true }
            isPastFunction = isPastFunction || startsFunction(current)
            index -= 1
        }
        return false
    }

    private static func hasSummary(above line: Int, in source: SwiftSource) -> Bool {
        var index = line - 1
        while index >= 0, isAttribute(source.lines[index]) || isCondition(source.lines[index]) {
            index -= 1
        }
        guard index >= 0, !source.lines[index].hasCode else { return false }
        return source.lines[index].comment.hasPrefix("///")
    }

    private static func isAttribute(_ line: SwiftSource.Line) -> Bool {
        line.code.first { !$0.isWhitespace } == "@"
    }

    private static func isCondition(_ line: SwiftSource.Line) -> Bool {
        line.code.first { !$0.isWhitespace } == "#"
    }

    private static func startsFunction(_ line: SwiftSource.Line) -> Bool {
        let words = line.code.split { !$0.isLetter && $0 != "_" }
        return words.contains("func") || words.first == "init" || words.first == "deinit"
    }
}
