internal import BelfryJSON

/// The members that an object may have, and the meaning of null in them.
///
/// A member that is null is left out, unless it must be there or null is one of its values.
struct FieldTable<Key: Equatable & Sendable>: Sendable {
    let names: JSONKeyTable<Key>
    /// The ordinals of the members that must be there.
    let required: JSONKeySet
    /// The ordinals of the members that null leaves out.
    let optional: JSONKeySet

    init(
        _ rows: [(name: String, key: Key)], required: [Key] = [], takingNull: [Key] = []
    ) {
        names = JSONKeyTable(rows)
        var (needed, others) = (JSONKeySet(), JSONKeySet())
        for (ordinal, row) in rows.enumerated() {
            if required.contains(row.key) {
                _ = needed.insert(ordinal)
            } else if !takingNull.contains(row.key) {
                _ = others.insert(ordinal)
            }
        }
        (self.required, optional) = (needed, others)
    }
}

extension FieldTable where Key: RawRepresentable<String> {
    init(_ keys: [Key], required: [Key] = [], takingNull: [Key] = []) {
        self.init(
            keys.map { (name: $0.rawValue, key: $0) }, required: required, takingNull: takingNull)
    }
}
