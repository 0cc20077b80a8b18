/// Reads as much YAML as the contract files have.
///
/// Those are mappings and sequences in blocks, scalars of one line, block scalars (`|` and `>-`)
/// and JSON-like values on one line. It knows no anchors and no tags. `openapi.json`, which another
/// reader makes, must be equal to what this one reads.
struct YAMLText {
    /// A fault: no YAML, or a part of YAML that is not supported.
    struct Fault: Error {
        let line: Int
    }

    private var lines: [Substring]
    private var next = 0

    /// Reads a whole file.
    static func read(_ lines: [Substring]) throws(Fault) -> ContractValue {
        var text = YAMLText(lines: lines)
        return try text.block(at: 0)
    }

    private init(lines: [Substring]) {
        self.lines = lines
    }

    /// The place and the content of the next line that says something.
    private mutating func peek() -> (indentation: Int, content: Substring)? {
        while next < lines.count {
            let content = lines[next].drop { $0 == " " }
            if !content.isEmpty, !content.hasPrefix("#") {
                return (lines[next].count - content.count, content)
            }
            next += 1
        }
        return nil
    }

    /// A mapping or a sequence whose lines begin at this indentation.
    private mutating func block(at indentation: Int) throws(Fault) -> ContractValue {
        var members: [String: ContractValue] = [:]
        var elements: [ContractValue] = []
        while let line = peek(), line.indentation == indentation {
            if line.content.hasPrefix("- ") {
                // The rest is read as if it began its own line, two places further.
                lines[next] =
                    Substring(String(repeating: " ", count: indentation + 2))
                    + line.content.dropFirst(2)
                elements.append(try item(at: indentation + 2))
            } else {
                // A key that is there twice would take the place of the first one without a word.
                guard let (key, rest) = try key(of: line.content), members[key] == nil else {
                    throw Fault(line: next)
                }
                next += 1
                members[key] = try value(rest, below: indentation)
            }
        }
        guard members.isEmpty || elements.isEmpty else { throw Fault(line: next) }
        return elements.isEmpty ? .object(members) : .array(elements)
    }

    /// One element of a sequence: a mapping, or a value of one line.
    private mutating func item(at indentation: Int) throws(Fault) -> ContractValue {
        let content = lines[next].drop { $0 == " " }
        if !content.hasPrefix("{"), try key(of: content) != nil {
            return try block(at: indentation)
        }
        next += 1
        return try value(content, below: indentation - 2)
    }

    /// The key of a line, and the text behind it.
    private func key(of content: Substring) throws(Fault) -> (String, Substring)? {
        if content.hasPrefix("'") {
            var flow = YAMLFlow(content)
            guard case .text(let key) = flow.value(), flow.rest.hasPrefix(":") else { return nil }
            return (key, flow.rest.dropFirst().drop { $0 == " " })
        }
        if content.hasSuffix(":"), !content.contains(": ") {
            return (String(content.dropLast()), "")
        }
        guard let end = content.firstRange(of: ": ") else { return nil }
        return (String(content[..<end.lowerBound]), content[end.upperBound...].drop { $0 == " " })
    }

    private mutating func value(
        _ content: Substring, below indentation: Int
    ) throws(Fault) -> ContractValue {
        switch content {
        case "":
            guard let line = peek(), line.indentation > indentation else { return .null }
            return try block(at: line.indentation)
        case "|", ">-":
            return .text(blockScalar(isFolded: content == ">-", below: indentation))
        default:
            var flow = YAMLFlow(content)
            let value = flow.value()
            guard flow.rest.isEmpty else { throw Fault(line: next) }
            return value
        }
    }

    /// The text of `|`, which keeps its line feeds, or of `>-`, in which they are blanks.
    private mutating func blockScalar(isFolded: Bool, below indentation: Int) -> String {
        var content: [Substring] = []
        while next < lines.count {
            let line = lines[next]
            let lineIndentation = line.prefix { $0 == " " }.count
            guard line.isEmpty || lineIndentation > indentation else { break }
            content.append(line)
            next += 1
        }
        while content.last?.isEmpty == true { content.removeLast() }
        let margin = content.first.map { $0.prefix { $0 == " " }.count } ?? 0
        let stripped = content.map { $0.dropFirst(margin) }
        guard isFolded else { return stripped.joined(separator: "\n") + "\n" }
        return stripped.split(separator: "", omittingEmptySubsequences: false)
            .map { $0.joined(separator: " ") }.joined(separator: "\n")
    }
}
