/// A place where the package breaks a house rule.
struct Violation: Equatable, CustomStringConvertible {
    let path: String
    /// The line, counted from 1; 0 for a fact about the whole file.
    let line: Int
    let fact: String

    var description: String { line == 0 ? "\(path): \(fact)" : "\(path):\(line): \(fact)" }
}

extension SwiftSource {
    /// A violation at the line with this index.
    func violation(at line: Int, _ fact: String) -> Violation {
        Violation(path: path, line: line + 1, fact: fact)
    }
}
