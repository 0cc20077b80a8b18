import Foundation

/// A file of the package, read line by line.
///
/// `asyncapi.yaml` is written with two spaces a level and one key a line, so that a key is found by
/// its indentation.
struct ContractFile {
    let lines: [Substring]

    /// Reads a file of the package.
    init(_ path: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The file read as YAML.
    func yaml() throws -> ContractValue { try YAMLText.read(lines) }

    private init(lines: [Substring]) {
        self.lines = lines
    }

    /// The lines below a key at this depth, up to the next line that is no deeper.
    func section(_ key: String, depth: Int = 0) -> ContractFile {
        let start = String(repeating: "  ", count: depth) + key + ":"
        guard let index = lines.firstIndex(of: Substring(start)) else {
            return ContractFile(lines: [])
        }
        let indentation = depth * 2
        let content = lines[(index + 1)...].prefix { line in
            line.isEmpty || line.prefix { $0 == " " }.count > indentation
        }
        return ContractFile(lines: Array(content))
    }

    /// The keys at this depth, without quotation marks.
    func keys(depth: Int) -> [String] {
        lines.compactMap { line in
            let indentation = line.prefix { $0 == " " }.count
            guard indentation == depth * 2, let end = line.range(of: ":", options: .backwards),
                line.trimmingCharacters(in: .whitespaces).hasSuffix(":")
            else { return nil }
            return line[..<end.lowerBound].trimmingCharacters(in: CharacterSet(charactersIn: " '"))
        }
    }

    /// The values behind a key at any depth, in the order of the file.
    func values(of key: String) -> [String] {
        lines.compactMap { line in
            let text = line.trimmingCharacters(in: CharacterSet(charactersIn: " -"))
            guard text.hasPrefix(key + ": ") else { return nil }
            return text.dropFirst(key.count + 2).trimmingCharacters(
                in: CharacterSet(charactersIn: " '"))
        }
    }
}
