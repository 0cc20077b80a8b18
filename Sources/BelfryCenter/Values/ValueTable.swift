import BelfryJSON

/// The values of a center, a document an object, and who looks at them.
struct ValueTable: Sendable {
    /// The value of an object, or the places of one that is not there and is looked at.
    struct Value: Sendable {
        /// What is there, if anything is.
        var document: Document?
        var trie = ValueTrie()
        /// The number of the last change, that of its removal among them.
        var changedSequence: UInt64 = 0
        /// When that was, in milliseconds since 1970.
        var changedAt: Int64 = 0
        /// Where it was changed last.
        var changes = LastChanges(through: 0)
        /// Whom it counts for: who changed it last.
        var owner = Owner.none
        /// Its place among all documents, by which pages go on; 0 without one.
        var ordinal: UInt64 = 0
    }

    private var keys: KeyTable
    private var values: [Value] = []
    private var lastOrdinal: UInt64 = 0
    /// The documents, in the order in which they came.
    private(set) var order = PostingList()
    /// The canonical bytes of all documents, with their objects.
    private(set) var byteCount = 0
    /// The documents that were taken away whole.
    var gone = GoneValues()
    /// Whoever looks at values, by slot.
    var observers: [UInt32: ObservedValue] = [:]
    var parts = ValuePartTable()
    /// Which numbers of earlier lives were stored.
    var storedNumbers = StoredNumbers()
    /// How many changes there were; it counts for this process alone, and decides nothing.
    var changeCount: UInt64 = 0

    init(seed: HashSeed) {
        keys = KeyTable(seed: seed)
    }

    /// How many documents there are.
    var count: Int { order.count }

    /// The bytes that the table costs, about: a member of a document takes ten times its bytes and less.
    var footprint: Int {
        keys.footprint + keys.count * MemoryLayout<Value>.stride
            + order.count * MemoryLayout<PostingList.Entry>.stride
            + Self.documentCost * byteCount
            + observers.count * Self.observerByteCount + parts.footprint
    }

    /// What a byte of a document costs, about.
    static let documentCost = 8
    private static let observerByteCount =
        MemoryLayout<ObservedValue>.stride * 2 + MemoryLayout<ValueTrie.Node>.stride

    subscript(slot: UInt32) -> Value {
        _read { yield values[Int(slot)] }
        _modify { yield &values[Int(slot)] }
    }

    /// Where the value of an object is, if there is one or somebody looks for one.
    func slot(of object: Span<UInt8>) -> UInt32? { keys.index(of: object) }

    /// The object of a value.
    func object(at slot: UInt32) -> [UInt8] { keys.key(at: slot) }

    /// Where the value of an object is, or will be.
    mutating func makeSlot(of object: [UInt8]) -> UInt32 {
        let (slot, isNew) = keys.insert(object.span)
        if isNew {
            if Int(slot) == values.count { values.append(Value()) }
            values[Int(slot)] = Value()
            // It may have been there before.
            noteRestored(slot, changedSequence: gone.last(of: object))
        }
        return slot
    }

    /// Forgets where a value was changed up to a number.
    mutating func noteRestored(_ slot: UInt32, changedSequence: UInt64) {
        values[Int(slot)].changedSequence = changedSequence
        values[Int(slot)].changes = LastChanges(through: changedSequence)
    }

    /// A value is another one, or is gone, from a number on.
    mutating func noteChange(_ edit: DocumentEdit, of slot: UInt32, at sequence: UInt64) {
        values[Int(slot)].changedSequence = sequence
        values[Int(slot)].changes.note(edit, at: sequence)
        if values[Int(slot)].document == nil { gone.note(keys.key(at: slot), at: sequence) }
        changeCount += 1
    }

    /// Lets a slot go that has no document and no observer.
    mutating func releaseIfUnused(_ slot: UInt32) {
        guard values[Int(slot)].document == nil, values[Int(slot)].trie.isEmpty else { return }
        keys.remove(at: slot)
        // A table that was large once gives its storage back.
        if keys.count == 0, values.count > 64 { values = [] }
    }

    /// Counts that a document has come, has another length, or has gone; tells by how many bytes all have grown.
    mutating func noteDocument(at slot: UInt32, byteCountBefore: Int?) {
        let object = keys.key(at: slot).count
        let before = byteCountBefore.map { $0 + object } ?? 0
        let now = values[Int(slot)].document.map { $0.byteCount + object } ?? 0
        byteCount += now - before
        if byteCountBefore == nil, values[Int(slot)].document != nil {
            lastOrdinal += 1
            values[Int(slot)].ordinal = lastOrdinal
            order.append(serial: lastOrdinal, slot: slot)
        } else if byteCountBefore != nil, values[Int(slot)].document == nil {
            order.remove(serial: values[Int(slot)].ordinal)
            values[Int(slot)].ordinal = 0
        }
    }

    /// The parts of a place and of what lies below it, if there is such a value.
    func parts(below path: DocumentPath, of slot: UInt32?) -> [UInt32] {
        slot.map { values[Int($0)].trie.parts(below: path) } ?? []
    }

    /// Takes out what is at a place that there is.
    mutating func remove(_ path: DocumentPath, of slot: UInt32) -> DocumentEdit {
        var document: Document?
        // Out of the table, so that it is changed where it lies.
        swap(&document, &values[Int(slot)].document)
        if path.isWhole { return DocumentEdit(old: document, new: nil) }
        guard var changed = document.take() else { return DocumentEdit(old: nil, new: nil) }
        let edit = changed.remove(at: path)
        values[Int(slot)].document = changed
        return edit
    }

    // MARK: Observers

    /// Whether an observer is one of a value.
    func isObserver(_ slot: UInt32) -> Bool { observers[slot] != nil }

    /// Files an observer at its place.
    mutating func addObserver(_ terms: ValueTerms, of object: [UInt8], serial: UInt64, slot: UInt32)
    {
        let value = makeSlot(of: object)
        let changed = values[Int(value)].changes.last(at: terms.path)
        let node = values[Int(value)].trie.makeNode(at: terms.path, changedSequence: changed)
        // Of a place that nobody observed it was not noted when it changed.
        if !values[Int(value)].trie[node].isObserved {
            values[Int(value)].trie[node].changedSequence = changed
        }
        values[Int(value)].trie.addObserver(
            serial: serial, slot: slot, sendsOld: terms.sendsOld, at: node)
        observers[slot] = ObservedValue(
            terms: terms, pathText: terms.path.text, value: value, node: node)
    }

    /// Takes an observer out.
    mutating func removeObserver(serial: UInt64, slot: UInt32) {
        guard let observed = observers.removeValue(forKey: slot) else { return }
        values[Int(observed.value)].trie.removeObserver(
            serial: serial, sendsOld: observed.terms.sendsOld, at: observed.node)
        releaseIfUnused(observed.value)
    }

    /// What an observer looks at.
    func presentValue(for slot: UInt32) -> Document? {
        guard let observed = observers[slot] else { return nil }
        return values[Int(observed.value)].document?.value(at: observed.terms.path)
    }

    /// The number of the last change that an observer's place may have had.
    func changedSequence(for slot: UInt32) -> UInt64 {
        guard let observed = observers[slot] else { return 0 }
        return values[Int(observed.value)].trie[observed.node].changedSequence
    }

    // MARK: Digest

    /// Adds all that can be seen of the values now or later.
    func addDigest(to digest: inout StateDigest) {
        digest.add(order.count)
        digest.add(byteCount)
        gone.addDigest(to: &digest)
        storedNumbers.addDigest(to: &digest)
        for entry in order.living {
            let value = values[Int(entry.slot)]
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

extension ValueTable: Coded {
    init(_ known: ValueTable?, by coder: inout some Coder) throws(CodeError) {
        keys = try coder(known?.keys)
        values = try coder(known?.values)
        lastOrdinal = try coder(known?.lastOrdinal)
        order = try coder(known?.order)
        byteCount = try coder(known?.byteCount)
        gone = try coder(known?.gone)
        observers = try coder.table(known?.observers)
        parts = try coder(known?.parts)
        storedNumbers = try coder(known?.storedNumbers)
        changeCount = try coder(known?.changeCount)
    }
}
