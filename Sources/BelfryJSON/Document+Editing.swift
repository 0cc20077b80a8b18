// Changes of a document. Each one returns an edit, which can be undone.
extension Document {
    /// Puts a value at a path; values on the way that are no objects become objects.
    ///
    /// - Throws: `tooDeep`, or `tooManyBytes` for a document that would be longer than before;
    ///   nothing has changed then.
    /// - Complexity: a binary search for each key, the members behind a new one, and a look at the
    ///   value.
    @discardableResult
    public mutating func set(
        _ value: Document, at path: DocumentPath, limits: DocumentLimits = DocumentLimits()
    ) throws(DocumentError) -> DocumentEdit {
        try edit(at: path, adding: value, limits: limits) { _ in
            value.root.isNull ? nil : value.root
        }
    }

    /// Merges a patch into the value at a path (RFC 7396); it makes the objects on the way.
    ///
    /// A patch that is no object replaces the value, and null removes it.
    ///
    /// - Throws: `tooDeep`, or `tooManyBytes` for a document that would be longer than before;
    ///   nothing has changed then.
    /// - Complexity: as `set`, and the members of the objects that the patch goes through.
    @discardableResult
    public mutating func merge(
        _ patch: Document, at path: DocumentPath = .whole,
        limits: DocumentLimits = DocumentLimits()
    ) throws(DocumentError) -> DocumentEdit {
        try edit(at: path, adding: patch, limits: limits) {
            DocumentNode.merged($0, with: patch.root)
        }
    }

    /// Removes the value at a path; of the whole, the object without members is left.
    ///
    /// - Complexity: a binary search for each key, and the members behind it.
    @discardableResult
    public mutating func remove(at path: DocumentPath) -> DocumentEdit {
        edit(at: path) { _ in nil }
    }

    /// Undoes an edit, which must be the last one.
    public mutating func undo(_ edit: DocumentEdit) {
        _ = self.edit(at: edit.path) { _ in edit.old?.root }
    }

    private mutating func edit(
        at path: DocumentPath, adding value: Document, limits: DocumentLimits,
        _ transform: (DocumentNode?) -> DocumentNode?
    ) throws(DocumentError) -> DocumentEdit {
        guard path.keys.count + value.depth <= limits.depthLimit else {
            throw .tooDeep(limit: limits.depthLimit)
        }
        let before = byteCount
        let edit = edit(at: path, transform)
        let after = byteCount
        guard after <= max(before, limits.byteLimit) else {
            undo(edit)
            throw .tooManyBytes(byteCount: after, limit: limits.byteLimit)
        }
        return edit
    }

    private mutating func edit(
        at path: DocumentPath, _ transform: (DocumentNode?) -> DocumentNode?
    ) -> DocumentEdit {
        let edit = root.edit(path.keys[...], transform)
        return DocumentEdit(
            path: path.prefix(path.keys.count - edit.keysBelow),
            old: edit.old.map(Document.init(root:)), new: edit.new.map(Document.init(root:)))
    }
}

extension DocumentNode {
    /// The old and the new node at the place where an edit began, `keysBelow` keys above its own.
    typealias Edit = (keysBelow: Int, old: DocumentNode?, new: DocumentNode?)

    /// Changes the value at a path from here; `transform` makes the new value of the old one.
    mutating func edit(
        _ keys: ArraySlice<[UInt8]>, _ transform: (DocumentNode?) -> DocumentNode?
    ) -> Edit {
        guard let key = keys.first else {
            let old = self
            self = transform(self) ?? .object(DocumentObject())
            return (0, old, self)
        }
        guard case .object(var object) = self else {
            // Something may come where no way is, but nothing goes.
            let (old, new) = (self, transform(nil)?.wrapped(in: keys))
            self = new ?? old
            return (keys.count, old, self)
        }
        // Out of the node, so that the members are not copied.
        self = .leaf([])
        defer { self = .object(object) }
        let place = object.place(of: key)
        let rest = keys.dropFirst()
        if place.isTaken, !rest.isEmpty {
            return object.withNode(at: place.index) { $0.edit(rest, transform) }
        }
        let old = place.isTaken ? object.members[place.index].node : nil
        let new = transform(old)?.wrapped(in: rest)
        object.put(new, at: place, key: key)
        return (rest.count, old, new)
    }

    /// Applies a merge patch to a value; nil when the patch removes it (RFC 7396 §2).
    static func merged(_ target: DocumentNode?, with patch: DocumentNode) -> DocumentNode? {
        guard case .object(let patch) = patch else { return patch.isNull ? nil : patch }
        let object: DocumentObject =
            if case .object(let object) = target { object } else { DocumentObject() }
        var members: [DocumentObject.Member] = []
        members.reserveCapacity(object.members.count + patch.members.count)
        DocumentObject.forEachKey(of: object, and: patch) { key, node, patch in
            let result = if let patch { merged(node, with: patch) } else { node }
            if let result { members.append(DocumentObject.Member(key: key, node: result)) }
        }
        return .object(DocumentObject(sorted: members))
    }
}
