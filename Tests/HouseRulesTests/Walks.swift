/// The walks of `Documentation/Architecture.md`: the files through which one request goes.
struct Walks {
    /// A step of a walk, or a stretch that several walks share.
    struct Step: Equatable {
        /// The name: a letter and a number for a step, a word for a stretch.
        let name: String
        /// The files without their extension, and the names of other steps.
        var parts: [String]
    }

    /// The steps in the order of the document.
    private(set) var steps: [Step] = []
    /// The number of files in the heading of each walk, by its letter.
    private(set) var counts: [Character: Int] = [:]

    init(document: String) {
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { !($0.hasPrefix("## ") && $0.hasSuffix(" walks")) }
        var isList = false
        for line in lines {
            if line.hasPrefix("```") {
                isList.toggle()
            } else if isList {
                add(line)
            } else if let match = line.wholeMatch(of: #/### \(([a-z])\) .*: (\d+) files/#) {
                counts[Character(String(match.output.1))] = Int(match.output.2)
            }
        }
    }

    /// Adds a line of a list: one that is indented continues the step before.
    private mutating func add(_ line: Substring) {
        let words = line.split { $0 == " " || $0 == "," }.map(String.init)
        if line.hasPrefix(" ") {
            if !steps.isEmpty { steps[steps.count - 1].parts += words }
        } else if let name = words.first {
            steps.append(Step(name: name, parts: Array(words.dropFirst())))
        }
    }

    /// The files of a walk, each once.
    func files(ofWalk letter: Character) -> Set<String> {
        let own = steps.filter {
            $0.name.first == letter && $0.name.count == 2 && $0.name.last?.isNumber == true
        }
        return own.reduce(into: []) { $0.formUnion(files(of: $1, passing: [])) }
    }

    /// The files of a step and of the steps that it names.
    private func files(of step: Step, passing names: Set<String>) -> Set<String> {
        let passed = names.union([step.name])
        return step.parts.reduce(into: []) { files, part in
            guard let inner = steps.first(where: { $0.name == part }) else {
                files.insert(part)
                return
            }
            if !passed.contains(part) { files.formUnion(self.files(of: inner, passing: passed)) }
        }
    }

    /// The files that are missing among these paths, and the headings with a wrong number.
    func faults(in paths: [String]) -> [String] {
        let names = Set(steps.map(\.name))
        let missing = steps.flatMap { step in
            step.parts.filter { part in
                !names.contains(part) && !paths.contains { $0.hasSuffix("/\(part).swift") }
            }.map { "\(step.name): there is no \($0).swift" }
        }
        let wrong = counts.keys.sorted().compactMap { letter -> String? in
            let (told, count) = (counts[letter] ?? 0, files(ofWalk: letter).count)
            return told == count ? nil : "(\(letter)): \(told) in the heading, \(count) in the list"
        }
        return missing + wrong
    }
}
