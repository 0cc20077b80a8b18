/// Slots in the order of serial numbers: the observers of one filter, or the clients of a center.
///
/// A removal leaves a dead entry, and the list is compacted when half of it is dead, so that adding
/// and removing n entries costs O(n log n) in all and never moves the whole list for one.
struct PostingList: Footprinted, Sendable {
    /// One entry: the serial number orders it, the slot identifies the observer or client.
    struct Entry: Blockless, Sendable {
        let serial: UInt64
        var slot: UInt32

        var isDead: Bool { slot == PostingList.deadSlot }
    }

    private static let deadSlot = UInt32.max

    /// The entries in rising order of serial, dead ones among them.
    private(set) var entries: [Entry] = []
    private var deadCount = 0

    /// The living entries, in rising order of serial: a removed one is dead, and has no slot.
    var living: LazyFilterSequence<[Entry]> { entries.lazy.filter { !$0.isDead } }

    /// The bytes that the list costs.
    var footprint: Int { entries.footprint }

    /// How many entries are alive.
    var count: Int { entries.count - deadCount }
    var isEmpty: Bool { entries.count == deadCount }

    /// Appends the slots of all entries that are alive, in rising order of serial.
    func appendSlots(to slots: inout [UInt32]) {
        guard count > 0 else { return }
        slots.append(addingCapacity: count) { (output: inout OutputSpan<UInt32>) in
            for index in entries.indices where !entries[index].isDead {  // Bound: observers
                output.append(entries[index].slot)
            }
        }
    }

    /// Appends all entries that are alive, in rising order of serial.
    func appendLiving(to entries: inout [Entry]) {
        // Bound: observers
        for index in self.entries.indices where !self.entries[index].isDead {
            entries.append(self.entries[index])
        }
    }

    /// Adds a slot whose serial number is above all others.
    mutating func append(serial: UInt64, slot: UInt32) {
        precondition(entries.last.map { $0.serial < serial } ?? true, "serials rise")
        entries.append(Entry(serial: serial, slot: slot))
    }

    /// The slot of a serial number.
    func slot(of serial: UInt64) -> UInt32? {
        let position = position(from: serial)
        guard position < entries.count, entries[position].serial == serial,
            !entries[position].isDead
        else { return nil }
        return entries[position].slot
    }

    /// Removes the entry with this serial number, which must be there.
    mutating func remove(serial: UInt64) {
        let position = position(from: serial)
        precondition(
            position < entries.count && entries[position].serial == serial
                && !entries[position].isDead, "an entry that is removed must be there")
        entries[position].slot = Self.deadSlot
        deadCount += 1
        if isEmpty {
            // A list that mostly has one entry keeps room for it.
            entries.removeAll(keepingCapacity: entries.capacity <= 4)
            deadCount = 0
        } else if deadCount > 8, deadCount * 2 > entries.count {
            // A new array: a list that was long once must not keep its storage.
            entries = entries.filter { !$0.isDead }
            deadCount = 0
        }
    }

    /// The position of the first entry whose serial number is above the given one.
    func position(after serial: UInt64) -> Int {
        serial == UInt64.max ? entries.count : position(from: serial + 1)
    }

    /// The position of the first entry whose serial number is not below the given one.
    func position(from serial: UInt64) -> Int {
        // Most look-ups are for the last entry, or for one behind it.
        guard let last = entries.last, last.serial <= serial else {
            return entries.indices.firstPlace { entries[$0].serial >= serial }
        }
        return last.serial < serial ? entries.count : entries.count - 1
    }
}

extension PostingList.Entry: Coded {
    init(_ known: PostingList.Entry?, by coder: inout some Coder) throws(CodeError) {
        serial = try coder(known?.serial)
        slot = try coder(known?.slot)
    }
}

extension PostingList: Coded {
    init(_ known: PostingList?, by coder: inout some Coder) throws(CodeError) {
        entries = try coder(known?.entries)
        deadCount = try coder(known?.deadCount)
    }
}
