/// The storage of held notifications: each once, with small entries for its holders.
///
/// An entry is in three lists at once: that of its client (waiting, or sent and not yet
/// acknowledged), that of its observer, and that of its notification. So a flush, a removal and a
/// trim each walk only the entries that they remove.
struct HeldTable: Footprinted, Sendable {
    /// The value for no entry and no notification.
    static let none = UInt32.max

    /// A notification that has a holder.
    struct Kept: Sendable {
        var notification: Notification
        /// The entries of its holders.
        var holders = List()
        /// The number of holders that the store has.
        var storedCount = 0
        /// Its neighbours in the order of sequence numbers.
        var previous = HeldTable.none
        var next = HeldTable.none
    }

    /// One notification held for one observer.
    struct Entry: Sendable {
        /// The slot of the observer.
        let observer: UInt32
        /// The slot of the notification.
        let notification: UInt32
        /// Its count in the receipt.
        var account: Account
        var flags: Flags
        fileprivate var links = (Links(), Links(), Links())
    }

    /// The count of an entry in the receipt of its notification.
    enum Account: UInt8, Sendable {
        /// No count: it was counted before, in this life or an earlier one.
        case none
        case held
        case coalesced
        case delivered
    }

    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8

        /// The entry was sent, and its observer has not answered.
        static let unacknowledged = Flags(rawValue: 1)
        /// The entry may have been delivered before.
        static let redelivered = Flags(rawValue: 2)
        /// A poster waits for the acknowledgement of the entry.
        static let awaited = Flags(rawValue: 4)
        /// The store has the entry.
        static let stored = Flags(rawValue: 8)
        /// A reader of the mailbox was sent the entry.
        static let shown = Flags(rawValue: 16)
        /// The entry came out of the replay ring: the limit of its observer does not count it.
        static let replayed = Flags(rawValue: 32)
        /// A later entry of its name and object may replace it (rule D6, `minInterval`).
        static let replaceable = Flags(rawValue: 64)
        /// The entry is an action: ``NotificationCenter/heldActions`` has the rest of it.
        static let action = Flags(rawValue: 128)
    }

    /// A list of entries: first and last, and how many.
    struct List: Sendable {
        var first = HeldTable.none
        var last = HeldTable.none
        var count = 0

        var isEmpty: Bool { count == 0 }
    }

    /// One of the three lists of an entry.
    enum Chain: Sendable {
        case client
        case observer
        case notification
    }

    fileprivate struct Links: Sendable {
        var previous = HeldTable.none
        var next = HeldTable.none
    }

    private var entries: [Entry] = []
    private var freeEntries: [UInt32] = []
    private var kept: [Kept?] = []
    private var freeKept: [UInt32] = []
    /// The notifications with the lowest and the highest sequence number.
    private(set) var oldest = none
    private(set) var newest = none
    /// Bytes of name, object and userInfo that are kept.
    private(set) var byteCount = 0
    /// How many notifications are kept.
    private(set) var notificationCount = 0
    /// How many entries there are.
    var entryCount: Int { entries.count - freeEntries.count }

    /// The bytes that the table costs.
    var footprint: Int {
        Footprint.texts(count: notificationCount, byteCount: byteCount)
            + notificationCount * MemoryLayout<Kept?>.stride
            + entryCount * MemoryLayout<Entry>.stride
    }

    subscript(entry: UInt32) -> Entry {
        _read { yield entries[Int(entry)] }
        _modify { yield &entries[Int(entry)] }
    }

    /// The notification of an entry.
    func notification(of entry: UInt32) -> Notification {
        notification(at: entries[Int(entry)].notification)
    }

    /// The notification that is kept in a slot.
    func notification(at slot: UInt32) -> Notification {
        guard let kept = kept[Int(slot)] else { preconditionFailure("it is kept while it is held") }
        return kept.notification
    }

    /// The sequence number of an entry's notification.
    func sequence(of entry: UInt32) -> UInt64 {
        kept[Int(entries[Int(entry)].notification)]?.notification.sequence ?? 0
    }

    /// The bytes of an entry's notification.
    func byteCount(of entry: UInt32) -> Int {
        kept[Int(entries[Int(entry)].notification)]?.notification.content.byteCount ?? 0
    }

    /// The bytes that an entry costs, about, as the only holder of its notification.
    func cost(of entry: UInt32) -> Int {
        Footprint.texts(count: 1, byteCount: byteCount(of: entry)) + MemoryLayout<Kept?>.stride
            + MemoryLayout<Entry>.stride
    }

    /// Whether the store has a notification.
    func isStored(at slot: UInt32) -> Bool { (kept[Int(slot)]?.storedCount ?? 0) > 0 }

    /// Counts one more holder that the store has.
    mutating func noteStored(at slot: UInt32) { kept[Int(slot)]?.storedCount += 1 }

    /// Counts one holder less that the store has.
    mutating func noteReleased(at slot: UInt32) { kept[Int(slot)]?.storedCount -= 1 }

    /// The entries of a notification's holders.
    func holders(at slot: UInt32) -> List { kept[Int(slot)]?.holders ?? List() }

    /// The notification that is kept in a slot, if one is.
    func keptNotification(at slot: UInt32) -> Notification? {
        Int(slot) < kept.count ? kept[Int(slot)]?.notification : nil
    }

    /// The neighbour of a kept notification with the next higher sequence number.
    func next(after slot: UInt32) -> UInt32 { kept[Int(slot)]?.next ?? Self.none }

    /// Whether a notification takes the place of an entry: the entry is of the same kind.
    func isReplaceable(_ entry: UInt32, by content: Notification.Content) -> Bool {
        entry != Self.none && self[entry].flags.contains(.replaceable)
            && notification(of: entry).content.isSameKind(as: content)
    }

    // MARK: Notifications

    /// Keeps a notification; its sequence number is mostly the highest.
    ///
    /// - Parameter later: a kept one whose number is higher, if there is one nearby.
    mutating func keep(_ notification: Notification, before later: UInt32 = none) -> UInt32 {
        let slot = freeKept.popLast() ?? UInt32(kept.count)
        var previous = later == Self.none ? newest : self.previous(before: later)
        // A notification out of the replay ring has its place among older ones.
        while previous != Self.none,  // Bound: kept
            self.notification(at: previous).sequence > notification.sequence
        {
            previous = kept[Int(previous)]?.previous ?? Self.none
        }
        let next = previous == Self.none ? oldest : kept[Int(previous)]?.next ?? Self.none
        let entry = Kept(notification: notification, previous: previous, next: next)
        if Int(slot) == kept.count { kept.append(entry) } else { kept[Int(slot)] = entry }
        if previous == Self.none { oldest = slot } else { kept[Int(previous)]?.next = slot }
        if next == Self.none { newest = slot } else { kept[Int(next)]?.previous = slot }
        byteCount += notification.content.byteCount
        notificationCount += 1
        return slot
    }

    /// The neighbour of a kept notification with the next lower sequence number.
    func previous(before slot: UInt32) -> UInt32 { kept[Int(slot)]?.previous ?? Self.none }

    /// Removes a notification that has no holder.
    mutating func discard(_ slot: UInt32) {
        guard let gone = kept[Int(slot)] else { return }
        precondition(gone.holders.isEmpty, "somebody holds it")
        if gone.previous == Self.none {
            oldest = gone.next
        } else {
            kept[Int(gone.previous)]?.next = gone.next
        }
        if gone.next == Self.none {
            newest = gone.previous
        } else {
            kept[Int(gone.next)]?.previous = gone.previous
        }
        byteCount -= gone.notification.content.byteCount
        notificationCount -= 1
        kept[Int(slot)] = nil
        freeKept.append(slot)
        // Tables that were large once give their storage back.
        if notificationCount == 0, entryCount == 0, kept.count > 64 { self = HeldTable() }
    }

    // MARK: Entries

    /// Makes an entry in the list of its notification; the caller puts it into the others.
    mutating func make(_ entry: Entry) -> UInt32 {
        let slot = freeEntries.popLast() ?? UInt32(entries.count)
        if Int(slot) == entries.count { entries.append(entry) } else { entries[Int(slot)] = entry }
        var holders = List()
        swapHolders(&holders, at: entry.notification)
        append(slot, to: &holders, in: .notification)
        swapHolders(&holders, at: entry.notification)
        return slot
    }

    /// Frees an entry that is in no other list; returns whether it was the last holder.
    mutating func free(_ slot: UInt32) -> Bool {
        let notification = entries[Int(slot)].notification
        var holders = List()
        swapHolders(&holders, at: notification)
        remove(slot, from: &holders, in: .notification)
        let isLast = holders.isEmpty
        swapHolders(&holders, at: notification)
        freeEntries.append(slot)
        return isLast
    }

    private mutating func swapHolders(_ list: inout List, at slot: UInt32) {
        Self.swapHolders(&list, of: &kept[Int(slot)])
    }

    /// Changes the list in place: taking the element out would copy the notification.
    private static func swapHolders(_ list: inout List, of keeper: inout Kept?) {
        guard let holders = keeper?.holders else {
            preconditionFailure("it is kept while it is held")
        }
        keeper?.holders = list
        list = holders
    }

    // MARK: Lists

    /// The entry behind another one.
    func next(after slot: UInt32, in chain: Chain) -> UInt32 { links(slot, chain).next }

    /// The entry before another one.
    func previous(before slot: UInt32, in chain: Chain) -> UInt32 { links(slot, chain).previous }

    /// Puts an entry at the end of a list.
    mutating func append(_ slot: UInt32, to list: inout List, in chain: Chain) {
        setLinks(slot, chain, Links(previous: list.last, next: Self.none))
        if list.last == Self.none {
            list.first = slot
        } else {
            var links = links(list.last, chain)
            links.next = slot
            setLinks(list.last, chain, links)
        }
        list.last = slot
        list.count += 1
    }

    /// Removes an entry from a list.
    mutating func remove(_ slot: UInt32, from list: inout List, in chain: Chain) {
        let gone = links(slot, chain)
        if gone.previous == Self.none {
            list.first = gone.next
        } else {
            var links = links(gone.previous, chain)
            links.next = gone.next
            setLinks(gone.previous, chain, links)
        }
        if gone.next == Self.none {
            list.last = gone.previous
        } else {
            var links = links(gone.next, chain)
            links.previous = gone.previous
            setLinks(gone.next, chain, links)
        }
        list.count -= 1
    }

    /// All entries of a list, first to last.
    func slots(of list: List, in chain: Chain) -> [UInt32] {
        var slots: [UInt32] = []
        slots.reserveCapacity(list.count)
        var slot = list.first
        while slot != Self.none {  // Bound: list, client, ends
            slots.append(slot)
            slot = links(slot, chain).next
        }
        return slots
    }

    /// Makes a list of entries that were in others.
    mutating func relink(_ slots: [UInt32], in chain: Chain) -> List {
        var list = List()
        for slot in slots { append(slot, to: &list, in: chain) }  // Bound: client
        return list
    }

    private func links(_ slot: UInt32, _ chain: Chain) -> Links {
        switch chain {
        case .client: entries[Int(slot)].links.0
        case .observer: entries[Int(slot)].links.1
        case .notification: entries[Int(slot)].links.2
        }
    }

    private mutating func setLinks(_ slot: UInt32, _ chain: Chain, _ links: Links) {
        switch chain {
        case .client: entries[Int(slot)].links.0 = links
        case .observer: entries[Int(slot)].links.1 = links
        case .notification: entries[Int(slot)].links.2 = links
        }
    }
}

extension HeldTable.Entry {
    init(
        observer: UInt32, notification: UInt32, account: HeldTable.Account,
        flags: HeldTable.Flags = []
    ) {
        self.observer = observer
        self.notification = notification
        self.account = account
        self.flags = flags
        links = (HeldTable.Links(), HeldTable.Links(), HeldTable.Links())
    }
}

extension HeldTable.Kept: Coded {
    init(_ known: HeldTable.Kept?, by coder: inout some Coder) throws(CodeError) {
        notification = try coder(known?.notification)
        holders = try coder(known?.holders)
        storedCount = try coder(known?.storedCount)
        previous = try coder(known?.previous)
        next = try coder(known?.next)
    }
}

extension HeldTable.Entry: Coded {
    init(_ known: HeldTable.Entry?, by coder: inout some Coder) throws(CodeError) {
        observer = try coder(known?.observer)
        notification = try coder(known?.notification)
        account = try coder(known?.account)
        flags = try coder(known?.flags)
        links.0 = try coder(known?.links.0)
        links.1 = try coder(known?.links.1)
        links.2 = try coder(known?.links.2)
    }
}

extension HeldTable.Account: Coded {}
extension HeldTable.Flags: Coded {}

extension HeldTable.List: Coded {
    init(_ known: HeldTable.List?, by coder: inout some Coder) throws(CodeError) {
        first = try coder(known?.first)
        last = try coder(known?.last)
        count = try coder(known?.count)
    }
}

extension HeldTable.Links: Coded {
    init(_ known: HeldTable.Links?, by coder: inout some Coder) throws(CodeError) {
        previous = try coder(known?.previous)
        next = try coder(known?.next)
    }
}

extension HeldTable: Coded {
    init(_ known: HeldTable?, by coder: inout some Coder) throws(CodeError) {
        entries = try coder(known?.entries)
        freeEntries = try coder(known?.freeEntries)
        kept = try coder(known?.kept)
        freeKept = try coder(known?.freeKept)
        oldest = try coder(known?.oldest)
        newest = try coder(known?.newest)
        byteCount = try coder(known?.byteCount)
        notificationCount = try coder(known?.notificationCount)
    }
}
