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
    if ours.displayStyle == .dictionary {
        let tables = [ours, others].map(entries)
        // An empty list says as much as none.
        let keys = tables.map { table in table.keys.filter { !isEmpty(table[$0]) }.sorted() }
        guard keys[0] == keys[1] else { return ["\(path): \(keys[0]), \(keys[1])"] }
        return keys[0].flatMap { key in
            differences(
                tables[0][key] as Any, tables[1][key] as Any, at: "\(path)[\(key)]",
                leavingOut: leftOut)
        }
    }
    if ours.displayStyle == .set {
        let texts = [ours, others].map { $0.children.map { "\($0.value)" }.sorted() }
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

/// The values of a dictionary by the texts of their keys.
private func entries(_ dictionary: Mirror) -> [String: Any] {
    var values: [String: Any] = [:]
    for child in dictionary.children {
        let parts = Array(Mirror(reflecting: child.value).children)
        values["\(parts[0].value)"] = parts[1].value
    }
    return values
}

private func isEmpty(_ value: Any?) -> Bool {
    guard let value else { return true }
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .collection && mirror.children.isEmpty
}

/// The stored properties of a center that its snapshot leaves out: they belong to one process.
///
/// The restored center makes them anew.
package let fieldsOfOneProcess: Set<String> = [
    // Hash tables are made anew from what they find, with the seed of the process.
    "seed", "hashes", "buckets", "recent",
    // Room in memory, not state.
    "storage", "blockByteCount", "nodeByteCount", "valueByteCount", "counted",
    // Intervals that are over are forgotten over time; digests have the running ones.
    "paces",
    // Properties of one process or one command alone (decision 97).
    "losses", "keptMemory", "keptMeasure", "dispatching", "matched", "hasRecounted",
    "recountedRows", "journal", "growth",
]
