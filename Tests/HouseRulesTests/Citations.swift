/// The targets that files of the package may cite: rules, decisions, and sections of documents.
struct Citations {
    /// The numbers of the rules, as `Documentation/Rules.md` has them at the start of its rows.
    let rules: Set<String>
    /// The numbers of the decisions that have a file.
    let decisions: Set<String>
    /// The numbers of the sections of each document, by the name of its file.
    let sections: [String: Set<String>]

    init(rules text: String, decisions files: [String], documents: [String: String]) {
        rules = Set(text.matches(of: /(?m)^\| ([A-Z]\d+) \|/).map { String($0.output.1) })
        decisions = Set(
            files.compactMap { path in
                path.firstMatch(of: #/[/]0*(\d+)-[^/]*[.]md$/#).map { String($0.output.1) }
            })
        sections = documents.mapValues { text in
            Set(text.matches(of: #/(?m)^## (\d+)\. /#).map { String($0.output.1) })
        }
    }

    init(of house: House) {
        let paths = house.files(in: "Documentation")
        let documents = (paths.filter { $0.split(separator: "/").count == 2 } + ["STYLE.md"])
            .map { path in
                (String(path.split(separator: "/").last ?? ""), house.text(of: path) ?? "")
            }
        self.init(
            rules: house.text(of: "Documentation/Rules.md") ?? "",
            decisions: paths.filter { $0.hasPrefix("Documentation/Decisions/") },
            documents: Dictionary(uniqueKeysWithValues: documents))
    }

    /// The citations of a file that have no target.
    func unknown(in text: String, path: String) -> [Violation] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { Self.mayCite($0.element) }
            .flatMap { number, line in
                unknown(in: line).map {
                    Violation(path: path, line: number + 1, fact: "there is no \($0)")
                }
            }
    }

    /// Whether a line may cite something: few do, and regular expressions take their time.
    private static func mayCite(_ line: Substring) -> Bool {
        let words: [StaticString] = ["ule", "ecision", "section"]
        let bytes = Array(line.utf8)
        guard bytes.contains(where: { (0x30...0x39).contains($0) }) else { return false }
        return words.contains { word in
            let text = Array(word.description.utf8)
            guard bytes.count >= text.count else { return false }
            return (0...(bytes.count - text.count)).contains { place in
                bytes[place] == text[0] && bytes[place..<(place + text.count)].elementsEqual(text)
            }
        }
    }

    private func unknown(in line: Substring) -> [String] {
        let cited = line.matches(of: /\b[Rr]ules? ((?:(?:, | and | to )?[A-Z]\d+\b)+)/).flatMap {
            Self.numbers(in: $0.output.1)
        }
        let decided = line.matches(of: /\b[Dd]ecisions? ((?:(?:, | and | to )?\d+\b)+)/).flatMap {
            Self.numbers(in: $0.output.1)
        }
        let written = line.matches(of: /\b(\w+\.md) sections? ((?:(?:, | and | to )?\d+\b)+)/)
        let unwritten = written.flatMap { match in
            let document = String(match.output.1)
            return Self.numbers(in: match.output.2)
                .filter { sections[document]?.contains($0) != true }
                .map { "\(document) section \($0)" }
        }
        return cited.filter { !rules.contains($0) }.map { "rule \($0)" }
            + decided.filter { !decisions.contains($0) }.map { "decision \($0)" } + unwritten
    }

    private static func numbers(in list: Substring) -> [String] {
        list.matches(of: /[A-Z]?\d+/).map { String($0.output) }
    }

    /// The rules after which a test of this file is named: `Q8 (T70): …`.
    static func named(in text: String) -> Set<String> {
        let lines = text.split(separator: "\n").filter { $0.contains("@Test") || $0.contains(": ") }
        let names = lines.flatMap {
            $0.matches(of: /"([^":]*[A-Z]\d[^":]*):/).map(\.output.1)
        }
        return Set(names.flatMap { $0.matches(of: /\b[A-Z]\d+\b/).map { String($0.output) } })
    }
}
