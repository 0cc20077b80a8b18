/// The effect of one write on a document: the place, the old value and the new one.
///
/// Above its place there were objects before, and they are there still. So it shows the change at
/// every path, at the cost of the values at its place, not of the whole document.
public struct DocumentEdit: Sendable, Equatable {
    /// The path of the write, or a shorter one where the way had to be made.
    public let path: DocumentPath
    /// The old value.
    public let old: Document?
    /// The new value.
    public let new: Document?

    /// An edit at a path; a document that comes or goes is one of the whole.
    public init(path: DocumentPath = .whole, old: Document?, new: Document?) {
        self.path = path
        self.old = old
        self.new = new
    }

    /// Whether a byte is another one.
    public var isChange: Bool { old != new }

    /// Whether a leaf at a path that has come, gone or changed is all that is different.
    ///
    /// - Complexity: a look at the members on the way, without a copy.
    public func isOfLeaf(at path: DocumentPath) -> Bool {
        self.path.leads(to: path)
            && DocumentNode.isOfLeaf(old?.root, new?.root, path.keys[self.path.keys.count...])
    }

    /// The change as seen from a path: at the place, below it, or above it.
    public func change(at observed: DocumentPath) -> DocumentChange {
        if path.leads(to: observed) {
            let rest = observed.relative(to: path)
            return .difference(from: old?.value(at: rest), to: new?.value(at: rest))
        }
        guard observed.leads(to: path) else { return .none }
        return DocumentChange.difference(from: old, to: new)
            .wrapped(in: path.keys.dropFirst(observed.keys.count))
    }
}
