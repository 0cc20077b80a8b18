/// For each mode the queue entries that may be posted in it (rules Q15, Q17).
///
/// An entry is in the list of each of its modes, `common` among them, so only the lists of the
/// current mode and of `common` are ever searched: entries of other modes cost nothing, and another
/// mode is entered in one step. An entry removed from one list is dead in the others, and each list
/// is compacted when most of it is dead. A slot number identifies an entry.
struct ModeLists: Sendable {
    /// An entry in the list of a mode; it is dead unless the slot still has its stamp.
    fileprivate struct Item: Comparable, Sendable {
        let place: UInt64
        let stamp: UInt64
        let slot: UInt32

        static func < (left: Item, right: Item) -> Bool {
            (left.place, left.slot) < (right.place, right.slot)
        }
    }

    fileprivate struct List: Sendable {
        var asap = Row()
        var idle = Row()
        /// How often the mode is kept in the table though no entry may name it.
        var pinCount = 0

        var entryCount: Int { asap.entryCount + idle.entryCount }

        subscript(isIdle isIdle: Bool) -> Row {
            _read { if isIdle { yield idle } else { yield asap } }
            _modify { if isIdle { yield &idle } else { yield &asap } }
        }
    }

    /// The entries of one mode and style, the first in the order of their places at its front.
    fileprivate struct Row: Sendable {
        var items = Heap<Item>()
        /// How many of the items are alive.
        var entryCount = 0

        /// The bytes of the items, dead ones among them.
        var footprint: Int {
            Footprint.array(of: items.count, stride: MemoryLayout<Item>.stride)
        }

        var isSparse: Bool { items.count > 2 * entryCount + 16 }
    }

    /// The lists that the entry in a slot is in.
    fileprivate struct Listing: Sendable {
        /// 0 for a slot that is in no list.
        var stamp: UInt64 = 0
        var isIdle = false
        var firstMode: UInt32 = 0
        /// Empty for nearly all entries.
        var otherModes: [UInt32] = []

        var footprint: Int {
            Footprint.array(of: otherModes.count, stride: MemoryLayout<UInt32>.stride)
        }
    }

    private(set) var modes: KeyTable
    /// By the number of the mode.
    private var lists: [List] = []
    /// By slot.
    private var listings: [Listing] = []
    private var lastStamp: UInt64 = 0
    private var current: UInt32 = 0
    private var common: UInt32 = 0
    private var commonModes: [[UInt8]]
    private var isCurrentCommon = false
    /// How many different modes the entries name.
    private(set) var modeCount = 0
    /// How many modes the entries name, each counted for each entry.
    private(set) var mentionCount = 0
    /// The bytes of the listings besides their places.
    private var listingByteCount = 0
    /// The bytes of the items of all lists.
    private var itemByteCount = 0

    /// The bytes that the lists cost.
    var footprint: Int {
        modes.footprint + lists.count * MemoryLayout<List>.stride
            + Footprint.list(
                count: listings.count, capacity: listings.capacity,
                stride: MemoryLayout<Listing>.stride) + listingByteCount + itemByteCount
    }

    init(seed: HashSeed, commonModes: [[UInt8]]) {
        modes = KeyTable(seed: seed)
        self.commonModes = commonModes
        current = pin(Mode.default)
        common = pin(Mode.common)
        isCurrentCommon = commonModes.contains(Mode.default)
    }

    /// The lists that count in the current mode.
    private var readyModes: (UInt32, UInt32?) {
        (current, isCurrentCommon && common != current ? common : nil)
    }

    /// Whether an asap entry may be posted now.
    var hasAsap: Bool { hasReady(isIdle: false) }

    /// Whether an idle entry may be posted now.
    var hasIdle: Bool { hasReady(isIdle: true) }

    private func hasReady(isIdle: Bool) -> Bool {
        let (current, common) = readyModes
        if entryCount(of: current, isIdle: isIdle) > 0 { return true }
        return common.map { entryCount(of: $0, isIdle: isIdle) > 0 } ?? false
    }

    /// Counts entries in the one row: the subscript would copy all of it.
    private func entryCount(of mode: UInt32, isIdle: Bool) -> Int {
        isIdle ? lists[Int(mode)].idle.entryCount : lists[Int(mode)].asap.entryCount
    }

    /// The slot of the first asap or idle entry that may be posted now.
    mutating func firstReady(isIdle: Bool) -> UInt32? {
        let (current, common) = readyModes
        let first = first(of: current, isIdle: isIdle)
        guard let common, let other = self.first(of: common, isIdle: isIdle) else {
            return first?.slot
        }
        guard let first else { return other.slot }
        return min(first, other).slot
    }

    private mutating func first(of mode: UInt32, isIdle: Bool) -> Item? {
        while let first = lists[Int(mode)][isIdle: isIdle].items.first {  // Bound: stale
            if isAlive(first) { return first }
            change(mode, isIdle: isIdle) { _ = $0.items.removeFirst() }
        }
        return nil
    }

    private func isAlive(_ item: Item) -> Bool { listings[Int(item.slot)].stamp == item.stamp }

    /// Makes another mode the current one.
    mutating func enter(mode: [UInt8]) {
        let old = current
        current = pin(mode)
        unpin(old)
        isCurrentCommon = commonModes.contains(mode)
    }

    /// Replaces the modes that `common` stands for.
    mutating func setCommonModes(_ common: [[UInt8]]) {
        commonModes = common
        isCurrentCommon = common.contains(modes.key(at: current))
    }

    /// How many of these modes no entry names yet; they must be different ones.
    ///
    /// The default mode always has room: modes of other posts never refuse a post that names none.
    func newModeCount(in names: [[UInt8]]) -> Int {
        var count = 0
        for name in names where name != Mode.default {  // Bound: modes
            let mode = modes.index(of: name.span)
            if mode.map({ lists[Int($0)].entryCount == 0 }) ?? true { count += 1 }
        }
        return count
    }
}

// MARK: - Adding and removing

extension ModeLists {
    /// Adds the entry in a slot to the lists of its modes, which must be different ones.
    mutating func insert(_ slot: UInt32, place: UInt64, isIdle: Bool, modes names: [[UInt8]]) {
        while listings.count <= Int(slot) { listings.append(Listing()) }  // Bound: growth
        lastStamp += 1
        let item = Item(place: place, stamp: lastStamp, slot: slot)
        var listing = Listing(stamp: lastStamp, isIdle: isIdle)
        if names.count > 1 { listing.otherModes.reserveCapacity(names.count - 1) }
        for (position, name) in names.enumerated() {  // Bound: modes
            let mode = add(item, isIdle: isIdle, to: name)
            if position == 0 { listing.firstMode = mode } else { listing.otherModes.append(mode) }
        }
        precondition(!names.isEmpty, "an entry has a mode")
        listingByteCount += listing.footprint
        listings[Int(slot)] = listing
    }

    /// Replaces names by those in the table of modes, so that all entries of a mode share its name.
    ///
    /// An entry of one mode, mostly the default, is left as it is.
    func shared(_ names: [[UInt8]]) -> [[UInt8]] {
        if names.count < 2 { return names }
        return names.map { name in modes.index(of: name.span).map { modes.key(at: $0) } ?? name }
    }

    /// Removes the entry in a slot from all lists.
    mutating func remove(_ slot: UInt32) {
        var listing = Listing()
        swap(&listing, &listings[Int(slot)])
        precondition(listing.stamp != 0, "an entry that is removed must be there")
        listingByteCount -= listing.footprint
        removeOne(from: listing.firstMode, isIdle: listing.isIdle)
        // Bound: modes
        for mode in listing.otherModes { removeOne(from: mode, isIdle: listing.isIdle) }
    }

    private mutating func add(_ item: Item, isIdle: Bool, to name: [UInt8]) -> UInt32 {
        let mode = number(of: name)
        if lists[Int(mode)].entryCount == 0 { modeCount += 1 }
        mentionCount += 1
        change(mode, isIdle: isIdle) { row in
            row.items.insert(item)
            row.entryCount += 1
        }
        return mode
    }

    private mutating func removeOne(from mode: UInt32, isIdle: Bool) {
        let place = Int(mode)
        mentionCount -= 1
        lists[place][isIdle: isIdle].entryCount -= 1
        if lists[place][isIdle: isIdle].isSparse {
            change(mode, isIdle: isIdle) { [listings] row in
                row.items.keep { listings[Int($0.slot)].stamp == $0.stamp }
            }
        }
        if lists[place].entryCount == 0 {
            modeCount -= 1
            removeUnused(mode)
        }
    }

    /// Changes a row in place, and counts its memory.
    private mutating func change(_ mode: UInt32, isIdle: Bool, _ change: (inout Row) -> Void) {
        itemByteCount -= lists[Int(mode)][isIdle: isIdle].footprint
        change(&lists[Int(mode)][isIdle: isIdle])
        itemByteCount += lists[Int(mode)][isIdle: isIdle].footprint
    }

    /// How many items all lists have, dead ones among them.
    var itemCount: Int { lists.reduce(0) { $0 + $1.asap.items.count + $1.idle.items.count } }

    private mutating func number(of name: [UInt8]) -> UInt32 {
        let mode = modes.insert(name.span).index
        if Int(mode) == lists.count { lists.append(List()) }
        return mode
    }

    private mutating func pin(_ name: [UInt8]) -> UInt32 {
        let mode = number(of: name)
        lists[Int(mode)].pinCount += 1
        return mode
    }

    private mutating func unpin(_ mode: UInt32) {
        lists[Int(mode)].pinCount -= 1
        removeUnused(mode)
    }

    private mutating func removeUnused(_ mode: UInt32) {
        guard lists[Int(mode)].entryCount == 0, lists[Int(mode)].pinCount == 0 else { return }
        itemByteCount -= lists[Int(mode)].asap.footprint + lists[Int(mode)].idle.footprint
        lists[Int(mode)] = List()
        modes.remove(at: mode)
    }
}

extension ModeLists.Item: Coded {
    init(_ known: ModeLists.Item?, by coder: inout some Coder) throws(CodeError) {
        place = try coder(known?.place)
        stamp = try coder(known?.stamp)
        slot = try coder(known?.slot)
    }
}

extension ModeLists.List: Coded {
    init(_ known: ModeLists.List?, by coder: inout some Coder) throws(CodeError) {
        asap = try coder(known?.asap)
        idle = try coder(known?.idle)
        pinCount = try coder(known?.pinCount)
    }
}

extension ModeLists.Row: Coded {
    init(_ known: ModeLists.Row?, by coder: inout some Coder) throws(CodeError) {
        items = try coder(known?.items)
        entryCount = try coder(known?.entryCount)
    }
}

extension ModeLists.Listing: Coded {
    init(_ known: ModeLists.Listing?, by coder: inout some Coder) throws(CodeError) {
        stamp = try coder(known?.stamp)
        isIdle = try coder(known?.isIdle)
        firstMode = try coder(known?.firstMode)
        otherModes = try coder(known?.otherModes)
    }
}

extension ModeLists: Coded {
    init(_ known: ModeLists?, by coder: inout some Coder) throws(CodeError) {
        modes = try coder(known?.modes)
        lists = try coder(known?.lists)
        listings = try coder(known?.listings)
        lastStamp = try coder(known?.lastStamp)
        current = try coder(known?.current)
        common = try coder(known?.common)
        commonModes = try coder(known?.commonModes)
        isCurrentCommon = try coder(known?.isCurrentCommon)
        modeCount = try coder(known?.modeCount)
        mentionCount = try coder(known?.mentionCount)
        listingByteCount = listings.reduce(0) { $0 + $1.footprint }
        itemByteCount = lists.reduce(0) { $0 + $1.asap.footprint + $1.idle.footprint }
    }
}
