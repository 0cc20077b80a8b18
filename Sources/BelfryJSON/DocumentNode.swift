import BelfryBytes

/// A place in the tree of a document.
enum DocumentNode: Sendable, Equatable {
    /// The bytes of a value that is no object, without white space.
    case leaf([UInt8])
    case object(DocumentObject)

    var byteCount: Int {
        switch self {
        case .leaf(let bytes): bytes.count
        case .object(let object): object.size.byteCount
        }
    }

    /// Its canonical bytes, and the members in it at any depth.
    var size: DocumentObject.Size {
        switch self {
        case .leaf(let bytes): DocumentObject.Size(byteCount: bytes.count)
        case .object(let object): object.size
        }
    }

    var isNull: Bool {
        switch self {
        case .leaf(let bytes): bytes.first == UInt8(ascii: "n")
        case .object: false
        }
    }

    var isObject: Bool {
        switch self {
        case .leaf: false
        case .object: true
        }
    }

    /// Whether a leaf at the end of a way is all in which a node differs from the one before it.
    static func isOfLeaf(
        _ old: DocumentNode?, _ new: DocumentNode?, _ way: ArraySlice<[UInt8]>
    ) -> Bool {
        guard let key = way.first else {
            return !(old?.isObject ?? false) && !(new?.isObject ?? false)
        }
        guard case .object(let old) = old, case .object(let new) = new,
            let place = old.place(ofOnlyDifferenceFrom: new, at: key)
        else { return false }
        return isOfLeaf(old.members[place].node, new.members[place].node, way.dropFirst())
    }

    var depth: Int {
        switch self {
        case .leaf(let bytes): Self.depth(of: bytes.span)
        case .object(let object): 1 + object.members.reduce(0) { max($0, $1.node.depth) }
        }
    }

    /// How deep a valid value nests.
    private static func depth(of bytes: Span<UInt8>) -> Int {
        guard bytes.byte(at: 0) == .openBracket else { return 0 }
        var (depth, greatest, index) = (0, 0, 0)
        var isInString = false
        while index < bytes.count {
            switch bytes[index] {
            case .quote: isInString.toggle()
            case .backslash: index += 1
            case .openBracket, .openBrace:
                if !isInString { depth += 1 }
                greatest = max(greatest, depth)
            case .closeBracket, .closeBrace:
                if !isInString { depth -= 1 }
            default: break
            }
            index += 1
        }
        return greatest
    }

    func append(to bytes: inout [UInt8]) {
        switch self {
        case .leaf(let leaf): bytes.append(contentsOf: leaf)
        case .object(let object): object.append(to: &bytes)
        }
    }

    /// This node as the only member at a path of otherwise empty objects.
    func wrapped(in keys: ArraySlice<[UInt8]>) -> DocumentNode {
        keys.reversed().reduce(self) { node, key in
            .object(DocumentObject(sorted: [DocumentObject.Member(key: key, node: node)]))
        }
    }
}
