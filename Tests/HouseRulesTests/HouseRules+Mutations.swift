extension HouseRules {
    /// The places of a planted fault (`Tests/Mutations`) that the files no longer have.
    ///
    /// Without them `Scripts/mutations` cannot plant it: each hunk takes out and keeps lines that
    /// must be there.
    static func lostPlaces(of patch: String, path: String, textOf: (String) -> String?)
        -> [Violation]
    {
        var violations: [Violation] = []
        var file: String?
        var wanted: [Substring] = []
        var start = 0
        func look() {
            guard !wanted.isEmpty else { return }
            let text = file.flatMap(textOf) ?? ""
            guard !text.contains(wanted.joined(separator: "\n")) else { return }
            violations.append(
                Violation(path: path, line: start, fact: "\(file ?? "nothing") has no such lines"))
        }
        let lines = patch.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        for (number, line) in lines.enumerated() {
            if line.hasPrefix("--- a/") || line.hasPrefix("@@") {
                look()
                wanted = []
                start = number + 1
                if line.hasPrefix("--- a/") { file = String(line.dropFirst("--- a/".count)) }
            } else if line.isEmpty || line.hasPrefix(" ") || line.hasPrefix("-") {
                wanted.append(line.dropFirst())
            }
        }
        look()
        return violations
    }
}
