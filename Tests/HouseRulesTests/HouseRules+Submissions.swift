extension HouseRules {
    /// STYLE.md section 7: a function that submits a command does not read its effects.
    ///
    /// It goes by the text: anything behind the submission counts as later.
    static func hastyReads(in source: SwiftSource) -> [Violation] {
        guard source.target == "BelfryServer" else { return [] }
        let tokens = source.tokens
        let places = bodies(of: source).flatMap { function -> [Int] in
            let isExempt = hastyFunctions.contains {
                source.path.hasSuffix("/" + $0.file) && function.name == $0.name
            }
            guard !isExempt, let end = endOfSubmission(function.tokens, in: tokens) else {
                return []
            }
            return function.tokens.filter { $0 > end && readsEffects($0, in: tokens) }
        }
        // A function may be inside another one.
        return Set(places).sorted().map { place in
            source.violation(
                at: tokens[place].line,
                "`\(tokens[place].text)` behind `submitCommand`: nothing may be applied yet")
        }
    }

    /// The functions that may, each with its file.
    ///
    /// The short way of a post is not taken where there is a sequencer: `position(ofPost:)` sees to
    /// that.
    static let hastyFunctions = [(file: "CenterHost+Posting.swift", name: "post")]

    /// The place at which the first submission among these tokens is closed.
    private static func endOfSubmission(
        _ places: ClosedRange<Int>, in tokens: [SwiftSource.Token]
    ) -> Int? {
        let call = places.first { place in
            place + 1 < tokens.count && tokens[place].text == "submitCommand"
                && tokens[place + 1].text == "(" && tokens[place - 1].text != "func"
        }
        guard let call else { return nil }
        var depth = 0
        return (call + 1..<tokens.count).first { place in
            if tokens[place].text == "(" { depth += 1 }
            if tokens[place].text == ")" { depth -= 1 }
            return depth == 0
        }
    }

    /// Whether this names effects of the last command, its place and number, or a center.
    private static func readsEffects(_ place: Int, in tokens: [SwiftSource.Token]) -> Bool {
        switch tokens[place].text {
        case "effects", "applied": true
        case "centers": place + 1 < tokens.count && tokens[place + 1].text == "["
        default: false
        }
    }
}
