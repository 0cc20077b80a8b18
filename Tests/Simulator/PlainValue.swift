import BelfryJSON

/// A value as a plain tree of dictionaries, which shares only its text with a center's documents.
indirect enum PlainValue: Equatable {
    case leaf([UInt8])
    case object([[UInt8]: PlainValue])

    /// Reads a document; members with null stay, as they do in a patch.
    init(_ document: Document) {
        guard document.isObject else {
            self = .leaf(document.bytes)
            return
        }
        var members: [[UInt8]: PlainValue] = [:]
        document.forEachMember { members[$0] = PlainValue($1) }
        self = .object(members)
    }

    /// The members, if it is an object.
    var members: [[UInt8]: PlainValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The value at a place.
    func value(at keys: ArraySlice<[UInt8]>) -> PlainValue? {
        guard let key = keys.first else { return self }
        return members?[key]?.value(at: keys.dropFirst())
    }

    /// The tree with a value put at a place, or removed; nodes on the way become objects for a put.
    static func put(
        _ value: PlainValue?, at keys: ArraySlice<[UInt8]>, in tree: PlainValue?
    ) -> PlainValue? {
        guard let key = keys.first else { return value }
        guard var members = tree?.members ?? (value == nil ? nil : [:]) else { return tree }
        if value == nil, members[key] == nil { return tree }
        members[key] = put(value, at: keys.dropFirst(), in: members[key])
        return .object(members)
    }

    /// Applies a patch (RFC 7396).
    static func merged(_ target: PlainValue?, with patch: PlainValue) -> PlainValue? {
        guard case .object(let changes) = patch else {
            return patch == .null ? nil : patch
        }
        var members = target?.members ?? [:]
        for (key, change) in changes {
            members[key] = change == .null ? nil : merged(members[key], with: change)
        }
        return .object(members)
    }

    private static let null = PlainValue.leaf([UInt8]("null".utf8))
}
