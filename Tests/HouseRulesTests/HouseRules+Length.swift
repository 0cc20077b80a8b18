/// A function with the number of lines that it takes.
struct FunctionLength: Equatable {
    let name: String
    /// The line on which it starts, counted from 1.
    let line: Int
    let lineCount: Int
}

extension HouseRules {
    /// The functions and initializers of a file that have a body.
    static func functions(of source: SwiftSource) -> [FunctionLength] {
        bodies(of: source).map { name, tokens in
            let (first, last) = (source.tokens[tokens.lowerBound], source.tokens[tokens.upperBound])
            return FunctionLength(
                name: name, line: first.line + 1, lineCount: last.line - first.line + 1)
        }
    }

    /// The same with the tokens of each, from its first word to its closing brace.
    static func bodies(of source: SwiftSource) -> [(name: String, tokens: ClosedRange<Int>)] {
        let tokens = source.tokens
        return tokens.indices.compactMap { index -> (String, ClosedRange<Int>)? in
            let isFunction = tokens[index].text == "func"
            let isInitializer = tokens[index].text == "init" && startsDeclaration(index, in: tokens)
            guard isFunction || isInitializer else { return nil }
            guard let body = bodyStart(after: index, in: tokens) else { return nil }
            let name = isFunction && index + 1 < tokens.count ? tokens[index + 1].text : "init"
            return (name, index...bodyEnd(from: body, in: tokens))
        }
    }

    /// A call like `self.init(…)` has a point before the word, a declaration has not.
    private static func startsDeclaration(_ index: Int, in tokens: [SwiftSource.Token]) -> Bool {
        index == 0 || tokens[index - 1].text != "."
    }

    /// The opening brace that belongs to the declaration, or `nil` where it has no body.
    private static func bodyStart(after index: Int, in tokens: [SwiftSource.Token]) -> Int? {
        let goingOn: Set = ["-", ">", "throws", "async", "rethrows", "where", "{", "("]
        var depth = 0
        for position in tokens.indices[(index + 1)...] {
            let token = tokens[position]
            let isNewLine = token.line != tokens[position - 1].line
            if depth == 0, isNewLine, !goingOn.contains(token.text) {
                if !["where", ",", ":", "&"].contains(tokens[position - 1].text) { return nil }
            }
            switch token.text {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "{" where depth == 0: return position
            case "}" where depth == 0: return nil
            default: break
            }
        }
        return nil
    }

    /// The closing brace that belongs to an opening one.
    static func bodyEnd(from start: Int, in tokens: [SwiftSource.Token]) -> Int {
        var depth = 0
        for position in start..<tokens.count {
            if tokens[position].text == "{" { depth += 1 }
            if tokens[position].text == "}" { depth -= 1 }
            if depth == 0 { return position }
        }
        return tokens.count - 1
    }
}
