/// One JSON value as a tree that is read and changed by key path: the value of an object.
///
/// - A member with null is an absent one (RFC 7396): `parse` leaves it out. Nulls in arrays stay.
/// - Members have no order: they are kept, and written, in the byte order of their unescaped keys,
///   and keys are compared as such, so that `"\u0061"` and `"a"` are one key. It is written with as
///   few escapes as there can be.
/// - A value that is no object is a leaf, also an array with its elements. Leaves keep their bytes
///   without white space, numbers of any size and spellings of strings included.
///
/// So two documents are equal when their canonical bytes are. Copies share their common parts; a
/// change copies no more than the objects on the way, and those only if another copy shares them.
///
/// A member takes 24 bytes in its object, and its key and its leaf or object an array each, of 32
/// bytes and their own: at worst, with keys and numbers of a few digits, sixteen times the
/// canonical bytes.
public struct Document: Sendable, Equatable {
    /// The object without members.
    public static let empty = Document(root: .object(DocumentObject()))

    var root: DocumentNode

    /// Reads a JSON text of exactly one value; members with null are left out.
    ///
    /// - Throws: `DocumentError`; `tooManyBytes` is about the canonical bytes, as all counts are.
    public static func parse(
        _ text: Span<UInt8>, limits: DocumentLimits = DocumentLimits()
    ) throws(DocumentError) -> Document {
        try parse(text, keepsNulls: false, limits: limits)
    }

    /// Reads a merge patch, in which a member with null removes (RFC 7396).
    ///
    /// - Throws: `DocumentError`, as `parse`.
    public static func parsePatch(
        _ text: Span<UInt8>, limits: DocumentLimits = DocumentLimits()
    ) throws(DocumentError) -> Document {
        try parse(text, keepsNulls: true, limits: limits)
    }

    private static func parse(
        _ text: Span<UInt8>, keepsNulls: Bool, limits: DocumentLimits
    ) throws(DocumentError) -> Document {
        let document: Document
        do throws(JSONError) {
            var parser = DocumentParser(keepsNulls: keepsNulls, depthLimit: limits.depthLimit)
            document = Document(root: try parser.parse(text))
        } catch {
            throw DocumentError(error)
        }
        guard document.byteCount <= limits.byteLimit else {
            throw .tooManyBytes(byteCount: document.byteCount, limit: limits.byteLimit)
        }
        return document
    }

    /// Whether this is an object, the only kind that has members, and that is patched.
    public var isObject: Bool { root.isObject }

    /// Whether this is null, which represents an absent value.
    public var isNull: Bool { root.isNull }

    /// How many canonical bytes there are.
    ///
    /// - Complexity: constant.
    public var byteCount: Int { root.byteCount }

    /// The members of this object, and of all objects in it that are no part of an array.
    ///
    /// - Complexity: constant.
    public var nestedMemberCount: Int { root.size.memberCount }

    /// How deep objects and arrays nest; 0 when this is neither.
    ///
    /// - Complexity: a look at each member, and at each byte of the arrays.
    public var depth: Int { root.depth }

    /// Appends the canonical bytes: no white space, members in the byte order of their keys.
    public func append(to bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + byteCount)
        root.append(to: &bytes)
    }

    /// The canonical bytes.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    /// The value at a path, or nil.
    ///
    /// - Complexity: a binary search for each key.
    public func value(at path: DocumentPath) -> Document? {
        var node = root
        for key in path.keys {
            guard case .object(let object) = node, let member = object.member(of: key) else {
                return nil
            }
            node = member
        }
        return Document(root: node)
    }

    /// This value as the only member at a path of an otherwise empty object.
    func wrapped(in keys: ArraySlice<[UInt8]>) -> Document {
        Document(root: root.wrapped(in: keys))
    }
}
