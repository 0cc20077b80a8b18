// The members of a value, one by one.
extension Document {
    /// The count of members; 0 for a value that is no object.
    ///
    /// - Complexity: constant.
    public var memberCount: Int {
        switch root {
        case .object(let object): object.members.count
        case .leaf: 0
        }
    }

    /// The value under one key, or nil.
    ///
    /// - Complexity: a binary search.
    public func member(_ key: [UInt8]) -> Document? {
        guard case .object(let object) = root else { return nil }
        return object.member(of: key).map(Document.init(root:))
    }

    /// Calls the body with each member, in the byte order of their keys.
    public func forEachMember(_ body: (_ key: [UInt8], _ value: Document) -> Void) {
        guard case .object(let object) = root else { return }
        for member in object.members { body(member.key, Document(root: member.node)) }
    }
}

extension DocumentPath {
    /// The path of the first keys, as many as are asked for: the place itself, or one above it.
    public func ancestor(keyCount: Int) -> DocumentPath { prefix(keyCount) }

    /// The path of a member of the value at this path.
    public func appending(_ key: [UInt8]) -> DocumentPath { DocumentPath(keys: keys + [key]) }
}
