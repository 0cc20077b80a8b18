/// The asks that are open, in slots that are used again.
struct AskTable: Footprinted, Sendable {
    /// The slots; a free one has ``OpenAsk/none``.
    var slots: [OpenAsk] = []
    private var freeSlots: [UInt32] = []
    /// All slots in the order of asking.
    private(set) var order = PostingList()
    private(set) var lastOrdinal: UInt64 = 0
    /// The work that is left for the end of the command.
    var sequel = AskSequel()
    /// The asks that were announced to the store as soon to be shown, in that order.
    private var announced: [Announced] = []
    private(set) var announcementCount: UInt64 = 0
    private var positions: PositionTable
    /// The unanswered asks of each observer, in the order of sequence numbers.
    ///
    /// An emptied list stays until its observer is removed.
    private var shown: [UInt64: [UInt32]] = [:]
    /// The indexes of the asks that wait for a responder.
    private(set) var waiting = WaitingAsks()
    /// The open asks of each asker.
    var askers = AskerTable()
    /// Bytes of userInfo, names, objects and defaults.
    private(set) var byteCount = 0
    /// The number of asks that wait for a responder.
    var heldCount: Int { waiting.count }
    /// The number of observers that were shown asks, without the first of each.
    private var passedCount = 0
    /// The bytes of open asks, by owner.
    var owned = OwnedMemory()

    /// An ask, if it is still in its slot.
    struct Orphan: Sendable {
        let slot: UInt32
        let ordinal: UInt64
    }

    /// An ask that was announced to the store, with the number of the announcement.
    fileprivate struct Announced: Sendable {
        let number: UInt64
        let slot: UInt32
        let ordinal: UInt64
    }

    init(seed: HashSeed) {
        positions = PositionTable(seed: seed)
    }

    /// How many are open.
    var count: Int { order.count }

    /// The bytes that the table costs.
    var footprint: Int {
        Footprint.texts(count: 2 * count, byteCount: byteCount)
            + count * Self.askByteCount + positions.footprint
            + heldCount * WaitingAsks.placeByteCount + passedCount * Self.shownByteCount
    }

    /// The memory that each ask takes beyond its texts.
    private static let askByteCount = MemoryLayout<OpenAsk>.stride + listByteCount

    /// The part of it in lists: its places in the order and at an observer, its path, its waiters.
    private static let listByteCount = 256

    /// The memory of one more observer that was shown it.
    private static let shownByteCount = 2 * MemoryLayout<UInt64>.stride

    /// An ask in place: it is large, and mostly one part of it is read.
    subscript(slot: UInt32) -> OpenAsk {
        @inline(__always) _read { yield slots[Int(slot)] }
    }

    /// The slot of an ask, by its identifier.
    func slot(of id: NotificationID) -> UInt32? {
        guard count > 0 else { return nil }
        return positions.position(of: id) { Self.id(at: $0, of: slots) }.map { UInt32($0) }
    }

    private static func id(at position: UInt64, of slots: [OpenAsk]) -> NotificationID {
        slots[Int(position)].id
    }

    /// Whether a slot still has the ask with this ordinal.
    func isOpen(_ slot: UInt32, ordinal: UInt64) -> Bool {
        Int(slot) < slots.count && slots[Int(slot)].ordinal == ordinal
    }

    /// The asks of an asker that are open, or waited for by a key, in the order of asking.
    func slots(of asker: Asker) -> [UInt32] { askers[asker] }

    /// Adds an ask, which has no place in the order yet, and returns its slot.
    ///
    /// The limit of the asker is checked first: waiting for others would not help it.
    mutating func add(
        _ ask: consuming OpenAsk, limit: Int, askerLimit: Int
    ) throws(Refusal) -> UInt32 {
        let id = ask.id
        let slot = freeSlots.last ?? UInt32(slots.count)
        guard askers.append(slot, of: ask.asker) <= askerLimit else {
            leave(ask.asker, slot)
            throw .tooManyAsks(limit: askerLimit)
        }
        guard count < limit else {
            leave(ask.asker, slot)
            throw .asksFull(limit: limit)
        }
        _ = freeSlots.popLast()
        lastOrdinal += 1
        ask.ordinal = lastOrdinal
        byteCount += ask.byteCount
        passedCount += ask.passedCount
        count(ask, 1)
        order.append(serial: lastOrdinal, slot: slot)
        if Int(slot) == slots.count { slots.append(.none) }
        swap(&ask, &slots[Int(slot)])
        let slots = slots
        positions.insert(id, at: UInt64(slot)) { Self.id(at: $0, of: slots) }
        return slot
    }

    /// Stops counting an ask for an asker.
    mutating func leave(_ asker: Asker, _ slot: UInt32) {
        askers.leave(slot, of: asker, openCount: count)
    }

    /// Removes an ask, which is neither shown nor held any more.
    mutating func take(_ slot: UInt32) -> OpenAsk {
        var ask = OpenAsk.none
        leaveRepeaters(of: slot)
        swap(&ask, &slots[Int(slot)])
        precondition(ask.state == .walking, "it stands in no list")
        positions.remove(ask.id, at: UInt64(slot))
        order.remove(serial: ask.ordinal)
        byteCount -= ask.byteCount
        passedCount -= ask.passedCount
        count(ask, -1)
        leave(ask.asker, slot)
        freeSlots.append(slot)
        // A table that was large once gives its storage back.
        if order.isEmpty, slots.count > 64 { (slots, freeSlots) = ([], []) }
        return ask
    }

    /// Adds an ask to the memory of its owner, or subtracts a removed one with -1.
    private mutating func count(_ ask: borrowing OpenAsk, _ sign: Int) {
        let cost =
            Footprint.texts(count: 2, byteCount: ask.byteCount) + Self.askByteCount
            + ask.passedCount * Self.shownByteCount
        owned.add(sign * ask.byteCount, cost: sign * cost, of: .asks, for: ask.owner)
    }

    /// Assigns the owners of stored asks.
    mutating func assignOwners(_ ownerOf: (_ principal: [UInt8]) -> Owner) {
        for entry in order.living {  // Bound: start
            slots[Int(entry.slot)].owner = ownerOf(self[entry.slot].principal)
            count(self[entry.slot], 1)
        }
    }

    /// Starts the walk of an ask at an address.
    mutating func begin(_ slot: UInt32, at address: [UInt8]) {
        slots[Int(slot)].path = [address]
        slots[Int(slot)].saw = []
    }

    /// Notes the progress of the walk of an ask.
    mutating func note(_ walk: Walk, of slot: UInt32) {
        if walk.path.count > slots[Int(slot)].path.count { slots[Int(slot)].path = walk.path }
        slots[Int(slot)].saw = walk.saw
    }

    // MARK: Those that walk again

    /// Lets an ask walk again: it lost its responder, or another one may take it from its address.
    mutating func orphan(_ slot: UInt32) {
        sequel.add(Orphan(slot: slot, ordinal: self[slot].ordinal))
    }

    /// Lets an ask walk again that has lost its responder, or the one that it waited for.
    mutating func takeBackAsOrphan(_ slot: UInt32) {
        takeBack(slot)
        orphan(slot)
    }

    /// Lets the asks that wait for an observer walk again.
    mutating func orphanHeld(for observer: UInt64) {
        for slot in held(for: observer) { takeBackAsOrphan(slot) }  // Bound: asks
    }

    // MARK: Lists

    /// Shows a walking ask to an observer.
    mutating func show(_ slot: UInt32, to observer: UInt64, sequence: UInt64, at time: Int64) {
        if slots[Int(slot)].show(to: observer, sequence: sequence, at: time) {
            passedCount += 1
            owned.add(0, cost: Self.shownByteCount, of: .asks, for: self[slot].owner)
        }
        shown[observer, default: []].append(slot)
    }

    /// Lets a walking ask wait for an observer.
    mutating func hold(_ slot: UInt32, for observer: UInt64) {
        slots[Int(slot)].state = .held(observer: observer)
        slots[Int(slot)].announcement = slots[Int(slot)].isStored ? .none : .stored
        file(slot)
    }

    /// Adds a waiting ask to the indexes.
    mutating func file(_ slot: UInt32) {
        let ask = self[slot]
        guard ask.isHeld else { return }
        waiting.add(
            WaitingAsks.Place(slot: slot, ordinal: ask.ordinal), at: ask.placesOfWaiting,
            ask.content.selector, for: ask.state.observer)
    }

    /// Removes a waiting ask from the indexes.
    private mutating func unfile(_ slot: UInt32) {
        let ask = self[slot]
        waiting.remove(
            WaitingAsks.Place(slot: slot, ordinal: ask.ordinal), at: ask.placesOfWaiting,
            ask.content.selector, for: ask.state.observer)
    }

    /// Announces to the store that a waiting ask is shown; returns the number of the announcement.
    mutating func announce(_ slot: UInt32) -> UInt64 {
        announcementCount += 1
        slots[Int(slot)].announcement = .told(announcementCount)
        announced.append(
            Announced(number: announcementCount, slot: slot, ordinal: self[slot].ordinal))
        return announcementCount
    }

    /// Takes the waiting asks whose announcements are stored up to a number, in their order.
    mutating func takeAnnounced(through number: UInt64) -> [UInt32] {
        let count = announced.prefix { $0.number <= number }.count
        let taken = announced.prefix(count).filter {
            isOpen($0.slot, ordinal: $0.ordinal)
                && self[$0.slot].announcement == .told($0.number)
        }
        announced.removeFirst(count)
        for entry in taken { slots[Int(entry.slot)].announcement = .stored }  // Bound: asks
        return taken.map(\.slot)
    }

    /// Lets an ask walk again: it is neither shown nor held.
    mutating func takeBack(_ slot: UInt32) {
        switch self[slot].state {
        case .walking: return
        case .held, .waiting:
            unfile(slot)
            // The store has at most the observer that it has waited for (rule R20).
            slots[Int(slot)].announcement = self[slot].isStored ? .none : .stored
        case .shown(let observer, let sequence):
            guard let list = shown.index(forKey: observer) else { break }
            let place = Self.place(in: shown.values[list], above: sequence - 1, of: slots)
            shown.values[list].remove(at: place)
            // A list that was long once gives its storage back.
            if shown.values[list].isEmpty, shown.values[list].capacity > 64 {
                shown.remove(at: list)
            }
        }
        slots[Int(slot)].state = .walking
    }

    /// Removes an observer without an open ask.
    mutating func forget(_ observer: UInt64) {
        if !shown.isEmpty { shown[observer] = nil }
    }

    /// Notes that an ask on a stream that has ended may be delivered again.
    mutating func noteRedelivery(_ slot: UInt32) { slots[Int(slot)].isRedelivered = true }

    /// The unanswered asks of an observer, in the order of sequence numbers.
    func shown(to observer: UInt64) -> [UInt32] { shown[observer] ?? [] }

    /// The number of unanswered asks of an observer.
    func shownCount(to observer: UInt64) -> Int { shown[observer]?.count ?? 0 }

    /// The first of them above a sequence number.
    func firstShown(to observer: UInt64, above sequence: UInt64) -> UInt32? {
        guard let list = shown[observer] else { return nil }
        let place = Self.place(in: list, above: sequence, of: slots)
        return place < list.count ? list[place] : nil
    }

    /// The place in a list; an instance method would copy the whole table.
    private static func place(
        in list: [UInt32], above sequence: UInt64, of slots: [OpenAsk]
    ) -> Int {
        list.indices.firstPlace { slots[Int(list[$0])].sequence > sequence }
    }

    /// The asks that wait for an observer, in the order of asking.
    func held(for observer: UInt64) -> [UInt32] { waiting.of(observer) }

    /// The selectors of the asks that wait at an address, as far as they are among some.
    func selectorsHeld(at address: [UInt8], among implemented: [[UInt8]]) -> [[UInt8]] {
        waiting.selectors(at: address, among: implemented)
    }

    /// The asks that wait at an address with a selector, in the order of asking.
    func held(at address: [UInt8], _ selector: [UInt8]) -> [WaitingAsks.Place] {
        waiting.at(address, selector)
    }

    /// The ask that an observer was shown with this sequence number.
    func shown(to observer: UInt64, sequence: UInt64) -> UInt32? {
        guard sequence > 0, let slot = firstShown(to: observer, above: sequence - 1),
            slots[Int(slot)].sequence == sequence
        else { return nil }
        return slot
    }
}

extension AskTable.Orphan: Coded {
    init(_ known: AskTable.Orphan?, by coder: inout some Coder) throws(CodeError) {
        slot = try coder(known?.slot)
        ordinal = try coder(known?.ordinal)
    }
}

extension AskTable.Announced: Coded {
    init(_ known: AskTable.Announced?, by coder: inout some Coder) throws(CodeError) {
        number = try coder(known?.number)
        slot = try coder(known?.slot)
        ordinal = try coder(known?.ordinal)
    }
}

extension AskTable: Coded {
    init(_ known: AskTable?, by coder: inout some Coder) throws(CodeError) {
        slots = try coder(known?.slots)
        freeSlots = try coder(known?.freeSlots)
        order = try coder(known?.order)
        lastOrdinal = try coder(known?.lastOrdinal)
        sequel = AskSequel(orphans: try coder(known?.sequel.orphans))
        announced = try coder(known?.announced)
        announcementCount = try coder(known?.announcementCount)
        // Whether an empty list is left for an observer depends on its storage, and has no meaning.
        shown = try coder.table(known?.shown.filter { !$0.value.isEmpty })
        // The places of the waiting asks follow from their states.
        let _: [[UInt8]: [UInt32]] = try coder.table(known?.heldByAddress)
        askers = try coder(known?.askers)
        byteCount = try coder(known?.byteCount)
        let _: Int = try coder(known?.heldCount)
        owned = try coder(known?.owned)
        positions = known?.positions ?? PositionTable(seed: coder.seed)
        waiting = known?.waiting ?? WaitingAsks()
        guard coder.isReading else { return }
        let taken = order.living.map { UInt64($0.slot) }
        positions.insert(all: taken) { slots[Int($0)].id }
        for entry in order.living { restore(entry.slot) }  // Bound: snapshot
    }

    /// Adds an ask of a snapshot to the indexes.
    private mutating func restore(_ slot: UInt32) {
        file(slot)
        let ask = self[slot]
        passedCount += ask.passedCount
        _ = askers.append(slot, of: ask.asker)
        for waiter in ask.waiters.all.dropFirst() {  // Bound: snapshot
            _ = askers.append(slot, of: ask.asker(of: waiter))
        }
    }

    /// The asks that wait at each address, as a snapshot has them.
    private var heldByAddress: [[UInt8]: [UInt32]] {
        var held: [[UInt8]: [UInt32]] = [:]
        for entry in order.living where self[entry.slot].isHeld {  // Bound: snapshot
            held[self[entry.slot].target, default: []].append(entry.slot)
        }
        return held
    }
}
