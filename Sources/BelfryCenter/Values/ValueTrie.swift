import BelfryJSON

/// The observers and the parts of one value, by their places.
///
/// A node is a key path that has an observer or a part, or one above such a path. A write walks its
/// own path and the changed places below it (rule V12).
struct ValueTrie: Footprinted, Sendable {
    /// The value for no node and no part.
    static let none = UInt32.max

    /// A place of a value.
    struct Node: Footprinted, Sendable {
        /// The last key of its path; the root has none.
        let key: [UInt8]
        let parent: UInt32
        var children: [[UInt8]: UInt32] = [:]
        /// The observers of the place, and those of them whose frames have the previous value.
        var observers = PostingList()
        var oldObservers = PostingList()
        /// The part at this place, in the table of parts.
        var part = none
        /// The numbers of observers and of parts, here and below.
        var observerCount = 0
        var partCount = 0
        /// The highest known number of a change here; it may be that of a neighbour.
        var changedSequence: UInt64

        /// The bytes that the node costs besides its place.
        var footprint: Int {
            key.footprint + observers.footprint + oldObservers.footprint
                + Footprint.dictionary(
                    capacity: children.capacity,
                    stride: MemoryLayout<[UInt8]>.stride + MemoryLayout<UInt32>.stride)
        }

        var isObserved: Bool { !observers.isEmpty || !oldObservers.isEmpty }
        fileprivate var isUsed: Bool { observerCount > 0 || partCount > 0 }
    }

    private var nodes: [Node] = []
    private var freeNodes: [UInt32] = []
    /// The bytes of the nodes besides their places.
    private var nodeByteCount = 0
    /// The keys of the paths of all parts, counted.
    private(set) var partKeyCount = 0

    /// Whether the value has neither observers nor parts.
    var isEmpty: Bool { nodes.count == freeNodes.count }

    /// How many observers there are.
    var observerCount: Int { nodes.isEmpty ? 0 : nodes[0].observerCount }

    /// The number of parts.
    var partCount: Int { nodes.isEmpty ? 0 : nodes[0].partCount }

    /// The bytes that the trie costs.
    var footprint: Int {
        nodeByteCount + freeNodes.footprint
            + Footprint.list(
                count: nodes.count, capacity: nodes.capacity, stride: MemoryLayout<Node>.stride)
    }

    /// The bytes of a node that leads to one place.
    ///
    /// They are its own, those of its key, and those of its place in the table of its parent.
    static let usualNodeByteCount =
        MemoryLayout<Node>.stride + Footprint.array(of: 8)
        + Footprint.dictionary(
            capacity: 1, stride: MemoryLayout<[UInt8]>.stride + MemoryLayout<UInt32>.stride)

    subscript(node: UInt32) -> Node {
        _read { yield nodes[Int(node)] }
    }

    /// Sets the number of the last known change at a node.
    mutating func noteChange(of node: UInt32, at sequence: UInt64) {
        nodes[Int(node)].changedSequence = sequence
    }

    /// The path of a node, with the keys of the nodes that lead to it.
    func path(of node: UInt32) -> DocumentPath {
        DocumentPath(keys: keys(of: node))
    }

    private func keys(of node: UInt32) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        var node = node
        while node != Self.none, nodes[Int(node)].parent != Self.none {  // Bound: keys
            keys.append(nodes[Int(node)].key)
            node = nodes[Int(node)].parent
        }
        keys.reverse()
        return keys
    }

    /// Changes a node in place, and updates its cost.
    private mutating func change(_ node: UInt32, _ change: (inout Node) -> Void) {
        nodeByteCount -= nodes[Int(node)].footprint
        change(&nodes[Int(node)])
        nodeByteCount += nodes[Int(node)].footprint
    }

    /// The node of a place, if there is one.
    func node(at path: DocumentPath) -> UInt32? {
        guard !isEmpty else { return nil }
        var node: UInt32 = 0
        for key in path.keys {  // Bound: keys
            guard let child = nodes[Int(node)].children[key] else { return nil }
            node = child
        }
        return node
    }

    /// The node of a place, which is made if there is none.
    mutating func makeNode(at path: DocumentPath, changedSequence: UInt64) -> UInt32 {
        if isEmpty {
            self = ValueTrie()
            nodes = [Node(key: [], parent: Self.none, changedSequence: changedSequence)]
        }
        var node: UInt32 = 0
        for key in path.keys {  // Bound: keys
            if let child = nodes[Int(node)].children[key] {
                node = child
                continue
            }
            let child = freeNodes.popLast() ?? UInt32(nodes.count)
            let made = Node(key: key, parent: node, changedSequence: changedSequence)
            if Int(child) == nodes.count {
                nodes.append(made)
                nodeByteCount += made.footprint
            } else {
                change(child) { $0 = made }
            }
            change(node) { $0.children[key] = child }
            node = child
        }
        return node
    }

    // MARK: Observers

    mutating func addObserver(serial: UInt64, slot: UInt32, sendsOld: Bool, at node: UInt32) {
        change(node) {
            if sendsOld {
                $0.oldObservers.append(serial: serial, slot: slot)
            } else {
                $0.observers.append(serial: serial, slot: slot)
            }
        }
        count(at: node, observers: 1)
    }

    mutating func removeObserver(serial: UInt64, sendsOld: Bool, at node: UInt32) {
        change(node) {
            if sendsOld {
                $0.oldObservers.remove(serial: serial)
            } else {
                $0.observers.remove(serial: serial)
            }
        }
        count(at: node, observers: -1)
    }

    /// The observed nodes whose value an edit has changed, in the order of their numbers (rule V4).
    ///
    /// - Complexity: The depth of the edit's place and the changed part below it.
    func changedNodes(by edit: DocumentEdit) -> [UInt32] {
        guard observerCount > 0 else { return [] }
        var found: [UInt32] = []
        var node: UInt32 = 0
        for key in edit.path.keys {  // Bound: keys
            if nodes[Int(node)].isObserved { found.append(node) }
            guard let child = nodes[Int(node)].children[key], nodes[Int(child)].observerCount > 0
            else { return found }
            node = child
        }
        addChanged(node, edit.old, edit.new, to: &found)
        // The order of a hash table may not show.
        found.sort()
        return found
    }

    private func addChanged(
        _ node: UInt32, _ old: Document?, _ new: Document?, to found: inout [UInt32]
    ) {
        guard nodes[Int(node)].observerCount > 0, old != new else { return }
        if nodes[Int(node)].isObserved { found.append(node) }
        let children = nodes[Int(node)].children
        if children.isEmpty { return }
        let memberCount = (old?.memberCount ?? 0) + (new?.memberCount ?? 0)
        if children.count <= memberCount {
            for (key, child) in children {  // Bound: places
                addChanged(child, old?.member(key), new?.member(key), to: &found)
            }
            return
        }
        old?.forEachMember { key, value in
            guard let child = children[key] else { return }
            addChanged(child, value, new?.member(key), to: &found)
        }
        new?.forEachMember { key, value in
            guard let child = children[key], old?.member(key) == nil else { return }
            addChanged(child, nil, value, to: &found)
        }
    }

    // MARK: Parts

    /// Sets the part at a place.
    mutating func setPart(_ part: UInt32, at node: UInt32) {
        nodes[Int(node)].part = part
        count(at: node, parts: 1)
    }

    /// Removes the part at a place.
    mutating func removePart(at node: UInt32) {
        nodes[Int(node)].part = Self.none
        count(at: node, parts: -1)
    }

    /// The parts of a place and of the places below it, in the order of their numbers.
    func parts(below path: DocumentPath) -> [UInt32] {
        guard partCount > 0, let node = node(at: path) else { return [] }
        var found: [UInt32] = []
        addParts(node, to: &found)
        found.sort()
        return found
    }

    /// The parts that a merge patch at a place overwrites (rule V16).
    ///
    /// They are the part of the place, and those at the leaves of the patch and below them.
    func parts(writtenBy patch: Document, at path: DocumentPath) -> [UInt32] {
        guard partCount > 0, let node = node(at: path) else { return [] }
        var found: [UInt32] = []
        if patch.isObject, nodes[Int(node)].part != Self.none {
            found.append(nodes[Int(node)].part)
        }
        addParts(node, writtenBy: patch, to: &found)
        found.sort()
        return found
    }

    private func addParts(_ node: UInt32, to found: inout [UInt32]) {
        guard nodes[Int(node)].partCount > 0 else { return }
        if nodes[Int(node)].part != Self.none { found.append(nodes[Int(node)].part) }
        // Bound: parts
        for child in nodes[Int(node)].children.values { addParts(child, to: &found) }
    }

    private func addParts(
        _ node: UInt32, writtenBy patch: Document, to found: inout [UInt32]
    ) {
        guard nodes[Int(node)].partCount > 0 else { return }
        guard patch.isObject else { return addParts(node, to: &found) }
        patch.forEachMember { key, value in
            guard let child = nodes[Int(node)].children[key] else { return }
            addParts(child, writtenBy: value, to: &found)
        }
    }

    // MARK: Counting

    /// Counts at a node and all above it; nodes without use are removed.
    private mutating func count(at node: UInt32, observers: Int = 0, parts: Int = 0) {
        var node = node
        while node != Self.none {  // Bound: keys
            nodes[Int(node)].observerCount += observers
            nodes[Int(node)].partCount += parts
            let parent = nodes[Int(node)].parent
            if parent != Self.none { partKeyCount += parts }
            if !nodes[Int(node)].isUsed {
                let key = nodes[Int(node)].key
                if parent != Self.none { change(parent) { $0.children[key] = nil } }
                change(node) { $0 = Node(key: [], parent: Self.none, changedSequence: 0) }
                freeNodes.append(node)
            }
            node = parent
        }
        if isEmpty { self = ValueTrie() }
    }
}

/// A node in a stored state: with its whole path, and not its last key alone.
private struct StoredNode: Coded {
    let path: DocumentPath
    var node: ValueTrie.Node

    init(_ node: ValueTrie.Node, path: DocumentPath) {
        self.path = path
        self.node = node
    }

    init(_ known: StoredNode?, by coder: inout some Coder) throws(CodeError) {
        path = try coder(known?.path)
        node = try ValueTrie.Node(known?.node, key: path.keys.last ?? [], by: &coder)
    }
}

extension ValueTrie.Node {
    fileprivate init(
        _ known: ValueTrie.Node?, key: [UInt8], by coder: inout some Coder
    ) throws(CodeError) {
        self.key = key
        parent = try coder(known?.parent)
        children = try coder.table(known?.children)
        observers = try coder(known?.observers)
        oldObservers = try coder(known?.oldObservers)
        part = try coder(known?.part)
        observerCount = try coder(known?.observerCount)
        partCount = try coder(known?.partCount)
        changedSequence = try coder(known?.changedSequence)
    }
}

extension ValueTrie: Coded {
    init(_ known: ValueTrie?, by coder: inout some Coder) throws(CodeError) {
        let stored: [StoredNode] = try coder(
            known.map { known in
                known.nodes.indices.map {
                    StoredNode(known.nodes[$0], path: known.path(of: UInt32($0)))
                }
            })
        let freeNodes: [UInt32] = try coder(known?.freeNodes)
        if let known {
            self = known
            return
        }
        nodes = stored.map(\.node)
        self.freeNodes = freeNodes
        for stored in stored {  // Bound: snapshot
            nodeByteCount += stored.node.footprint
            if stored.node.part != Self.none { partKeyCount += stored.path.keys.count }
        }
    }
}
