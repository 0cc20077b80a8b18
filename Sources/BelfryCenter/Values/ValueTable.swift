import BelfryJSON

/// The values of a center, a document for each object, and their observers.
struct ValueTable: Footprinted, Sendable {
    /// The value of an object, or the observed places of a missing one.
    struct Value: Footprinted, Sendable {
        /// The document, if there is one.
        var document: Document?
        var trie = ValueTrie()
        /// The number of the last change, that of its removal among them.
        var changedSequence: UInt64 = 0
        /// The time of that change, in milliseconds since 1970.
        var changedAt: Int64 = 0
        /// The places that changed last.
        var changes = LastChanges(through: 0)
        /// The owner that it counts for: that of the last change.
        var owner = Owner.none
        /// Its place among all documents, for paging; 0 without one.
        var ordinal: UInt64 = 0
        /// The part that counts for the owner: the bytes of its texts, and its cost.
        var owned = (byteCount: 0, cost: 0)
        /// The bytes that the table counts for it.
        fileprivate var counted = 0

        /// The bytes that the value costs besides its place.
        var footprint: Int { document.footprint + trie.footprint + changes.footprint }
    }

    private var keys: KeyTable
    private var values: [Value] = []
    /// The bytes of the values besides their places.
    private var valueByteCount = 0
    private var lastOrdinal: UInt64 = 0
    /// The documents, in the order in which they were added.
    private(set) var order = PostingList()
    /// The canonical bytes of all documents, with their objects.
    private(set) var byteCount = 0
    /// The documents that were removed whole.
    var gone = GoneValues()
    /// The observers of values, by slot.
    var observers: [UInt32: ObservedValue] = [:]
    /// The bytes of their key paths as they were given.
    private var pathByteCount = 0
    var parts = ValuePartTable()
    /// The numbers of earlier lives that were stored.
    var storedNumbers = StoredNumbers()
    /// How many changes there were; it counts for this process alone, and decides nothing.
    var changeCount: UInt64 = 0
    /// The key of the tags, which the shard keeps and gives to each center.
    var tagKey = TagKey.known

    init(seed: HashSeed) {
        keys = KeyTable(seed: seed)
    }

    /// How many documents there are.
    var count: Int { order.count }

    /// The bytes that the table costs.
    var footprint: Int {
        keys.footprint + valueByteCount
            + Footprint.list(
                count: values.count, capacity: values.capacity, stride: MemoryLayout<Value>.stride)
            + order.footprint + gone.footprint + parts.footprint + storedNumbers.footprint
            + Footprint.dictionary(
                capacity: observers.capacity,
                stride: MemoryLayout<UInt32>.stride + MemoryLayout<ObservedValue>.stride)
            + Footprint.texts(count: observers.count, byteCount: pathByteCount)
    }

    /// The cost of an observer of a place besides its registration, with the nodes of its path.
    static func cost(ofObserverAt path: DocumentPath) -> Int {
        2 * MemoryLayout<ObservedValue>.stride
            + Footprint.array(of: 2, stride: MemoryLayout<PostingList.Entry>.stride)
            + path.footprint + path.keys.count * ValueTrie.usualNodeByteCount
    }

    /// The part of a value that counts for its owner: observers of it count for others.
    func owned(at slot: UInt32) -> (byteCount: Int, cost: Int) {
        guard let document = self[slot].document else { return (0, 0) }
        let byteCount = document.byteCount + keys.key(at: slot).count
        let cost =
            document.footprint + self[slot].changes.footprint + 2 * MemoryLayout<Value>.stride
            + Footprint.texts(count: 1, byteCount: keys.key(at: slot).count)
            + self[slot].trie.partKeyCount * ValueTrie.usualNodeByteCount
            + self[slot].trie.partCount * ValuePartTable.partByteCount
        return (byteCount, cost)
    }

    subscript(slot: UInt32) -> Value {
        _read { yield values[Int(slot)] }
        _modify { yield &values[Int(slot)] }
    }

    /// Updates the cost of a value, after each change of its document or its places.
    private mutating func count(_ slot: UInt32) {
        let now = values[Int(slot)].footprint
        valueByteCount += now - values[Int(slot)].counted
        values[Int(slot)].counted = now
    }

    /// The slot of the value of an object, if there is a value or an observer of it.
    func slot(of object: Span<UInt8>) -> UInt32? { keys.index(of: object) }

    /// The object of a value.
    func object(at slot: UInt32) -> [UInt8] { keys.key(at: slot) }

    /// The slot of the value of an object, made if there is none.
    mutating func makeSlot(of object: [UInt8]) -> UInt32 {
        let (slot, isNew) = keys.insert(object.span)
        if isNew {
            if Int(slot) == values.count { values.append(Value()) }
            // The value may have existed before.
            noteRestored(slot, changedSequence: gone.last(of: object))
        }
        return slot
    }

    /// Forgets the changed places of a value up to a number.
    mutating func noteRestored(_ slot: UInt32, changedSequence: UInt64) {
        self[slot].changedSequence = changedSequence
        self[slot].changes = LastChanges(through: changedSequence)
        count(slot)
    }

    /// Notes a change or the removal of a value, with its number.
    mutating func noteChange(_ edit: DocumentEdit, of slot: UInt32, at sequence: UInt64) {
        self[slot].changedSequence = sequence
        self[slot].changes.note(edit, at: sequence)
        if self[slot].document == nil { gone.note(keys.key(at: slot), at: sequence) }
        count(slot)
        changeCount += 1
    }

    /// Frees a slot without a document and without an observer.
    mutating func releaseIfUnused(_ slot: UInt32) {
        guard self[slot].document == nil, self[slot].trie.isEmpty else { return }
        keys.remove(at: slot)
        valueByteCount -= self[slot].counted
        self[slot] = Value()
        // A table that was large once gives its storage back.
        if keys.count == 0, values.count > 64 { (values, valueByteCount) = ([], 0) }
    }

    /// Notes that a document was added, has another length, or was removed.
    mutating func noteDocument(at slot: UInt32, byteCountBefore: Int?) {
        let object = keys.key(at: slot).count
        let before = byteCountBefore.map { $0 + object } ?? 0
        let now = self[slot].document.map { $0.byteCount + object } ?? 0
        byteCount += now - before
        if byteCountBefore == nil, self[slot].document != nil {
            lastOrdinal += 1
            self[slot].ordinal = lastOrdinal
            order.append(serial: lastOrdinal, slot: slot)
        } else if byteCountBefore != nil, self[slot].document == nil {
            order.remove(serial: self[slot].ordinal)
            self[slot].ordinal = 0
        }
        count(slot)
    }

    // MARK: Places that end

    /// Makes a part at a place without one, and returns its slot.
    mutating func makePart(at path: DocumentPath, of slot: UInt32) -> UInt32 {
        let node = self[slot].trie.makeNode(
            at: path, changedSequence: self[slot].changedSequence)
        let part = parts.add(value: slot, node: node)
        self[slot].trie.setPart(part, at: node)
        count(slot)
        return part
    }

    /// Removes a part, which must exist: the value at its place is unlimited or gone.
    mutating func removePart(_ slot: UInt32, _ part: ValuePartTable.Part) {
        self[part.value].trie.removePart(at: part.node)
        parts.remove(slot)
        count(part.value)
    }

    /// The parts of a place and of the places below it, if there is such a value.
    func parts(below path: DocumentPath, of slot: UInt32?) -> [UInt32] {
        slot.map { self[$0].trie.parts(below: path) } ?? []
    }

    /// Removes the value at a place that exists.
    mutating func remove(_ path: DocumentPath, of slot: UInt32) -> DocumentEdit {
        var document: Document?
        // The document is moved out of the table, so that it is changed in place.
        swap(&document, &self[slot].document)
        if path.isWhole { return DocumentEdit(old: document, new: nil) }
        guard var changed = document.take() else { return DocumentEdit(old: nil, new: nil) }
        let edit = changed.remove(at: path)
        self[slot].document = changed
        return edit
    }

    // MARK: Observers

    /// Whether an observer is one of a value.
    func isObserver(_ slot: UInt32) -> Bool { observers[slot] != nil }

    /// Files an observer at its place.
    ///
    /// - Returns: Its terms, with a path whose keys are those of the nodes.
    mutating func addObserver(
        _ terms: ValueTerms, of object: [UInt8], serial: UInt64, slot: UInt32
    ) -> ValueTerms {
        let value = makeSlot(of: object)
        let changed = self[value].changes.last(at: terms.path)
        let node = self[value].trie.makeNode(at: terms.path, changedSequence: changed)
        // The node has no number of changes from before its place was observed.
        if !self[value].trie[node].isObserved {
            self[value].trie.noteChange(of: node, at: changed)
        }
        self[value].trie.addObserver(
            serial: serial, slot: slot, sendsOld: terms.sendsOld, at: node)
        count(value)
        var terms = terms
        terms.path = self[value].trie.path(of: node)
        let observed = ObservedValue(
            terms: terms, pathText: terms.path.text, value: value, node: node)
        observers[slot] = observed
        pathByteCount += observed.pathText.count
        return terms
    }

    /// Removes an observer.
    mutating func removeObserver(serial: UInt64, slot: UInt32) {
        guard let observed = observers.removeValue(forKey: slot) else { return }
        pathByteCount -= observed.pathText.count
        // A table that was large once gives its storage back.
        if observers.isEmpty, observers.capacity > 64 { observers = [:] }
        self[observed.value].trie.removeObserver(
            serial: serial, sendsOld: observed.terms.sendsOld, at: observed.node)
        count(observed.value)
        releaseIfUnused(observed.value)
    }

    /// The present value at the place of an observer.
    func presentValue(for slot: UInt32) -> Document? {
        guard let observed = observers[slot] else { return nil }
        return self[observed.value].document?.value(at: observed.terms.path)
    }

    /// The number of the last change that may concern an observer's place.
    func changedSequence(for slot: UInt32) -> UInt64 {
        guard let observed = observers[slot] else { return 0 }
        return self[observed.value].trie[observed.node].changedSequence
    }

    // MARK: Digest

    /// Adds all that can be observed of the values now or later.
    func addDigest(to digest: inout StateDigest) {
        digest.add(order.count)
        digest.add(byteCount)
        gone.addDigest(to: &digest)
        storedNumbers.addDigest(to: &digest)
        for entry in order.living {  // Bound: snapshot
            let value = self[entry.slot]
            digest.add(keys.key(at: entry.slot))
            digest.add(entry.serial)
            digest.add(value.document?.bytes)
            digest.add(value.changedSequence)
            digest.add(value.changedAt)
            value.changes.addDigest(to: &digest)
        }
        parts.addDigest(to: &digest)
    }
}

extension ValueTable.Value: Coded {
    init(_ known: ValueTable.Value?, by coder: inout some Coder) throws(CodeError) {
        document = try coder(known?.document)
        trie = try coder(known?.trie)
        changedSequence = try coder(known?.changedSequence)
        changedAt = try coder(known?.changedAt)
        owner = try coder(known?.owner)
        ordinal = try coder(known?.ordinal)
        changes =
            coder.version >= 2
            ? try coder(known?.changes) : LastChanges(through: changedSequence)
    }
}

extension DocumentPath: Footprinted {
    /// The bytes of the list of its keys: the keys themselves are those of a document or of a trie.
    var footprint: Int { Footprint.array(of: keys.count, stride: MemoryLayout<[UInt8]>.stride) }
}

extension Document: Footprinted {
    /// The bytes of its tree.
    ///
    /// Each member has a place in its object, a block for its key, and one for its value.
    ///
    /// The signs between keys and values in a text are in no block.
    var footprint: Int {
        let blockByteCount = Footprint.texts(count: 1, byteCount: 0)
        return blockByteCount + byteCount
            + nestedMemberCount * (2 * blockByteCount + Self.memberByteCount - Self.signByteCount)
    }

    /// A place in an object: a key, and a leaf or an object.
    private static let memberByteCount = 3 * MemoryLayout<Int>.stride
    /// Two quotes, a colon and a comma.
    private static let signByteCount = 4
}

extension ValueTable: Coded {
    init(_ known: ValueTable?, by coder: inout some Coder) throws(CodeError) {
        keys = try coder(known?.keys)
        values = try coder(known?.values)
        lastOrdinal = try coder(known?.lastOrdinal)
        order = try coder(known?.order)
        byteCount = try coder(known?.byteCount)
        gone = try coder(known?.gone)
        observers = try coder.table(known?.observers)
        pathByteCount = observers.values.reduce(0) { $0 + $1.pathText.count }
        parts = try coder(known?.parts)
        storedNumbers = try coder(known?.storedNumbers)
        changeCount = try coder(known?.changeCount)
        guard coder.isReading else { return }
        for slot in values.indices { count(UInt32(slot)) }  // Bound: snapshot
        for entry in order.living where self[entry.slot].owner != .none {  // Bound: snapshot
            self[entry.slot].owned = owned(at: entry.slot)
        }
    }
}
