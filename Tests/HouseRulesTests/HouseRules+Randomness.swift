extension HouseRules {
    /// STYLE.md section 9: what a test draws at random follows from a seed.
    static func unseededRandomness(in source: SwiftSource) -> [Violation] {
        guard source.path.hasPrefix("Tests/") else { return [] }
        let isOfSystem = systemRandomness.contains(where: source.path.hasPrefix)
        let tokens = source.tokens
        return tokens.indices.filter { index in
            switch tokens[index].text {
            case "SystemRandomNumberGenerator": true
            case "SystemRandom": !isOfSystem
            case "random", "randomElement", "shuffle", "shuffled":
                isMember(index, in: tokens) && lacksGenerator(index + 1, in: tokens)
            default: false
            }
        }.map { source.violation(at: tokens[$0].line, "`\(tokens[$0].text)` without a seed") }
    }

    /// The files and folders that need numbers of the system.
    ///
    /// They are the test of those numbers, and names in an engine that outlives a run.
    static let systemRandomness = [
        "Tests/BelfrySystemTests/SystemTests.swift", "Tests/EngineCases/",
    ]

    /// Whether one dot precedes it: three are a range up to a function's result.
    private static func isMember(_ index: Int, in tokens: [SwiftSource.Token]) -> Bool {
        let before = tokens[..<index].suffix(2).map(\.text)
        return before.last == "." && before != [".", "."]
    }

    /// Whether a call opens here that gives no generator.
    private static func lacksGenerator(_ start: Int, in tokens: [SwiftSource.Token]) -> Bool {
        guard start < tokens.count, tokens[start].text == "(" else { return false }
        var depth = 0
        for token in tokens[start...] {
            if token.text == "(" { depth += 1 }
            if token.text == ")" { depth -= 1 }
            if depth == 0 { return true }
            if depth == 1, token.text == "using" { return false }
        }
        return true
    }
}
