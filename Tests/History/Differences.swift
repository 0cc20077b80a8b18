/// The places where two values differ, as the paths of their fields.
///
/// It goes through all stored properties, so it finds also what no digest, no `==` and no code has.
///
/// - Parameter leftOut: names of fields that are not looked at.
package func differences(
    _ left: Any, _ right: Any, at path: String = "", leavingOut leftOut: Set<String> = []
) -> [String] {
    if let point = path.lastIndex(of: "."),
        leftOut.contains(String(path[path.index(after: point)...]))
    {
        return []
    }
    let (ours, others) = (Mirror(reflecting: left), Mirror(reflecting: right))
    if ours.displayStyle == .dictionary || ours.displayStyle == .set {
        let texts = [ours, others].map { mirror in
            // An empty list says as much as none.
            mirror.children.map { String(describing: $0.value) }
                .filter { !$0.hasSuffix("value: [])") }.sorted()
        }
        return texts[0] == texts[1] ? [] : ["\(path): \(texts[0]), \(texts[1])"]
    }
    guard ours.children.count == others.children.count else {
        return ["\(path): \(ours.children.count) parts, \(others.children.count) parts"]
    }
    guard !ours.children.isEmpty else {
        let texts = [String(describing: left), String(describing: right)]
        return texts[0] == texts[1] ? [] : ["\(path): \(texts[0]), \(texts[1])"]
    }
    return zip(ours.children, others.children).flatMap { our, other in
        differences(
            our.value, other.value, at: our.label.map { "\(path).\($0)" } ?? path,
            leavingOut: leftOut)
    }
}

/// The stored properties of a center that a snapshot of it leaves out: they count for one process, or are made anew.
package let fieldsOfOneProcess: Set<String> = [
    // Hash tables are made anew from what they find, with the seed of the process.
    "seed", "hashes", "buckets", "recent",
    // Room in memory, not state.
    "storage",
    // Of one process or one command alone (decision 97).
    "losses", "keptMemory", "keptMeasure", "dispatching", "matched", "hasRecounted",
    "recountedRows", "journal", "growth",
]
