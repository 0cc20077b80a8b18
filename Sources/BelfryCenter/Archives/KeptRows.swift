/// The kept notifications of all archives, in the order of their numbers.
///
/// A row stays in its slot, and slots lie in blocks: a table that grows copies no rows.
struct KeptRows: Chained, Footprinted, Sendable {
    /// A kept notification.
    struct Row: Sendable {
        var notification: Notification
        var kind = Chain.none
        /// Whether the store has it.
        var isStored = false
        /// Its neighbours among the rows of its kind, and among those of its archive.
        fileprivate var ofKind = Chain.Links()
        fileprivate var ofArchive = Chain.Links()
    }

    /// The chains that each row is in.
    enum ChainName { case ofKind, ofArchive }

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
            slot = next(after: slot, in: .ofKind)
            if slot == Chain.none { return true }
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

    /// The bytes of a row, as archives count them.
    func byteCount(of slot: UInt32) -> Int {
        ArchiveTerms.byteCount(of: self[slot].notification.content)
    }

    /// The number of a row, and when it was posted.
    func mark(of slot: UInt32) -> LossMark {
        LossMark(
            sequence: self[slot].notification.sequence,
            postedAt: self[slot].notification.postedAt)
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

    /// Removes a row, which is in no chain any more.
    mutating func remove(_ slot: UInt32) {
        byteCount -= byteCount(of: slot)
        let sequence = self[slot].notification.sequence
        self[slot] = Self.blank
        freeSlots.append(slot)
        if order.first?.sequence == sequence {
            order.removeFirst()
        } else {
            order.update(position(above: max(sequence, 1) - 1)) { $0.slot = Chain.none }
            holeCount += 1
        }
        while let first = order.first, first.slot == Chain.none {  // Bound: forgotten
            order.removeFirst()
            holeCount -= 1
        }
        if order.isEmpty, slotCount > 4 * UInt32(Self.blockCount) { self = KeptRows() }
        if holeCount > 64, holeCount > order.count / 2 { closeHoles() }
    }

    private mutating func closeHoles() {
        var closed = Ring<Place>()
        for position in order.startPosition..<order.endPosition {  // Bound: growth
            if order[position].slot != Chain.none { closed.append(order[position]) }
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
            order[position].slot != Chain.none
        else { return nil }
        return order[position].slot
    }

    /// The last number that was posted before a time, where all behind it were posted later.
    func last(postedBefore time: Int64) -> UInt64? {
        let position = positions.firstPlace { order[$0].postedAt >= time }
        return position > order.startPosition ? order[position - 1].sequence : nil
    }

    // MARK: In their chains

    subscript(links slot: UInt32, name: ChainName) -> Chain.Links {
        @inline(__always) get { name == .ofKind ? self[slot].ofKind : self[slot].ofArchive }
        @inline(__always) set {
            if name == .ofKind {
                self[slot].ofKind = newValue
            } else {
                self[slot].ofArchive = newValue
            }
        }
    }

    /// Puts a row into a chain by its number.
    ///
    /// One with a lower number than the last finds its place from the end.
    mutating func insert(_ slot: UInt32, into chain: inout Chain, _ name: ChainName) {
        let sequence = self[slot].notification.sequence
        var previous = chain.last
        // Bound: few
        while previous != Chain.none, self[previous].notification.sequence > sequence {
            previous = self[links: previous, name].previous
        }
        insert(slot, behind: previous, in: &chain, name)
    }

    /// The row that follows another one in a chain.
    func next(after slot: UInt32, in name: ChainName) -> UInt32 { self[links: slot, name].next }
}
