/// A Swift file split into what the compiler reads and what people read.
///
/// It is a lexer of the little that the house rules need: it knows comments, string literals with
/// their interpolations, words and single punctuation marks. Regex literals are taken for code.
struct SwiftSource {
    struct Line: Equatable {
        /// The line as it is in the file.
        var text = ""
        /// The text inside comments, their marks included.
        var comment = ""
        /// The rest, with the text of string literals left out.
        var code = ""

        var isBlank: Bool { text.allSatisfy(\.isWhitespace) }
        var hasCode: Bool { !code.allSatisfy(\.isWhitespace) }
    }

    /// A word or one punctuation mark of the code.
    struct Token: Equatable {
        var text: String
        /// The index of its line; the number that people see is one more.
        var line: Int
        /// Whether it touches the token before it.
        var isAttached: Bool

        var isWord: Bool { text.first.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false }
    }

    /// The path from the root of the package, with `/`.
    let path: String
    let lines: [Line]
    let tokens: [Token]

    init(path: String, text: String) {
        self.path = path
        var lexer = Lexer(text: text)
        lexer.run()
        lines = lexer.lines
        tokens = Self.tokens(of: lexer.lines)
    }

    /// The first folder below `Sources` or `Tests`: the target that the file belongs to.
    var target: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 ? String(parts[1]) : nil
    }

    private static func tokens(of lines: [Line]) -> [Token] {
        var tokens: [Token] = []
        for (number, line) in lines.enumerated() {
            var word = ""
            var isAttached = false
            func take(_ text: String) {
                guard !text.isEmpty else { return }
                tokens.append(Token(text: text, line: number, isAttached: isAttached))
                isAttached = true
            }
            for character in line.code {
                if character.isLetter || character.isNumber || character == "_" {
                    word.append(character)
                    continue
                }
                take(word)
                word = ""
                if character.isWhitespace { isAttached = false } else { take(String(character)) }
            }
            take(word)
        }
        return tokens
    }
}

extension SwiftSource {
    /// The state machine that tells code, comments and strings apart.
    private struct Lexer {
        private enum Context {
            /// Code; inside an interpolation the depth of open parentheses.
            case code(depth: Int)
            case string(hashCount: Int, isMultiline: Bool)
            case lineComment
            case blockComment
        }

        private enum Part { case code, comment }

        private let characters: [Character]
        private var position = 0
        private var contexts: [Context] = [.code(depth: 0)]
        private var current = Line()
        private(set) var lines: [Line] = []

        init(text: String) { characters = Array(text) }

        mutating func run() {
            while position < characters.count {
                if characters[position].isNewline { endLine() } else { step() }
            }
            if !current.text.isEmpty { lines.append(current) }
        }

        private mutating func endLine() {
            lines.append(current)
            current = Line()
            position += 1
            switch contexts[contexts.count - 1] {
            case .lineComment, .string(_, isMultiline: false): contexts.removeLast()
            case .code, .blockComment, .string(_, isMultiline: true): break
            }
        }

        private mutating func step() {
            switch contexts[contexts.count - 1] {
            case .code(let depth): stepInCode(depth: depth)
            case .string(let hashCount, let isMultiline):
                stepInString(hashCount: hashCount, isMultiline: isMultiline)
            case .lineComment: take(1, as: .comment)
            case .blockComment:
                if starts("*/") {
                    take(2, as: .comment)
                    contexts.removeLast()
                } else if starts("/*") {
                    take(2, as: .comment)
                    contexts.append(.blockComment)
                } else {
                    take(1, as: .comment)
                }
            }
        }

        private mutating func stepInCode(depth: Int) {
            switch characters[position] {
            case "/" where starts("//"):
                contexts.append(.lineComment)
                take(2, as: .comment)
            case "/" where starts("/*"):
                contexts.append(.blockComment)
                take(2, as: .comment)
            case "\"", "#":
                stepAtQuote()
            case "(" where contexts.count > 1:
                contexts[contexts.count - 1] = .code(depth: depth + 1)
                take(1, as: .code)
            case ")" where contexts.count > 1:
                if depth == 1 {
                    contexts.removeLast()
                } else {
                    contexts[contexts.count - 1] = .code(depth: depth - 1)
                }
                take(1, as: .code)
            default:
                take(1, as: .code)
            }
        }

        private mutating func stepAtQuote() {
            guard let hashCount = hashCountOfOpeningQuote() else {
                take(1, as: .code)
                return
            }
            take(hashCount, as: .code)
            let isMultiline = starts("\"\"\"")
            take(isMultiline ? 3 : 1, as: .code)
            contexts.append(.string(hashCount: hashCount, isMultiline: isMultiline))
        }

        private mutating func stepInString(hashCount: Int, isMultiline: Bool) {
            // Most characters of a string are none of these; they need no closer look.
            guard ["\\", "\""].contains(characters[position]) else {
                skip(1)
                return
            }
            let hashes = String(repeating: "#", count: hashCount)
            let quote = isMultiline ? "\"\"\"" : "\""
            if starts("\\" + hashes + "(") {
                skip(1 + hashCount)
                take(1, as: .code)
                contexts.append(.code(depth: 1))
            } else if starts("\\" + hashes) {
                skip(1 + hashCount)
                if position < characters.count, !characters[position].isNewline { skip(1) }
            } else if starts(quote + hashes) {
                take(quote.count + hashCount, as: .code)
                contexts.removeLast()
            } else {
                skip(1)
            }
        }

        private func hashCountOfOpeningQuote() -> Int? {
            var end = position
            while end < characters.count, characters[end] == "#" { end += 1 }
            return end < characters.count && characters[end] == "\"" ? end - position : nil
        }

        private func starts(_ text: String) -> Bool {
            characters[position...].starts(with: text)
        }

        private mutating func take(_ count: Int, as part: Part) {
            for character in characters[position..<position + count] {
                current.text.append(character)
                switch part {
                case .code: current.code.append(character)
                case .comment: current.comment.append(character)
                }
            }
            position += count
        }

        private mutating func skip(_ count: Int) {
            current.text.append(contentsOf: characters[position..<position + count])
            position += count
        }
    }
}
