/// The tombstones of removed observers (law 4); past a limit the oldest is forgotten.
struct TombstoneTable: Footprinted, Sendable {
    fileprivate struct Entry: Sendable {
        let serial: UInt64
        let tombstone: Tombstone
    }

    private var order = Ring<Entry>()
    private var positions: [UInt64: UInt64] = [:]

    /// The bytes of their texts.
    private(set) var textFootprint = 0

    /// How many are remembered.
    var count: Int { order.count }

    /// The bytes that the table costs.
    var footprint: Int {
        order.footprint + textFootprint
            + Footprint.dictionary(
                capacity: positions.capacity, stride: 2 * MemoryLayout<UInt64>.stride)
    }

    subscript(serial: UInt64) -> Tombstone? {
        positions[serial].map { order[$0].tombstone }
    }

    mutating func append(_ tombstone: Tombstone, serial: UInt64, limit: Int) {
        positions[serial] = order.append(Entry(serial: serial, tombstone: tombstone))
        textFootprint += tombstone.textFootprint
        trim(to: limit)
    }

    /// Forgets the oldest ones past the limit.
    mutating func trim(to limit: Int) {
        while order.count > limit, let oldest = order.first {  // Bound: forgotten
            positions[oldest.serial] = nil
            textFootprint -= oldest.tombstone.textFootprint
            order.removeFirst()
        }
        guard positions.capacity > 64, positions.count * 8 < positions.capacity else { return }
        // Tables that were large once give their storage back.
        order.shrink()
        positions = Dictionary(uniqueKeysWithValues: positions.map { ($0, $1) })
    }

    /// Calls the visitor with each tombstone, oldest first.
    func forEach(_ visit: (UInt64, Tombstone) -> Void) {
        var position = order.startPosition
        while position < order.endPosition {  // Bound: snapshot
            visit(order[position].serial, order[position].tombstone)
            position += 1
        }
    }
}

extension Tombstone {
    /// The bytes of its filter's texts, which the observer's own tables have released, and of the
    /// remover's name.
    ///
    /// It is part of the state, so spare room does not count: processes have different ones.
    fileprivate var textFootprint: Int {
        var bytes = Footprint.array(of: name?.count ?? 0) + Footprint.array(of: object?.count ?? 0)
        if case .principal(let remover) = removedBy { bytes += Footprint.array(of: remover.count) }
        guard let terms else { return bytes }
        let blocks =
            Footprint.array(of: 1, stride: MemoryLayout<FilterTerms>.stride)
            + Footprint.array(of: terms.names.count, stride: MemoryLayout<[UInt8]>.stride)
        let texts = [terms.namePrefix, terms.objectPrefix].compactMap { $0 } + terms.names
        return texts.reduce(bytes + blocks) { $0 + Footprint.array(of: $1.count) }
    }
}

extension TombstoneTable.Entry: Coded {
    init(_ known: TombstoneTable.Entry?, by coder: inout some Coder) throws(CodeError) {
        serial = try coder(known?.serial)
        tombstone = try coder(known?.tombstone)
    }
}

extension TombstoneTable: Coded {
    init(_ known: TombstoneTable?, by coder: inout some Coder) throws(CodeError) {
        order = try coder(known?.order)
        textFootprint = try coder(known?.textFootprint)
        positions = known?.positions ?? [:]
        guard coder.isReading else { return }
        for position in order.startPosition..<order.endPosition {  // Bound: snapshot
            positions[order[position].serial] = position
        }
    }
}
