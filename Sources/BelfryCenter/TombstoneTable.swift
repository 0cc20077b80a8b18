/// What remains of removed observers (law 4); past a limit the oldest is forgotten.
struct TombstoneTable: Sendable {
    private var order = Ring<(serial: UInt64, tombstone: Tombstone)>()
    private var positions: [UInt64: UInt64] = [:]

    /// How many are remembered.
    var count: Int { order.count }

    subscript(serial: UInt64) -> Tombstone? {
        positions[serial].map { order[$0].tombstone }
    }

    mutating func append(_ tombstone: Tombstone, serial: UInt64, limit: Int) {
        positions[serial] = order.append((serial, tombstone))
        trim(to: limit)
    }

    /// Forgets the oldest ones past the limit.
    mutating func trim(to limit: Int) {
        while order.count > limit, let oldest = order.first {
            positions[oldest.serial] = nil
            order.removeFirst()
        }
    }

    /// Calls the visitor with each tombstone, oldest first.
    func forEach(_ visit: (UInt64, Tombstone) -> Void) {
        var position = order.startPosition
        while position < order.endPosition {
            visit(order[position].serial, order[position].tombstone)
            position += 1
        }
    }
}
