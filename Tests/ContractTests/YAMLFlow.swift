/// Reads a YAML value of one line: a scalar, or a mapping or sequence in braces or brackets.
struct YAMLFlow {
    /// The text that has not been read yet.
    private(set) var rest: Substring

    init(_ text: Substring) {
        rest = text
    }

    /// Reads one value; a plain scalar goes to the end of the line.
    mutating func value() -> ContractValue {
        value(endingAt: [])
    }

    /// Reads one value; these end a plain scalar.
    private mutating func value(endingAt ends: Set<Character>) -> ContractValue {
        switch rest.first {
        case "{": return object()
        case "[": return array()
        case "'": return .text(singleQuoted())
        case "\"": return .text(doubleQuoted())
        default:
            let plain = rest.prefix { !ends.contains($0) }
            rest = rest[plain.endIndex...]
            return Self.resolved(String(plain).trimmingEnd())
        }
    }

    private mutating func object() -> ContractValue {
        var members: [String: ContractValue] = [:]
        rest.removeFirst()
        while skipBlanks(), let character = rest.first, character != "}" {
            let key = value(endingAt: [":"])
            _ = skipBlanks()
            guard let name = key.text, rest.first == ":" else { break }
            rest.removeFirst()
            _ = skipBlanks()
            members[name] = value(endingAt: [",", "}"])
            _ = skipBlanks()
            if rest.first == "," { rest.removeFirst() }
        }
        rest = rest.dropFirst()
        return .object(members)
    }

    private mutating func array() -> ContractValue {
        var elements: [ContractValue] = []
        rest.removeFirst()
        while skipBlanks(), let character = rest.first, character != "]" {
            elements.append(value(endingAt: [",", "]"]))
            _ = skipBlanks()
            if rest.first == "," { rest.removeFirst() }
        }
        rest = rest.dropFirst()
        return .array(elements)
    }

    private mutating func skipBlanks() -> Bool {
        rest = rest.drop { $0 == " " }
        return true
    }

    private mutating func singleQuoted() -> String {
        var text = ""
        rest.removeFirst()
        while let character = rest.popFirst() {
            guard character == "'" else {
                text.append(character)
                continue
            }
            guard rest.first == "'" else { break }
            text.append(rest.removeFirst())
        }
        return text
    }

    private mutating func doubleQuoted() -> String {
        var text = ""
        rest.removeFirst()
        while let character = rest.popFirst(), character != "\"" {
            guard character == "\\", let escaped = rest.popFirst() else {
                text.append(character)
                continue
            }
            switch escaped {
            case "n": text.append("\n")
            case "t": text.append("\t")
            default: text.append(escaped)
            }
        }
        return text
    }

    /// A plain scalar is null, a boolean, a number or text.
    private static func resolved(_ plain: String) -> ContractValue {
        switch plain {
        case "null": .null
        case "true": .boolean(true)
        case "false": .boolean(false)
        default: Double(plain).map { .number($0) } ?? .text(plain)
        }
    }
}

extension String {
    fileprivate func trimmingEnd() -> String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
