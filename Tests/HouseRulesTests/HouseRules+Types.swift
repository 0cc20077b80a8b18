extension HouseRules {
    /// A type of one file, with what that file adds to it.
    struct TypeMembers: Equatable {
        var storedCount = 0
        var methodCount = 0
    }

    /// The figures of all types of these files, each added up over the files of its room.
    static func types(of sources: [SwiftSource]) -> [Figure] {
        var sums: [String: TypeMembers] = [:]
        for source in sources {
            for (name, members) in types(declaredIn: source) {
                let subject = "\(source.target ?? "")/\(name)"
                sums[subject, default: TypeMembers()].storedCount += members.storedCount
                sums[subject, default: TypeMembers()].methodCount += members.methodCount
            }
        }
        return sums.flatMap { subject, sum in
            [
                Figure(measure: .stored, subject: subject, amount: sum.storedCount),
                Figure(measure: .methods, subject: subject, amount: sum.methodCount),
            ]
        }
    }

    /// The members of each type and extension of a file, by the type's name with its owners.
    static func types(declaredIn source: SwiftSource) -> [String: TypeMembers] {
        let tokens = source.tokens
        var types: [String: TypeMembers] = [:]
        // The names of the types around a token; `nil` is any other braces.
        var scopes: [String?] = []
        var opening: String?
        for index in tokens.indices {
            let enclosing = scopes.last ?? nil
            switch tokens[index].text {
            case "{":
                scopes.append(opening)
                opening = nil
            case "}": if !scopes.isEmpty { scopes.removeLast() }
            case "struct", "class", "enum", "actor", "protocol", "extension":
                guard let name = typeName(at: index, in: tokens) else { break }
                opening = enclosing.map { $0 + "." + name } ?? name
            case "func":
                if let enclosing { types[enclosing, default: TypeMembers()].methodCount += 1 }
            case "var", "let":
                guard let enclosing else { break }
                types[enclosing, default: TypeMembers()].storedCount +=
                    storedCount(at: index, in: tokens)
            default: break
            }
        }
        return types
    }

    /// The name behind the keyword of a type, with the points of an extension's name.
    private static func typeName(at index: Int, in tokens: [SwiftSource.Token]) -> String? {
        let before = index > 0 ? tokens[index - 1].text : ""
        guard index + 1 < tokens.count, tokens[index + 1].isWord,
            !["func", "var", "let", "subscript"].contains(tokens[index + 1].text),
            ![".", "import", ":"].contains(before)
        else { return nil }
        var name = tokens[index + 1].text
        var next = index + 2
        while next + 1 < tokens.count, tokens[next].text == ".", tokens[next].isAttached {
            name += "." + tokens[next + 1].text
            next += 2
        }
        return name
    }

    /// The stored properties that a declaration makes: none where it is static or computed.
    private static func storedCount(at index: Int, in tokens: [SwiftSource.Token]) -> Int {
        let modifiers = tokens[..<index].reversed().prefix { token in
            token.line == tokens[index].line
                && (token.isWord || ["(", ")", "@"].contains(token.text))
        }
        guard !modifiers.contains(where: { ["static", "class"].contains($0.text) }) else {
            return 0
        }
        var (count, depth, position) = (1, 0, index + 1)
        while position < tokens.count {
            let (token, before) = (tokens[position], tokens[position - 1])
            let endsLine = token.line != before.line && depth == 0 && token.text != "{"
            if endsLine, ![":", ",", "<", "=", "&", ">"].contains(before.text) { break }
            switch token.text {
            case "(", "[", "<": depth += 1
            case ")", "]": depth -= 1
            case ">" where before.text != "-": depth -= 1
            case "," where depth == 0: count += 1
            case "=" where depth == 0: return count
            case "{" where depth == 0:
                let first = position + 1 < tokens.count ? tokens[position + 1].text : ""
                return ["willSet", "didSet"].contains(first) ? count : 0
            case "}" where depth == 0: return count
            default: break
            }
            position += 1
        }
        return count
    }
}
