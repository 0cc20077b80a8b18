/// The files of one room, with an arrow to each file whose top types a file names.
///
/// It is drawn by names: a type that two files declare counts for both.
struct FileGraph {
    let paths: [String]
    private let arrows: [Set<Int>]

    init(of sources: [SwiftSource]) {
        paths = sources.map(\.path)
        var homes: [String: Set<Int>] = [:]
        for (index, source) in sources.enumerated() {
            for name in Self.topTypes(of: source) { homes[name, default: []].insert(index) }
        }
        arrows = sources.enumerated().map { index, source in
            let words = Set(source.tokens.map(\.text))
            return words.reduce(into: Set()) { arrows, word in
                guard let places = homes[word], !places.contains(index) else { return }
                arrows.formUnion(places)
            }
        }
    }

    /// The names of the types that a file declares outside of others; extensions are none.
    private static func topTypes(of source: SwiftSource) -> [String] {
        let keywords: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        var depth = 0
        var names: [String] = []
        for (index, token) in source.tokens.enumerated() {
            if token.text == "{" { depth += 1 }
            if token.text == "}" { depth -= 1 }
            let isImport = index > 0 && source.tokens[index - 1].text == "import"
            guard depth == 0, keywords.contains(token.text), !isImport,
                index + 1 < source.tokens.count
            else { continue }
            names.append(source.tokens[index + 1].text)
        }
        return names
    }

    /// The circles of more than one file, each as sorted paths (Tarjan's algorithm).
    func circles() -> [[String]] {
        var search = CircleSearch(arrows: arrows)
        for file in arrows.indices { search.visit(file) }
        return search.circles.map { circle in circle.map { paths[$0] }.sorted() }
    }

    /// The pairs of different folders of the room with an arrow between their files.
    func folderArrows() -> Set<String> {
        let folders = paths.map { path in
            let parts = path.split(separator: "/")
            return parts.count > 3 ? String(parts[2]) : nil
        }
        var pairs: Set<String> = []
        for (file, targets) in arrows.enumerated() {
            guard let from = folders[file] else { continue }
            for case let to? in targets.map({ folders[$0] }) where to != from {
                pairs.insert("\(from) > \(to)")
            }
        }
        return pairs
    }
}

/// The search for files that reach each other.
private struct CircleSearch {
    let arrows: [Set<Int>]
    private(set) var circles: [[Int]] = []
    private var numbers: [Int: Int] = [:]
    private var lowest: [Int: Int] = [:]
    private var stack: [Int] = []

    init(arrows: [Set<Int>]) { self.arrows = arrows }

    mutating func visit(_ file: Int) {
        guard numbers[file] == nil else { return }
        let number = numbers.count
        numbers[file] = number
        var low = number
        stack.append(file)
        for next in arrows[file] {
            visit(next)
            // A file that has left the stack belongs to a circle that is closed.
            if stack.contains(next) { low = min(low, lowest[next] ?? numbers[next] ?? low) }
        }
        lowest[file] = low
        guard low == number, let start = stack.lastIndex(of: file) else { return }
        let circle = Array(stack[start...])
        stack.removeSubrange(start...)
        if circle.count > 1 { circles.append(circle) }
    }
}
