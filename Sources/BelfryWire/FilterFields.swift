internal import BelfryCenter

/// The fields of a filter that is finer than a name and an object, as they come.
///
/// A reference: few observers have one, and the fields of all others are copied without it.
final class FilterFields {
    private(set) var terms = FilterTerms()
    private var isGiven = false

    /// The members, which registrations and removals have.
    enum Key: String, CaseIterable {
        case names, namePrefix, objectPrefix, `where`
    }

    /// The parameters of a stream, whose names are parameters of their own.
    static let parameters = FieldTable(Key.allCases.filter { $0 != .names }).names

    /// The terms, if a field of them was given.
    var givenTerms: FilterTerms? { isGiven ? terms : nil }

    /// Reads or skips the value of one member.
    func read(
        _ key: Key, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        isGiven = true
        switch key {
        case .names: terms.names = try fields.names(in: bytes)
        case .namePrefix: terms.namePrefix = try fields.name(in: bytes)
        case .objectPrefix: terms.objectPrefix = try fields.name(in: bytes)
        case .where: terms.condition = try fields.condition(in: bytes)
        }
    }

    /// Checks that one field names the names, and one the objects (rules P1 and P9).
    func check(hasName: Bool, hasObject: Bool, _ fields: inout FieldReader) {
        guard isGiven else { return }
        if !terms.names.isEmpty, hasName || terms.namePrefix != nil {
            fields.addFault(Key.names, "cannot be combined with name or namePrefix")
        } else if terms.namePrefix != nil, hasName {
            fields.addFault(Key.namePrefix, "cannot be combined with name")
        }
        if terms.objectPrefix != nil, hasObject {
            fields.addFault(Key.objectPrefix, "cannot be combined with object")
        }
    }

    /// Adds a fault for each field that a role does not go with.
    func refuse(with role: some RawRepresentable<String>, _ fields: inout FieldReader) {
        let given = [
            (Key.names, !terms.names.isEmpty), (.namePrefix, terms.namePrefix != nil),
            (.objectPrefix, terms.objectPrefix != nil), (.where, terms.condition != nil),
        ]
        for (key, isGiven) in given where isGiven {
            fields.addFault(key, "cannot be combined with \(role.rawValue)")
        }
    }
}
