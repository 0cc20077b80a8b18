import BelfryBytes

/// Finds which of many prefixes a text begins with, at one step a byte at most (rule P8).
///
/// It is a tree: each node has a piece of text behind that of its parent, and each end of a prefix
/// is a node. Every other node has two children at least, so it has at most two nodes a prefix.
struct PrefixTable: Footprinted, Sendable {
    /// The number of a prefix while somebody uses it; a number is used again.
    typealias Index = UInt32

    private struct Node: Sendable {
        /// The bytes behind those of the parent; the root alone has none.
        var piece: [UInt8] = []
        var parent: Index = 0
        /// In the order of their first bytes, which differ.
        var children: [Index] = []
        /// How many observers use the prefix that ends here.
        var useCount: UInt32 = 0

        var blockByteCount: Int { piece.footprint + children.footprint }
    }

    private static let root: Index = 0

    private var nodes = [Node()]
    private var freeNodes: [Index] = []
    private var blockByteCount = 0
    /// How many prefixes there are.
    private(set) var count = 0

    /// The bytes that the table costs.
    var footprint: Int {
        Footprint.grown(count: nodes.count, stride: MemoryLayout<Node>.stride) + blockByteCount
            + freeNodes.footprint
    }

    /// Calls the visitor with each prefix of a text, the shortest first.
    ///
    /// - Parameter leastByteCount: the length of the shortest prefix that counts.
    @inline(__always)
    func forEachPrefix(
        of text: Span<UInt8>, leastByteCount: Int = 0, _ visit: (Index) -> Void
    ) {
        var (node, place) = (Self.root, 0)
        // Bound: bytes
        while place < text.count, let next = child(of: node, text[place]),
            begins(text, at: place, with: next)
        {
            place += nodes[Int(next)].piece.count
            node = next
            if nodes[Int(node)].useCount > 0, place >= leastByteCount { visit(node) }
        }
    }

    /// The number of a prefix, if somebody uses it.
    func index(of prefix: Span<UInt8>) -> Index? {
        var found: Index?
        forEachPrefix(of: prefix, leastByteCount: prefix.count) { found = $0 }
        return found
    }

    /// Whether somebody uses a prefix of a text.
    func hasPrefix(of text: Span<UInt8>) -> Bool {
        var isFound = false
        forEachPrefix(of: text) { _ in isFound = true }
        return isFound
    }

    /// How often the prefixes of a text are used, all together.
    func useCount(of text: Span<UInt8>, leastByteCount: Int = 0) -> Int {
        var sum = 0
        forEachPrefix(of: text, leastByteCount: leastByteCount) {
            sum += Int(nodes[Int($0)].useCount)
        }
        return sum
    }

    /// Calls the visitor with each prefix that begins with a text, and how often it is used.
    ///
    /// They come in the order of their bytes. Those that begin with a visited one are passed over
    /// if the visitor returns false.
    ///
    /// - Complexity: linear in the bytes of the text and in what begins with it.
    func forEachText(
        beginningWith start: [UInt8] = [], _ visit: ([UInt8], UInt32) -> Bool
    ) {
        var (node, place, end) = (Self.root, 0, 0)
        while end < start.count {  // Bound: bytes
            guard let next = child(of: node, start[end]) else { return }
            (node, place) = (next, end)
            end += sharedCount(start.span, at: place, with: node)
            guard end == start.count || end - place == nodes[Int(node)].piece.count else { return }
        }
        var text = Array(start[..<place])
        var rest = [(node: node, place: place)]
        while let (node, place) = rest.popLast() {  // Bound: spread
            text.removeSubrange(place...)
            text += nodes[Int(node)].piece
            let useCount = nodes[Int(node)].useCount
            if useCount > 0, !visit(text, useCount) { continue }
            // Bound: spread
            for child in nodes[Int(node)].children.reversed() { rest.append((child, text.count)) }
        }
    }

    /// Counts more uses of a prefix, and returns its number.
    mutating func insert(_ prefix: Span<UInt8>, useCount: UInt32 = 1) -> Index {
        var (node, place) = (Self.root, 0)
        while place < prefix.count {  // Bound: bytes
            guard let next = child(of: node, prefix[place]) else {
                node = addLeaf([UInt8](copying: prefix.extracting(place...)), below: node)
                break
            }
            let shared = sharedCount(prefix, at: place, with: next)
            node = shared < nodes[Int(next)].piece.count ? split(next, at: shared) : next
            place += shared
        }
        if nodes[Int(node)].useCount == 0 { count += 1 }
        nodes[Int(node)].useCount += useCount
        return node
    }

    /// Counts one use of a prefix less.
    mutating func remove(_ prefix: Index) {
        precondition(nodes[Int(prefix)].useCount > 0, "a prefix that is removed must be there")
        nodes[Int(prefix)].useCount -= 1
        guard nodes[Int(prefix)].useCount == 0 else { return }
        count -= 1
        let parent = nodes[Int(prefix)].parent
        shrink(prefix)
        if parent != Self.root { shrink(parent) }
        // A table that was large once gives its storage back.
        if count == 0 { self = PrefixTable() }
    }

    // MARK: Nodes

    private func childPlace(of node: Index, _ byte: UInt8) -> Int {
        let children = nodes[Int(node)].children
        return children.indices.firstPlace { nodes[Int(children[$0])].piece[0] >= byte }
    }

    private func child(of node: Index, _ byte: UInt8) -> Index? {
        let place = childPlace(of: node, byte)
        guard place < nodes[Int(node)].children.count else { return nil }
        let child = nodes[Int(node)].children[place]
        return nodes[Int(child)].piece[0] == byte ? child : nil
    }

    /// How many bytes of the piece of a node a text has at a place.
    private func sharedCount(_ text: Span<UInt8>, at place: Int, with node: Index) -> Int {
        let piece = nodes[Int(node)].piece
        var count = 0
        // Bound: bytes
        while count < piece.count, place + count < text.count, piece[count] == text[place + count] {
            count += 1
        }
        return count
    }

    private func begins(_ text: Span<UInt8>, at place: Int, with node: Index) -> Bool {
        let piece = nodes[Int(node)].piece
        return text.extracting(place...).begins(with: piece.span)
    }

    /// Changes a node, and counts its blocks.
    private mutating func change(_ node: Index, _ body: (inout Node) -> Void) {
        blockByteCount -= nodes[Int(node)].blockByteCount
        body(&nodes[Int(node)])
        blockByteCount += nodes[Int(node)].blockByteCount
    }

    private mutating func make(_ node: Node) -> Index {
        blockByteCount += node.blockByteCount
        guard let free = freeNodes.popLast() else {
            nodes.append(node)
            return Index(nodes.count - 1)
        }
        nodes[Int(free)] = node
        return free
    }

    private mutating func discard(_ node: Index) {
        change(node) { $0 = Node() }
        freeNodes.append(node)
    }

    private mutating func addLeaf(_ piece: [UInt8], below parent: Index) -> Index {
        let place = childPlace(of: parent, piece[0])
        let leaf = make(Node(piece: piece, parent: parent))
        change(parent) { $0.children.insert(leaf, at: place) }
        return leaf
    }

    /// Puts a node between another one and its parent, with so many bytes of its piece.
    private mutating func split(_ node: Index, at count: Int) -> Index {
        let (piece, parent) = (nodes[Int(node)].piece, nodes[Int(node)].parent)
        let place = childPlace(of: parent, piece[0])
        let upper = make(Node(piece: Array(piece[..<count]), parent: parent, children: [node]))
        change(node) {
            $0.piece = Array(piece[count...])
            $0.parent = upper
        }
        nodes[Int(parent)].children[place] = upper
        return upper
    }

    /// Removes a node that no prefix ends at, if it has no children, or one that takes its place.
    private mutating func shrink(_ node: Index) {
        let (piece, parent) = (nodes[Int(node)].piece, nodes[Int(node)].parent)
        guard nodes[Int(node)].useCount == 0, nodes[Int(node)].children.count < 2 else { return }
        let place = childPlace(of: parent, piece[0])
        if let child = nodes[Int(node)].children.first {
            change(child) {
                $0.piece = piece + $0.piece
                $0.parent = parent
            }
            nodes[Int(parent)].children[place] = child
        } else {
            change(parent) { $0.children.remove(at: place) }
        }
        discard(node)
    }
}
