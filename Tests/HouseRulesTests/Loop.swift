/// A loop statement, by the places of its tokens.
struct Loop: Equatable {
    /// Its first word: `for`, `while` or `repeat`.
    let start: Int
    /// The opening brace of its body.
    let body: Int
    /// Its last token: the closing brace, or of a `repeat` the end of the line with its condition.
    let end: Int
}

extension HouseRules {
    /// The loop statements of a file; `forEach`, `map` and what else takes a closure is none.
    static func loops(of source: SwiftSource) -> [Loop] {
        let tokens = source.tokens
        var loops: [Loop] = []
        // The condition behind a `repeat` begins no loop.
        var conditions: Set<Int> = []
        for place in tokens.indices where beginsLoop(place, in: tokens) {
            guard !conditions.contains(place), let body = loopBody(behind: place, in: tokens)
            else { continue }
            var end = bodyEnd(from: body, in: tokens)
            let next = end + 1
            if tokens[place].text == "repeat", next < tokens.count, tokens[next].text == "while" {
                conditions.insert(next)
                let rest = tokens.indices[next...]
                end = rest.last { tokens[$0].line == tokens[next].line } ?? next
            }
            loops.append(Loop(start: place, body: body, end: end))
        }
        return loops
    }

    /// Whether the code shows the bound of a loop: two numbers, an array that is written out, or
    /// all cases of a type.
    static func isConstant(_ loop: Loop, in tokens: [SwiftSource.Token]) -> Bool {
        guard tokens[loop.start].text == "for" else { return false }
        let header = tokens[loop.start..<loop.body].map(\.text)
        guard let place = outerPlace(of: "in", in: header) else { return false }
        var sequence = Array(header[(place + 1)...])
        if let condition = outerPlace(of: "where", in: sequence) {
            sequence = Array(sequence[..<condition])
        }
        if sequence.first == "[" {
            return outerPlace(of: "]", in: sequence) == sequence.count - 1
        }
        if Array(sequence.suffix(2)) == [".", "allCases"] { return true }
        guard sequence.count == 5, isNumber(sequence[0]), isNumber(sequence[4]) else {
            return false
        }
        let mark = sequence[1...3].joined()
        return mark == "..<" || mark == "..."
    }

    /// A label of an argument has a colon behind it, and a bracket or a comma before it.
    private static func beginsLoop(_ place: Int, in tokens: [SwiftSource.Token]) -> Bool {
        let word = tokens[place].text
        guard word == "for" || word == "while" || word == "repeat" else { return false }
        let before = place > 0 ? tokens[place - 1].text : ""
        let next = place + 1 < tokens.count ? tokens[place + 1].text : ""
        if word == "repeat" { return next == "{" }
        return next != ":" && before != "(" && before != "," && before != "."
    }

    /// The opening brace of a loop: the first one outside of all brackets.
    private static func loopBody(behind place: Int, in tokens: [SwiftSource.Token]) -> Int? {
        var depth = 0
        for position in tokens.indices[(place + 1)...] {
            switch tokens[position].text {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "{" where depth == 0: return position
            default: break
            }
        }
        return nil
    }

    /// The first place of a text outside of all brackets.
    private static func outerPlace(of text: String, in texts: [String]) -> Int? {
        var depth = 0
        for place in texts.indices {
            switch texts[place] {
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            default: break
            }
            if depth == 0, texts[place] == text { return place }
        }
        return nil
    }

    private static func isNumber(_ text: String) -> Bool { text.first?.isNumber ?? false }
}
