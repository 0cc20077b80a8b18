/// Finds the queue entries that are similar to a post, whatever its mask names (rules Q4, Q21).
///
/// Entries of one name and object are of one kind. A kind is found by its pair, and is in the list
/// of its name and in that of its object; no object counts as an object. The right to post depends
/// on the kind alone, so it is checked once a kind. The order of the lists has no meaning. A slot
/// number identifies an entry.
struct KindTable: Footprinted, Sendable {
    /// An entry's place in the list of its kind.
    fileprivate struct Link: Sendable {
        var kind = KindTable.none
        var next = KindTable.none
        var previous = KindTable.none
    }

    fileprivate struct Kind: Sendable {
        let name: UInt32
        let object: UInt32
        var firstEntry = KindTable.none
        var nextOfName = KindTable.none
        var previousOfName = KindTable.none
        var nextOfObject = KindTable.none
        var previousOfObject = KindTable.none

        var pair: UInt64 { UInt64(name) << 32 | UInt64(object) }
    }

    private static let none = UInt32.max
    /// Other objects have their number in the table of objects, plus one.
    private static let noObject: UInt32 = 0

    private var names: KeyTable
    private var objects: KeyTable
    /// The first kind of each name.
    private var firstOfName: [UInt32] = []
    /// The first kind of each object; the one without an object comes first.
    private var firstOfObject = [none]
    private var kinds: [Kind] = []
    private var freeKinds: [UInt32] = []
    private var kindOfPair: [UInt64: UInt32] = [:]
    /// By slot.
    private var links: [Link] = []

    init(seed: HashSeed) {
        names = KeyTable(seed: seed)
        objects = KeyTable(seed: seed)
    }

    /// The bytes that the table costs.
    var footprint: Int {
        let numberByteCount = MemoryLayout<UInt32>.stride
        return names.footprint + objects.footprint
            + (names.count + objects.count) * numberByteCount
            + count * MemoryLayout<Kind>.stride + links.count * MemoryLayout<Link>.stride
            + Footprint.dictionary(
                capacity: kindOfPair.capacity,
                stride: MemoryLayout<UInt64>.stride + numberByteCount)
    }

    /// How many kinds have an entry.
    var count: Int { kindOfPair.count }

    /// The slots of the entries that are equal in all that the mask names; none for an empty mask.
    ///
    /// - Parameter allows: whether the entry in a slot, and all of its kind, may be touched.
    /// - Complexity: linear in the slots, and in the kinds that may not be touched.
    func slots(
        similarTo name: Span<UInt8>?, _ object: Span<UInt8>?, mask: Coalescing,
        where allows: (UInt32) -> Bool
    ) -> [UInt32] {
        var slots: [UInt32] = []
        if mask.contains([.onName, .onSender]) {
            guard let kind = kind(of: name, object) else { return [] }
            collect(kind, into: &slots, where: allows)
        } else if mask.contains(.onName) {
            guard let name = number(ofName: name) else { return [] }
            var kind = firstOfName[Int(name)]
            while kind != Self.none {  // Bound: similar, timers
                collect(kind, into: &slots, where: allows)
                kind = kinds[Int(kind)].nextOfName
            }
        } else if mask.contains(.onSender) {
            guard let object = number(ofObject: object) else { return [] }
            var kind = firstOfObject[Int(object)]
            while kind != Self.none {  // Bound: similar, timers
                collect(kind, into: &slots, where: allows)
                kind = kinds[Int(kind)].nextOfObject
            }
        }
        return slots
    }

    /// The slot of the entry with this name and object, if there is exactly one.
    func onlySlot(of name: Span<UInt8>, _ object: Span<UInt8>?) -> UInt32? {
        guard let kind = kind(of: name, object) else { return nil }
        let slot = kinds[Int(kind)].firstEntry
        return links[Int(slot)].next == Self.none ? slot : nil
    }

    private func kind(of name: Span<UInt8>?, _ object: Span<UInt8>?) -> UInt32? {
        guard let name = number(ofName: name), let object = number(ofObject: object) else {
            return nil
        }
        return kindOfPair[UInt64(name) << 32 | UInt64(object)]
    }

    private func collect(
        _ kind: UInt32, into slots: inout [UInt32], where allows: (UInt32) -> Bool
    ) {
        var slot = kinds[Int(kind)].firstEntry
        guard slot != Self.none, allows(slot) else { return }
        while slot != Self.none {  // Bound: similar, timers
            slots.append(slot)
            slot = links[Int(slot)].next
        }
    }

    private func number(ofName name: Span<UInt8>?) -> UInt32? {
        guard let name else { return nil }
        return names.index(of: name)
    }

    private func number(ofObject object: Span<UInt8>?) -> UInt32? {
        guard let object else { return Self.noObject }
        guard let index = objects.index(of: object) else { return nil }
        return index + 1
    }
}

// MARK: - Adding and removing

extension KindTable {
    /// Adds the entry in a slot.
    mutating func insert(_ content: Notification.Content, at slot: UInt32) {
        let kind = insertKind(of: content)
        while links.count <= Int(slot) { links.append(Link()) }  // Bound: growth
        let next = kinds[Int(kind)].firstEntry
        links[Int(slot)] = Link(kind: kind, next: next)
        if next != Self.none { links[Int(next)].previous = slot }
        kinds[Int(kind)].firstEntry = slot
    }

    /// Removes the entry in a slot, and its kind with the last one.
    mutating func remove(at slot: UInt32) {
        let link = links[Int(slot)]
        precondition(link.kind != Self.none, "an entry that is removed must be there")
        links[Int(slot)] = Link()
        if link.next != Self.none { links[Int(link.next)].previous = link.previous }
        if link.previous != Self.none {
            links[Int(link.previous)].next = link.next
        } else {
            kinds[Int(link.kind)].firstEntry = link.next
            if link.next == Self.none { removeKind(link.kind) }
        }
    }

    private mutating func insertKind(of content: Notification.Content) -> UInt32 {
        let (name, isNewName) = names.insert(content.name)
        if isNewName, Int(name) == firstOfName.count { firstOfName.append(Self.none) }
        var object = Self.noObject
        if let bytes = content.object {
            object = objects.insert(bytes).index + 1
            if Int(object) == firstOfObject.count { firstOfObject.append(Self.none) }
        }
        var kind = Kind(name: name, object: object)
        if let known = kindOfPair[kind.pair] { return known }
        kind.nextOfName = firstOfName[Int(name)]
        kind.nextOfObject = firstOfObject[Int(object)]
        let number = freeKinds.popLast() ?? UInt32(kinds.count)
        if Int(number) == kinds.count { kinds.append(kind) } else { kinds[Int(number)] = kind }
        if kind.nextOfName != Self.none { kinds[Int(kind.nextOfName)].previousOfName = number }
        if kind.nextOfObject != Self.none {
            kinds[Int(kind.nextOfObject)].previousOfObject = number
        }
        firstOfName[Int(name)] = number
        firstOfObject[Int(object)] = number
        kindOfPair[kind.pair] = number
        return number
    }

    private mutating func removeKind(_ number: UInt32) {
        let kind = kinds[Int(number)]
        kindOfPair[kind.pair] = nil
        freeKinds.append(number)
        if kind.nextOfName != Self.none {
            kinds[Int(kind.nextOfName)].previousOfName = kind.previousOfName
        }
        if kind.previousOfName != Self.none {
            kinds[Int(kind.previousOfName)].nextOfName = kind.nextOfName
        } else {
            firstOfName[Int(kind.name)] = kind.nextOfName
            if kind.nextOfName == Self.none { names.remove(at: kind.name) }
        }
        if kind.nextOfObject != Self.none {
            kinds[Int(kind.nextOfObject)].previousOfObject = kind.previousOfObject
        }
        if kind.previousOfObject != Self.none {
            kinds[Int(kind.previousOfObject)].nextOfObject = kind.nextOfObject
        } else {
            firstOfObject[Int(kind.object)] = kind.nextOfObject
            if kind.nextOfObject == Self.none, kind.object != Self.noObject {
                objects.remove(at: kind.object - 1)
            }
        }
    }
}

extension KindTable.Link: Coded {
    init(_ known: KindTable.Link?, by coder: inout some Coder) throws(CodeError) {
        kind = try coder(known?.kind)
        next = try coder(known?.next)
        previous = try coder(known?.previous)
    }
}

extension KindTable.Kind: Coded {
    init(_ known: KindTable.Kind?, by coder: inout some Coder) throws(CodeError) {
        name = try coder(known?.name)
        object = try coder(known?.object)
        firstEntry = try coder(known?.firstEntry)
        nextOfName = try coder(known?.nextOfName)
        previousOfName = try coder(known?.previousOfName)
        nextOfObject = try coder(known?.nextOfObject)
        previousOfObject = try coder(known?.previousOfObject)
    }
}

extension KindTable: Coded {
    init(_ known: KindTable?, by coder: inout some Coder) throws(CodeError) {
        names = try coder(known?.names)
        objects = try coder(known?.objects)
        firstOfName = try coder(known?.firstOfName)
        firstOfObject = try coder(known?.firstOfObject)
        kinds = try coder(known?.kinds)
        freeKinds = try coder(known?.freeKinds)
        kindOfPair = try coder.table(known?.kindOfPair)
        links = try coder(known?.links)
    }
}
