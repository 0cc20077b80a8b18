extension HouseRules {
    /// STYLE.md section 2: words that say how a thing feels and not what it is.
    static let bannedWords: Set = ["Manager", "Helper", "Util", "Utils", "Common", "Base", "Impl"]

    /// STYLE.md section 2: type names and file names without those words.
    static func bannedNames(in source: SwiftSource) -> [Violation] {
        let kinds: Set = ["class", "struct", "enum", "protocol", "actor", "typealias"]
        let fileName = source.path.split(separator: "/").last.map { $0.prefix { $0 != "." } } ?? ""
        var violations: [Violation] = []
        if let word = bannedWord(in: String(fileName)) {
            violations.append(Violation(path: source.path, line: 0, fact: "`\(word)` says nothing"))
        }
        for (token, next) in zip(source.tokens, source.tokens.dropFirst())
        where kinds.contains(token.text) {
            guard let word = bannedWord(in: next.text) else { continue }
            violations.append(source.violation(at: next.line, "`\(word)` in `\(next.text)`"))
        }
        return violations
    }

    /// The first banned word among the words of a name in camel case.
    static func bannedWord(in name: String) -> String? {
        var words: [String] = []
        for character in name {
            if character.isUppercase || words.isEmpty { words.append("") }
            words[words.count - 1].append(character)
        }
        return words.first(where: bannedWords.contains)
    }

    /// A path that exists on one person's machine only: nothing of it belongs in the package.
    ///
    /// The words are put together here, or this file would break its own rule.
    static func machinePaths(path: String, text: String) -> [Violation] {
        let folders = ["root", "home", "Users", "work"].map { "/\($0)/" } + ["/opt" + "/swift"]
        let outside = "../" + "shared"
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .flatMap { number, line in
                let starts = folders.flatMap { folder in
                    line.ranges(of: folder).filter { range in
                        // `network/work/` and `https://host/home/` are not paths of a machine.
                        let before = line[..<range.lowerBound].last ?? " "
                        return !before.isLetter && !before.isNumber && !"._-/}*".contains(before)
                    }.map { _ in folder }
                }
                return (starts + (line.contains(outside) ? [outside] : [])).map {
                    Violation(path: path, line: number + 1, fact: "a path of one machine: \($0)")
                }
            }
    }
}
