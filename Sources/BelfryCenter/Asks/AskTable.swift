/// The asks that are open, in slots that are used again.
struct AskTable: Sendable {
    /// An asker: the open asks of each are limited.
    enum Asker: Hashable, Sendable {
        case client(UInt64)
        case principal([UInt8])
    }

    private var slots: [OpenAsk?] = []
    private var freeSlots: [UInt32] = []
    /// All slots in the order of asking.
    private(set) var order = PostingList()
    private(set) var lastOrdinal: UInt64 = 0
    /// The asks that have lost their responders; they walk again at the end of the command.
    private(set) var orphans: [(slot: UInt32, ordinal: UInt64)] = []
    private var positions: PositionTable
    /// What each observer was shown and has not answered, in the order of sequence numbers.
    private var shown: [UInt64: [UInt32]] = [:]
    /// What waits at each address, in the order of asking.
    private var held: [[UInt8]: [UInt32]] = [:]
    private var counts: [Asker: Int] = [:]
    /// Bytes of userInfo, names, objects and defaults.
    private(set) var byteCount = 0
    /// How many wait for somebody.
    private(set) var heldCount = 0

    init(seed: HashSeed) {
        positions = PositionTable(seed: seed)
    }

    /// How many are open.
    var count: Int { order.count }

    /// The bytes that the table costs.
    var footprint: Int {
        Footprint.texts(count: 2 * count, byteCount: byteCount)
            + count * (MemoryLayout<OpenAsk?>.stride + Self.listByteCount) + positions.footprint
    }

    /// What an ask costs in lists besides: a place in the order, one of an observer or an address, its path and
    /// who waits for it.
    private static let listByteCount = 256

    subscript(slot: UInt32) -> OpenAsk {
        get {
            guard let ask = slots[Int(slot)] else { preconditionFailure("an ask that is open") }
            return ask
        }
        set { slots[Int(slot)] = newValue }
    }

    /// The slot of an ask, by its identifier.
    func slot(of id: NotificationID) -> UInt32? {
        guard count > 0 else { return nil }
        return positions.position(of: id) { Self.id(at: $0, of: slots) }.map { UInt32($0) }
    }

    private static func id(at position: UInt64, of slots: [OpenAsk?]) -> NotificationID {
        slots[Int(position)]?.id ?? NotificationID(high: 0, low: 0)
    }

    /// Whether a slot still has the ask with this ordinal.
    func isOpen(_ slot: UInt32, ordinal: UInt64) -> Bool {
        Int(slot) < slots.count && slots[Int(slot)]?.ordinal == ordinal
    }

    // An ask is large: these look at one part of it where it lies.

    /// The place of an ask in the order of asking.
    func ordinal(of slot: UInt32) -> UInt64 { slots[Int(slot)]?.ordinal ?? 0 }

    /// Whether an ask waits for somebody.
    func isHeld(_ slot: UInt32) -> Bool { slots[Int(slot)]?.isHeld ?? false }

    /// Whether an ask waits for this observer.
    func isHeld(_ slot: UInt32, for observer: UInt64) -> Bool {
        slots[Int(slot)]?.state == .held(observer: observer)
    }

    /// How many asks of an asker are open.
    func count(of asker: Asker) -> Int { counts[asker] ?? 0 }

    /// Adds an ask, which has no place in the order yet, and tells its slot.
    mutating func add(_ ask: consuming OpenAsk) -> UInt32 {
        lastOrdinal += 1
        ask.ordinal = lastOrdinal
        let slot = freeSlots.popLast() ?? UInt32(slots.count)
        let (id, asker) = (ask.id, ask.asker)
        byteCount += ask.byteCount
        counts[asker, default: 0] += 1
        order.append(serial: lastOrdinal, slot: slot)
        if Int(slot) == slots.count { slots.append(ask) } else { slots[Int(slot)] = ask }
        let slots = slots
        positions.insert(id, at: UInt64(slot)) { Self.id(at: $0, of: slots) }
        return slot
    }

    /// Takes an ask out, which is neither shown nor held any more.
    mutating func remove(_ slot: UInt32) {
        let ask = self[slot]
        precondition(ask.state == .walking, "it stands in no list")
        positions.remove(ask.id, at: UInt64(slot))
        order.remove(serial: ask.ordinal)
        byteCount -= ask.byteCount
        let asker = ask.asker
        counts[asker] = counts[asker].flatMap { $0 > 1 ? $0 - 1 : nil }
        slots[Int(slot)] = nil
        freeSlots.append(slot)
        // A table that was large once gives its storage back.
        if order.isEmpty, slots.count > 64 { (slots, freeSlots) = ([], []) }
    }

    /// The walk of an ask starts at an address.
    mutating func begin(_ slot: UInt32, at address: [UInt8]) {
        slots[Int(slot)]?.path = [address]
        slots[Int(slot)]?.sawBusy = false
        slots[Int(slot)]?.sawSuspended = false
    }

    /// Notes how far the walk of an ask has come.
    mutating func note(_ walk: Walk, of slot: UInt32) {
        slots[Int(slot)]?.path = walk.path
        slots[Int(slot)]?.sawBusy = walk.sawBusy
        slots[Int(slot)]?.sawSuspended = walk.sawSuspended
    }

    /// Nobody waits for an ask any more, which is open.
    mutating func forgetWaiters(of slot: UInt32) { slots[Int(slot)]?.waiters = [] }

    /// A later command with the same key waits for the same answer; tells whether the ask is open.
    mutating func join(_ id: NotificationID, _ command: CommandID) -> Bool {
        guard let slot = slot(of: id), let key = self[slot].key else { return false }
        slots[Int(slot)]?.waiters.append((command, key.form))
        return true
    }

    // MARK: Those that walk again

    /// An ask that is walking has lost its responder.
    mutating func orphan(_ slot: UInt32) {
        orphans.append((slot, self[slot].ordinal))
    }

    /// Takes those that have lost their responders, in the order of asking.
    mutating func takeOrphans() -> [(slot: UInt32, ordinal: UInt64)] {
        var taken: [(slot: UInt32, ordinal: UInt64)] = []
        swap(&taken, &orphans)
        return taken.sorted { $0.ordinal < $1.ordinal }
    }

    // MARK: Lists

    /// An ask that is walking is shown to an observer.
    mutating func show(_ slot: UInt32, to observer: UInt64, sequence: UInt64, at time: Int64) {
        let wasShown = self[slot].shown.contains(observer)
        slots[Int(slot)]?.state = .shown(observer: observer, sequence: sequence)
        slots[Int(slot)]?.shownAt = time
        slots[Int(slot)]?.isRedelivered = wasShown
        if !wasShown { slots[Int(slot)]?.shown.append(observer) }
        shown[observer, default: []].append(slot)
    }

    /// An ask that is walking waits for an observer.
    mutating func hold(_ slot: UInt32, for observer: UInt64) {
        let ask = self[slot]
        var waiting = held.removeValue(forKey: ask.target) ?? []
        // What was shown before comes back to its place in the order of asking.
        var place = waiting.count
        while place > 0, ordinal(of: waiting[place - 1]) > ask.ordinal { place -= 1 }
        waiting.insert(slot, at: place)
        held[ask.target] = waiting
        heldCount += 1
        slots[Int(slot)]?.state = .held(observer: observer)
    }

    /// An ask is walking again: it is neither shown nor held.
    mutating func takeBack(_ slot: UInt32) {
        let ask = self[slot]
        switch ask.state {
        case .walking: return
        case .held:
            Self.remove(slot, of: ask.target, from: &held)
            heldCount -= 1
        case .shown(let observer, _): Self.remove(slot, of: observer, from: &shown)
        }
        slots[Int(slot)]?.state = .walking
    }

    private static func remove<Key>(
        _ slot: UInt32, of key: Key, from lists: inout [Key: [UInt32]]
    ) {
        guard var list = lists.removeValue(forKey: key) else { return }
        list.removeAll { $0 == slot }
        if !list.isEmpty { lists[key] = list }
    }

    /// What an observer was sent by a stream that has ended may come again.
    mutating func noteRedelivery(_ slot: UInt32) { slots[Int(slot)]?.isRedelivered = true }

    /// What an observer was shown and has not answered, in the order of sequence numbers.
    func shown(to observer: UInt64) -> [UInt32] { shown[observer] ?? [] }

    /// How many they are.
    func shownCount(to observer: UInt64) -> Int { shown[observer]?.count ?? 0 }

    /// The first of them above a sequence number.
    func firstShown(to observer: UInt64, above sequence: UInt64) -> UInt32? {
        guard let slots = shown[observer] else { return nil }
        let place = slots.indices.firstPlace { self.sequence(of: slots[$0]) > sequence }
        return place < slots.count ? slots[place] : nil
    }

    /// The number with which an ask was shown; 0 if it is not.
    func sequence(of slot: UInt32) -> UInt64 {
        if case .shown(_, let sequence) = slots[Int(slot)]?.state { sequence } else { 0 }
    }

    /// What waits at an address, in the order of asking.
    func held(at address: [UInt8]) -> [UInt32] { held[address] ?? [] }

    /// The ask that an observer was shown with this sequence number.
    func shown(to observer: UInt64, sequence: UInt64) -> UInt32? {
        guard sequence > 0, let slot = firstShown(to: observer, above: sequence - 1),
            self.sequence(of: slot) == sequence
        else { return nil }
        return slot
    }

    /// Adds all that can be seen of the asks now or later.
    func addDigest(to digest: inout StateDigest) {
        digest.add(count)
        digest.add(lastOrdinal)
        for entry in order.entries where !entry.isDead {
            let ask = self[entry.slot]
            digest.add(ask.id)
            digest.add(ask.ordinal)
            digest.add(ask.endsAt)
            digest.add(ask.isStored)
            digest.add(ask.principal)
            digest.add(ask.client ?? 0)
            digest.add(ask.waiters.count)
            digest.add(ask.path.count)
            for address in ask.path { digest.add(address) }
            digest.add(ask.sawBusy)
            digest.add(ask.sawSuspended)
            digest.add(ask.shown.count)
            for serial in ask.shown { digest.add(serial) }
            switch ask.state {
            case .walking: digest.add(0)
            case .held(let observer):
                digest.add(1)
                digest.add(observer)
            case .shown(let observer, let sequence):
                digest.add(2)
                digest.add(observer)
                digest.add(sequence)
            }
        }
    }
}

extension OpenAsk {
    /// Who has asked.
    var asker: AskTable.Asker { client.map { .client($0) } ?? .principal(principal) }
}
