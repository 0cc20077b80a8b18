/// For each mode the queue entries that may be posted in it (rules Q15, Q17).
///
/// An entry stands in the list of each of its modes, `common` among them, so only the lists of
/// the current mode and of `common` are ever looked at: entries of other modes cost nothing, and
/// another mode is entered in one step. What is taken out of one list is dead in the others, and
/// each list is compacted when most of it is dead. Entries are known by the numbers of their slots.
struct ModeLists: Sendable {
    /// An entry in the list of a mode; it is dead unless the slot still has its stamp.
    private struct Item: Comparable, Sendable {
        let place: UInt64
        let stamp: UInt64
        let slot: UInt32

        static func < (left: Item, right: Item) -> Bool {
            (left.place, left.slot) < (right.place, right.slot)
        }
    }

    private struct List: Sendable {
        var asap: [Item] = []
        var asapCount = 0
        var idle = Heap<Item>()
        var idleCount = 0
        /// How often the mode is kept in the table though no entry may name it.
        var pinCount = 0

        var entryCount: Int { asapCount + idleCount }
    }

    /// Where the entry in a slot stands.
    private struct Listing: Sendable {
        /// 0 for a slot that is in no list.
        var stamp: UInt64 = 0
        var isIdle = false
        var firstMode: UInt32 = 0
        /// Empty for nearly all entries.
        var otherModes: [UInt32] = []
    }

    private var modes: KeyTable
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

    /// The bytes that the lists cost: an entry stands in one list as a rule.
    func footprint(entryCount: Int) -> Int {
        modes.footprint + lists.count * MemoryLayout<List>.stride
            + listings.count * MemoryLayout<Listing>.stride
            + max(entryCount, mentionCount) * MemoryLayout<Item>.stride
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
    var hasAsap: Bool {
        let (current, common) = readyModes
        if lists[Int(current)].asapCount > 0 { return true }
        return common.map { lists[Int($0)].asapCount > 0 } ?? false
    }

    /// Whether an idle entry may be posted now.
    var hasIdle: Bool {
        let (current, common) = readyModes
        if lists[Int(current)].idleCount > 0 { return true }
        return common.map { lists[Int($0)].idleCount > 0 } ?? false
    }

    /// The slots of all asap entries that may be posted now, in the order of their places.
    func readyAsap() -> [UInt32] {
        let (current, common) = readyModes
        var items = lists[Int(current)].asap.filter { isAlive($0) }
        if let common { items += lists[Int(common)].asap.filter { isAlive($0) } }
        items.sort()
        var slots: [UInt32] = []
        slots.reserveCapacity(items.count)
        // An entry that names both modes comes twice, one behind the other.
        for item in items where slots.last != item.slot { slots.append(item.slot) }
        return slots
    }

    /// The slot of the first idle entry that may be posted now.
    mutating func firstReadyIdle() -> UInt32? {
        let (current, common) = readyModes
        let first = firstIdle(of: current)
        guard let common, let other = firstIdle(of: common) else { return first?.slot }
        guard let first else { return other.slot }
        return min(first, other).slot
    }

    private mutating func firstIdle(of mode: UInt32) -> Item? {
        while let first = lists[Int(mode)].idle.first {
            if isAlive(first) { return first }
            lists[Int(mode)].idle.removeFirst()
        }
        return nil
    }

    private func isAlive(_ item: Item) -> Bool { listings[Int(item.slot)].stamp == item.stamp }

    /// Another mode is the current one from now on.
    mutating func enter(mode: [UInt8]) {
        let old = current
        current = pin(mode)
        unpin(old)
        isCurrentCommon = commonModes.contains(mode)
    }

    /// `common` stands for other modes from now on.
    mutating func setCommonModes(_ common: [[UInt8]]) {
        commonModes = common
        isCurrentCommon = common.contains(modes.key(at: current))
    }

    /// How many of these modes no entry names yet; they must be different ones.
    ///
    /// There is always room for the default mode: a post that says nothing of modes is not refused
    /// for the modes of others.
    func newModeCount(in names: [[UInt8]]) -> Int {
        var count = 0
        for name in names where name != Mode.default {
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
        while listings.count <= Int(slot) { listings.append(Listing()) }
        lastStamp += 1
        let item = Item(place: place, stamp: lastStamp, slot: slot)
        var listing = Listing(stamp: lastStamp, isIdle: isIdle)
        for (position, name) in names.enumerated() {
            let mode = add(item, isIdle: isIdle, to: name)
            if position == 0 { listing.firstMode = mode } else { listing.otherModes.append(mode) }
        }
        precondition(!names.isEmpty, "an entry has a mode")
        listings[Int(slot)] = listing
    }

    /// Removes the entry in a slot from all lists.
    mutating func remove(_ slot: UInt32) {
        var listing = Listing()
        swap(&listing, &listings[Int(slot)])
        precondition(listing.stamp != 0, "an entry that is removed must be there")
        removeOne(from: listing.firstMode, isIdle: listing.isIdle)
        for mode in listing.otherModes { removeOne(from: mode, isIdle: listing.isIdle) }
    }

    private mutating func add(_ item: Item, isIdle: Bool, to name: [UInt8]) -> UInt32 {
        let mode = number(of: name)
        if lists[Int(mode)].entryCount == 0 { modeCount += 1 }
        mentionCount += 1
        if isIdle {
            lists[Int(mode)].idle.insert(item)
            lists[Int(mode)].idleCount += 1
        } else {
            lists[Int(mode)].asap.append(item)
            lists[Int(mode)].asapCount += 1
        }
        return mode
    }

    private mutating func removeOne(from mode: UInt32, isIdle: Bool) {
        let place = Int(mode)
        mentionCount -= 1
        if isIdle {
            lists[place].idleCount -= 1
            if Self.isSparse(lists[place].idle.count, living: lists[place].idleCount) {
                lists[place].idle.keep { listings[Int($0.slot)].stamp == $0.stamp }
            }
        } else {
            lists[place].asapCount -= 1
            if Self.isSparse(lists[place].asap.count, living: lists[place].asapCount) {
                lists[place].asap = lists[place].asap.filter { isAlive($0) }
            }
        }
        if lists[place].entryCount == 0 {
            modeCount -= 1
            removeUnused(mode)
        }
    }

    private static func isSparse(_ count: Int, living: Int) -> Bool { count > 2 * living + 16 }

    /// How many modes are known: those that entries name, the current one, and `common`.
    var knownModeCount: Int { modes.count }

    /// How many items all lists have, dead ones among them.
    var itemCount: Int { lists.reduce(0) { $0 + $1.asap.count + $1.idle.count } }

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
        lists[Int(mode)] = List()
        modes.remove(at: mode)
    }
}
