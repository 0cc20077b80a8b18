import BelfryBytes

/// An object of a document: its members in the byte order of their keys, each key once.
struct DocumentObject: Sendable, Equatable {
    struct Member: Sendable, Equatable {
        /// Unescaped, as UTF-8.
        let key: [UInt8]
        var node: DocumentNode

        /// The bytes of the key, a colon and the value, and the members that it is and has.
        var size: Size {
            var size = node.size
            size.add(byteCount: JSONWriter.byteCount(string: key.span) + 1, memberCount: 1)
            return size
        }
    }

    /// The canonical bytes of a node, and the members in it at any depth.
    ///
    /// Both fit into one word, so that an object is two: a document has at most some megabytes.
    struct Size: Sendable, Equatable {
        private var bytes: UInt32
        private var members: UInt32 = 0

        init(byteCount: Int) { bytes = UInt32(byteCount) }

        var byteCount: Int { Int(bytes) }
        var memberCount: Int { Int(members) }

        mutating func add(byteCount: Int, memberCount: Int) {
            bytes = UInt32(self.byteCount + byteCount)
            members = UInt32(self.memberCount + memberCount)
        }

        /// Another size takes the place of one that is in this one.
        mutating func change(from before: Size, to after: Size) {
            add(
                byteCount: after.byteCount - before.byteCount,
                memberCount: after.memberCount - before.memberCount)
        }
    }

    /// With the braces and commas; compared first, as most objects that differ do so in length.
    private(set) var size = Size(byteCount: 2)
    private(set) var members: [Member] = []

    init() {}

    init(sorted members: [Member]) {
        self.members = members
        if members.isEmpty { return }
        size = Size(byteCount: 1)
        for member in members {
            let added = member.size
            size.add(byteCount: added.byteCount + 1, memberCount: added.memberCount)
        }
    }

    func member(of key: [UInt8]) -> DocumentNode? {
        let place = place(of: key)
        return place.isTaken ? members[place.index].node : nil
    }

    /// Where a key is, or belongs.
    func place(of key: [UInt8]) -> (index: Int, isTaken: Bool) {
        var (low, high) = (0, members.count)
        while low < high {
            let middle = (low + high) / 2
            switch Self.compare(members[middle].key, key) {
            case .orderedBefore: low = middle + 1
            case .same: return (middle, true)
            case .orderedBehind: high = middle
            }
        }
        return (low, false)
    }

    /// Puts a node in a place of `place(of:)`; nil removes the node there.
    mutating func put(_ node: DocumentNode?, at place: (index: Int, isTaken: Bool), key: [UInt8]) {
        if place.isTaken {
            let before = members[place.index].size
            if let node {
                members[place.index].node = node
                size.change(from: before, to: members[place.index].size)
            } else {
                members.remove(at: place.index)
                size.add(
                    byteCount: -before.byteCount - (members.isEmpty ? 0 : 1),
                    memberCount: -before.memberCount)
            }
        } else if let node {
            let member = Member(key: key, node: node)
            let added = member.size
            size.add(
                byteCount: added.byteCount + (members.isEmpty ? 0 : 1),
                memberCount: added.memberCount)
            members.insert(member, at: place.index)
        }
    }

    /// Changes the node of a member in place.
    mutating func withNode<Result>(
        at index: Int, _ body: (inout DocumentNode) -> Result
    ) -> Result {
        let before = members[index].node.size
        let result = body(&members[index].node)
        size.change(from: before, to: members[index].node.size)
        return result
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(.openBrace)
        for index in members.indices {
            if index > 0 { bytes.append(.comma) }
            JSONWriter.append(string: members[index].key, to: &bytes)
            bytes.append(.colon)
            members[index].node.append(to: &bytes)
        }
        bytes.append(.closeBrace)
    }
}

// The order of keys.
extension DocumentObject {
    enum Order {
        case orderedBefore, same, orderedBehind
    }

    /// Compares keys byte by byte.
    static func compare(_ left: [UInt8], _ right: [UInt8]) -> Order {
        let (left, right) = (left.span, right.span)
        let count = min(left.count, right.count)
        var index = 0
        while index < count {
            if left[index] != right[index] {
                return left[index] < right[index] ? .orderedBefore : .orderedBehind
            }
            index += 1
        }
        if left.count == right.count { return .same }
        return left.count < right.count ? .orderedBefore : .orderedBehind
    }

    /// The index of a key in two objects that have the same members but for that key's node; nil if
    /// they have not.
    func place(ofOnlyDifferenceFrom other: DocumentObject, at key: [UInt8]) -> Int? {
        guard members.count == other.members.count else { return nil }
        var place: Int?
        for index in members.indices {
            guard members[index].key == other.members[index].key else { return nil }
            if members[index].key == key {
                place = index
            } else if members[index].node != other.members[index].node {
                return nil
            }
        }
        return place
    }

    /// Two objects side by side: each key of either once, in order, with what it is in both.
    static func forEachKey(
        of left: DocumentObject, and right: DocumentObject,
        _ body: (_ key: [UInt8], _ left: DocumentNode?, _ right: DocumentNode?) -> Void
    ) {
        let (left, right) = (left.members, right.members)
        var (leftIndex, rightIndex) = (0, 0)
        while leftIndex < left.count || rightIndex < right.count {
            let order: Order =
                if leftIndex == left.count {
                    .orderedBehind
                } else if rightIndex == right.count {
                    .orderedBefore
                } else {
                    compare(left[leftIndex].key, right[rightIndex].key)
                }
            switch order {
            case .orderedBefore:
                body(left[leftIndex].key, left[leftIndex].node, nil)
                leftIndex += 1
            case .same:
                body(left[leftIndex].key, left[leftIndex].node, right[rightIndex].node)
                leftIndex += 1
                rightIndex += 1
            case .orderedBehind:
                body(right[rightIndex].key, nil, right[rightIndex].node)
                rightIndex += 1
            }
        }
    }
}
