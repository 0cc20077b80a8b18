/// The kept notifications of all archives, in the order of their numbers.
///
/// A row stays in its slot, and slots lie in blocks: a table that grows copies no rows.
struct KeptRows: Footprinted, Sendable {
    /// The number of no slot.
    static let none = UInt32.max

    /// A kept notification.
    struct Row: Sendable {
        var notification: Notification
        var kind: UInt32 = KeptRows.none
        /// Whether the store has it.
        var isStored = false
        /// Its neighbours among the rows of its kind, and among those of its archive.
        var ofKind = Links()
        var ofArchive = Links()
    }

    /// The neighbours of a row in a list.
    struct Links: Sendable {
        var previous = KeptRows.none
        var next = KeptRows.none
    }

    /// The ends of a list.
    struct List: Sendable {
        var first = KeptRows.none
        var last = KeptRows.none
        var count = 0
    }

    /// The place of a row in the order.
    struct Place: Sendable {
        let sequence: UInt64
        let postedAt: Int64
        /// The slot of the row; none where it was removed.
        var slot: UInt32
    }

    private static let blockBits: UInt32 = 9
    private static let blockCount = 1 << 9

    private var blocks: [[Row]] = []
    private var freeSlots: [UInt32] = []
    private var slotCount: UInt32 = 0
    private var order = Ring<Place>()
    private var holeCount = 0
    /// The bytes of the rows, as archives count them.
    private(set) var byteCount = 0

    /// How many rows there are.
    var count: Int { order.count - holeCount }

    /// Whether a row is among so many newest of its kind.
    func isAmongNewest(_ slot: UInt32, _ count: Int) -> Bool {
        var (slot, left) = (slot, count)
        while left > 0 {  // Bound: few
            slot = self[slot].ofKind.next
            if slot == Self.none { return true }
            left -= 1
        }
        return false
    }

    var footprint: Int {
        blocks.count * Footprint.array(of: Self.blockCount, stride: MemoryLayout<Row>.stride)
            + freeSlots.footprint + order.footprint
            + Footprint.texts(
                count: count, byteCount: byteCount - count * ArchiveTerms.overheadByteCount)
    }

    subscript(slot: UInt32) -> Row {
        _read { yield blocks[Int(slot >> Self.blockBits)][Int(slot) % Self.blockCount] }
        _modify { yield &blocks[Int(slot >> Self.blockBits)][Int(slot) % Self.blockCount] }
    }

    /// A slot without a row.
    private static let blank = Row(
        notification: Notification(
            id: NotificationID(high: 0, low: 0), sequence: 0, postedAt: 0, causedBy: nil,
            content: Notification.Content(name: [])))

    /// Adds a row whose number is above all others, and returns its slot.
    mutating func append(_ notification: Notification, kind: UInt32) -> UInt32 {
        let slot = freeSlots.popLast() ?? newSlot()
        byteCount += ArchiveTerms.byteCount(of: notification.content)
        order.append(
            Place(
                sequence: notification.sequence, postedAt: notification.postedAt, slot: slot))
        self[slot] = Row(notification: notification, kind: kind)
        return slot
    }

    private mutating func newSlot() -> UInt32 {
        if Int(slotCount) == blocks.count * Self.blockCount {
            blocks.append([Row](repeating: Self.blank, count: Self.blockCount))
        }
        slotCount += 1
        return slotCount - 1
    }

    /// Removes a row, which is in no list any more.
    mutating func remove(_ slot: UInt32) {
        let row = self[slot]
        byteCount -= ArchiveTerms.byteCount(of: row.notification.content)
        let position = position(above: max(row.notification.sequence, 1) - 1)
        order.update(position) { $0.slot = Self.none }
        holeCount += 1
        self[slot] = Self.blank
        freeSlots.append(slot)
        while let first = order.first, first.slot == Self.none {  // Bound: forgotten
            order.removeFirst()
            holeCount -= 1
        }
        if order.isEmpty, slotCount > 4 * UInt32(Self.blockCount) { self = KeptRows() }
        if holeCount > 64, holeCount > order.count / 2 { closeHoles() }
    }

    private mutating func closeHoles() {
        var closed = Ring<Place>()
        for position in order.startPosition..<order.endPosition {  // Bound: growth
            if order[position].slot != Self.none { closed.append(order[position]) }
        }
        order = closed
        holeCount = 0
    }

    // MARK: In their order

    /// The positions of all rows, and of some that were removed.
    var positions: Range<UInt64> { order.startPosition..<order.endPosition }

    /// The row at a position; its slot is none where the row was removed.
    func place(at position: UInt64) -> Place { order[position] }

    /// The position of the first row above a number.
    func position(above sequence: UInt64) -> UInt64 {
        positions.firstPlace { order[$0].sequence > sequence }
    }

    /// The slot of the row with a number.
    func slot(of sequence: UInt64) -> UInt32? {
        let position = position(above: max(sequence, 1) - 1)
        guard position < order.endPosition, order[position].sequence == sequence,
            order[position].slot != Self.none
        else { return nil }
        return order[position].slot
    }

    /// The last number that was posted before a time, where all behind it were posted later.
    func last(postedBefore time: Int64) -> UInt64? {
        let position = positions.firstPlace { order[$0].postedAt >= time }
        return position > order.startPosition ? order[position - 1].sequence : nil
    }
}

extension KeptRows.List {
    /// Appends a row to the list of a kind or of an archive.
    ///
    /// A row with a lower number than the last finds its place from the end.
    mutating func append(
        _ slot: UInt32, _ links: WritableKeyPath<KeptRows.Row, KeptRows.Links>,
        in rows: inout KeptRows
    ) {
        let sequence = rows[slot].notification.sequence
        var previous = last
        // Bound: few
        while previous != KeptRows.none, rows[previous].notification.sequence > sequence {
            previous = rows[previous][keyPath: links].previous
        }
        let next = previous == KeptRows.none ? first : rows[previous][keyPath: links].next
        rows[slot][keyPath: links] = KeptRows.Links(previous: previous, next: next)
        if previous == KeptRows.none {
            first = slot
        } else {
            rows[previous][keyPath: links].next = slot
        }
        if next == KeptRows.none {
            last = slot
        } else {
            rows[next][keyPath: links].previous = slot
        }
        count += 1
    }

    /// Takes a row out of the list.
    mutating func remove(
        _ slot: UInt32, _ links: WritableKeyPath<KeptRows.Row, KeptRows.Links>,
        in rows: inout KeptRows
    ) {
        let (previous, next) = (
            rows[slot][keyPath: links].previous, rows[slot][keyPath: links].next
        )
        if previous == KeptRows.none {
            first = next
        } else {
            rows[previous][keyPath: links].next = next
        }
        if next == KeptRows.none {
            last = previous
        } else {
            rows[next][keyPath: links].previous = previous
        }
        rows[slot][keyPath: links] = KeptRows.Links()
        count -= 1
    }
}
