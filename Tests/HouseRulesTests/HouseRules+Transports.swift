extension HouseRules {
    /// Architecture.md section 2: the name of a transport, or of its route, in a stray file.
    ///
    /// A new transport touches only the listed files.
    static func strayTransports(
        in source: SwiftSource, names: Set<String>, listed: Set<String>
    ) -> [Violation] {
        let rooms: Set = ["BelfryCenter", "BelfryWire", "BelfryStore", "BelfryServer"]
        let file = source.path.split(separator: "/").last.map(String.init) ?? ""
        guard rooms.contains(source.target ?? ""), !listed.contains(file) else { return [] }
        let tokens = source.tokens
        return tokens.indices.dropFirst(2).filter { place in
            names.contains(tokens[place].text) && tokens[place - 1].text == "."
                && (!tokens[place - 1].isAttached || !tokens[place - 2].isEndOfValue)
        }.map { place in
            source.violation(
                at: tokens[place].line, "it tells the transport `\(tokens[place].text)` apart")
        }
    }

    /// The cases that a file declares.
    static func cases(declaredIn source: SwiftSource) -> Set<String> {
        Set(
            zip(source.tokens, source.tokens.dropFirst()).filter { $0.text == "case" && $1.isWord }
                .map(\.1.text))
    }

    /// The source files that a paragraph of a document names, the one that begins so.
    static func files(namedIn document: String, paragraph start: String) -> Set<String> {
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false)
        let paragraph = lines.drop { !$0.hasPrefix(start) }.prefix { !$0.isEmpty }
        return Set(
            paragraph.joined(separator: " ").matches(of: /`([\w+]+\.swift)`/).map {
                String($0.output.1)
            })
    }
}

extension SwiftSource.Token {
    /// Whether a point behind it leads to a member of a value, and not of the expected type.
    fileprivate var isEndOfValue: Bool {
        text == ")" || text == "]" || text == "?"
            || isWord && !["Transport", "CenterRoute"].contains(text)
    }
}
