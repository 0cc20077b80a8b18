/// The figures that were over their limits when the limits were set; they may only fall.
///
/// A row of the file is a measure, the figure and the subject. A table of settings or counters
/// has `any` in the place of the figure: it grows with each option and each metric.
struct Exceptions {
    /// The largest figure of each row, or `nil` where any is right.
    private var entries: [String: Int?] = [:]
    private(set) var malformed: [Violation] = []

    private static let path = "Tests/HouseRulesTests/Exceptions.txt"

    init(text: String) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated() where !line.isEmpty && !line.hasPrefix("#")
        {
            let parts = line.split(separator: " ", maxSplits: 2)
            let measure = Measure(rawValue: String(parts[0]))
            let amount = parts.count == 3 ? Int(parts[1]) : nil
            let isReadable =
                measure != nil && parts.count == 3 && (amount != nil || parts[1] == "any")
            let key = "\(parts[0]) \(parts[parts.count - 1])"
            if !isReadable || entries.updateValue(amount, forKey: key) != nil {
                malformed.append(
                    Violation(path: Self.path, line: index + 1, fact: "no entry, or a second one"))
            }
        }
    }

    /// Compares the figures with the entries: neither may be larger, so that each entry follows
    /// its figure down.
    func violations(of figures: [Figure]) -> [Violation] {
        var left = entries
        var found: [String] = []
        for figure in figures where figure.isOverLimit {
            let row = "\(figure.measure) \(figure.amount) \(figure.subject)"
            switch left.removeValue(forKey: "\(figure.measure) \(figure.subject)") {
            case .some(.some(let entry)) where entry < figure.amount:
                found.append("\(row): the entry has \(entry), and an entry may only fall")
            case .some(.some(let entry)) where entry > figure.amount:
                found.append("\(row): the entry has \(entry); lower it")
            case .some: break
            case nil:
                found.append("\(row): past the limit of \(figure.measure.limit)")
            }
        }
        found += left.keys.map { "\($0): within the limit now; remove the entry" }
        return malformed
            + found.sorted().map { Violation(path: Self.path, line: 0, fact: $0) }
    }
}
