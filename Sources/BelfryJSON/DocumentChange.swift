/// How two states of a value differ: it depends on them alone, however the second came about.
public enum DocumentChange: Sendable, Equatable {
    /// Not in a single byte.
    case none
    /// The value is gone.
    case removed(old: Document)
    /// An object was and is there; the merge patches lead forth and back (RFC 7396).
    case merge(forth: Document, back: Document)
    /// Everything else: there was no value, or one of both is no object.
    case set(new: Document, old: Document?)

    /// Compares two states; nil is no value.
    ///
    /// - Complexity: the members of the objects that differ; shared parts are not compared.
    public static func difference(from old: Document?, to new: Document?) -> DocumentChange {
        switch (old, new) {
        case (nil, nil):
            return .none
        case (let old?, nil):
            return .removed(old: old)
        case (nil, let new?):
            return .set(new: new, old: nil)
        case (let old?, let new?):
            if old == new { return .none }
            guard case (.object(let before), .object(let after)) = (old.root, new.root) else {
                return .set(new: new, old: old)
            }
            let patches = before.patches(to: after)
            return .merge(
                forth: Document(root: .object(patches.forth)),
                back: Document(root: .object(patches.back)))
        }
    }

    /// The change as it is seen from objects above its place.
    func wrapped(in keys: ArraySlice<[UInt8]>) -> DocumentChange {
        let null = Document(root: .null)
        return switch self {
        case .none: .none
        case .removed(let old):
            .merge(forth: null.wrapped(in: keys), back: old.wrapped(in: keys))
        case .merge(let forth, let back):
            .merge(forth: forth.wrapped(in: keys), back: back.wrapped(in: keys))
        case .set(let new, let old):
            .merge(forth: new.wrapped(in: keys), back: (old ?? null).wrapped(in: keys))
        }
    }
}

extension DocumentNode {
    /// The value in a patch for a member that is removed.
    static let null = DocumentNode.leaf([UInt8]("null".utf8))
}

extension DocumentObject {
    /// The merge patches from this object to another one, and back.
    fileprivate func patches(to other: DocumentObject) -> (
        forth: DocumentObject, back: DocumentObject
    ) {
        var (forth, back): ([Member], [Member]) = ([], [])
        Self.forEachKey(of: self, and: other) { key, old, new in
            if old == new { return }
            if case (.object(let old), .object(let new)) = (old, new) {
                let patches = old.patches(to: new)
                forth.append(Member(key: key, node: .object(patches.forth)))
                back.append(Member(key: key, node: .object(patches.back)))
            } else {
                forth.append(Member(key: key, node: new ?? .null))
                back.append(Member(key: key, node: old ?? .null))
            }
        }
        return (DocumentObject(sorted: forth), DocumentObject(sorted: back))
    }
}
