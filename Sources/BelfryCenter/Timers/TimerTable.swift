import BelfryBytes

/// The timers of a center, apart from the queue: they cost nothing until they are due (rule L9).
///
/// A timer is found by its time, by its identifier, by name and object, and by its client; each
/// search costs no more among a million timers than among a thousand.
struct TimerTable: Footprinted, Sendable {
    private var slots: [Timer?] = []
    private var freeSlots: [UInt32] = []
    private(set) var order = TimerOrder()
    private var kinds: KindTable
    private var positions: PositionTable
    /// The additional data of repeating timers, by slot.
    private var repetitions: [UInt32: Timer.Repetition] = [:]
    /// The timers of each client; no set is empty.
    private var ofClient: [UInt64: Set<UInt32>] = [:]
    private(set) var lastOrdinal: UInt64 = 0
    /// The bytes of name, object and userInfo of all timers.
    private(set) var byteCount = 0
    /// The numbers of farewells, and of those whose delay runs.
    private(set) var farewellCount = 0
    private(set) var goingCount = 0
    /// The number of timers whose due post may have been posted in an earlier life of the broker.
    private(set) var restoredCount = 0
    /// The numbers of firings that were made, and of those that were due and not made.
    var firedCount: UInt64 = 0
    var missedCount: UInt64 = 0
    /// The bytes of the details of all timers.
    private var detailsByteCount = 0
    /// The memory of the timers, by owner.
    var owned = OwnedMemory()

    init(seed: HashSeed) {
        kinds = KindTable(seed: seed)
        positions = PositionTable(seed: seed)
    }

    /// How many there are.
    var count: Int { order.count }

    /// The bytes that the table costs.
    var footprint: Int {
        Footprint.texts(count: count, byteCount: byteCount)
            + Footprint.list(
                count: slots.count, capacity: slots.capacity, stride: MemoryLayout<Timer?>.stride)
            + freeSlots.footprint + order.footprint + kinds.footprint + positions.footprint
            + detailsByteCount
            + Footprint.dictionary(
                capacity: repetitions.capacity,
                stride: MemoryLayout<UInt32>.stride + MemoryLayout<Timer.Repetition>.stride)
            + ofClient.count * Self.clientByteCount
    }

    /// The bytes that a timer costs in all tables, without its texts.
    static let timerByteCount = 256
    /// The bytes that a list of a client's timers costs, about.
    private static let clientByteCount = 96

    /// The next event of any timer, on the clock of timers; `Int64.max` is never.
    var nextDue: Int64 { order.first?.due ?? .max }

    subscript(slot: UInt32) -> Timer {
        guard let timer = slots[Int(slot)] else { preconditionFailure("a timer that is there") }
        return timer
    }

    /// The timer of a post, if it waits.
    func slot(of id: NotificationID) -> UInt32? {
        guard count > 0 else { return nil }
        return positions.position(of: id) { Self.id(in: slots[Int($0)]) }.map { UInt32($0) }
    }

    private static func id(in timer: Timer?) -> NotificationID {
        timer?.id ?? NotificationID(high: 0, low: 0)
    }

    /// The data of a repeating timer; nil for others.
    func repetition(at slot: UInt32) -> Timer.Repetition? {
        repetitions.isEmpty ? nil : repetitions[slot]
    }

    /// The timers that end with a client and its farewells, in the order of their making.
    func slots(ofClient client: UInt64) -> [UInt32] {
        ofClient.isEmpty ? [] : ofClient[client].map(inOrder) ?? []
    }

    /// Some timers in the order of their making.
    private func inOrder(_ slots: Set<UInt32>) -> [UInt32] {
        slots.map { (ordinal: self[$0].ordinal, slot: $0) }
            .sorted { $0.ordinal < $1.ordinal }.map(\.slot)
    }

    /// Whether a timer is in the list of a client.
    func isListed(_ slot: UInt32, ofClient client: UInt64) -> Bool {
        ofClient[client]?.contains(slot) ?? false
    }

    /// How many farewells a client has.
    func farewellCount(of client: UInt64) -> Int {
        slots(ofClient: client).count { self[$0].isFarewell }
    }

    /// The timers that are equal in what a mask names, and may be touched, in due order.
    func slots(
        similarTo name: Span<UInt8>?, _ object: Span<UInt8>?, mask: Coalescing, scope: PostScope
    ) -> [UInt32] {
        guard count > 0 else { return [] }
        // A closure copies its captures: that should not be the whole table.
        let slots = slots
        let similar = kinds.slots(similarTo: name, object, mask: mask) { slot in
            if case .everything = scope { return true }
            return slots[Int(slot)].map { scope.allows($0.content) } ?? false
        }
        if similar.count < 2 { return similar }
        return similar.map { self[$0].item(at: $0) }.sorted().map(\.slot)
    }

    /// Adds a timer, and returns its slot.
    ///
    /// - Parameter client: The client in whose list it is.
    @discardableResult
    mutating func add(
        _ timer: Timer, _ repetition: Timer.Repetition? = nil, ofClient client: UInt64? = nil
    ) -> UInt32 {
        lastOrdinal = max(lastOrdinal, timer.ordinal)
        let slot = freeSlots.popLast() ?? UInt32(slots.count)
        if Int(slot) == slots.count { slots.append(timer) } else { slots[Int(slot)] = timer }
        byteCount += timer.content.byteCount
        detailsByteCount += timer.details.footprint
        count(timer, 1)
        kinds.insert(timer.content, at: slot)
        positions.insert(timer.id, at: UInt64(slot)) { Self.id(in: slots[Int($0)]) }
        order.insert(timer.item(at: slot))
        if let repetition { repetitions[slot] = repetition }
        if let client { ofClient[client, default: []].insert(slot) }
        if timer.isRestored { restoredCount += 1 }
        if timer.isFarewell { farewellCount += 1 }
        if timer.isFarewell, timer.due != .max { goingCount += 1 }
        return slot
    }

    /// Adds a timer to the memory of its owner, or subtracts a removed one with -1.
    private mutating func count(_ timer: Timer, _ sign: Int) {
        owned.add(
            sign * timer.content.byteCount, cost: sign * timer.cost, of: .timers, for: timer.owner)
    }

    /// Whether there is a timer in a slot.
    func has(_ slot: UInt32) -> Bool { Int(slot) < slots.count && slots[Int(slot)] != nil }

    /// Removes a timer.
    mutating func remove(_ slot: UInt32) -> Timer {
        let timer = self[slot]
        order.remove(timer.item(at: slot))
        positions.remove(timer.id, at: UInt64(slot))
        kinds.remove(at: slot)
        byteCount -= timer.content.byteCount
        detailsByteCount -= timer.details.footprint
        count(timer, -1)
        if !repetitions.isEmpty { repetitions[slot] = nil }
        if let client = timer.details?.client { leave(client, slot) }
        if timer.isRestored { restoredCount -= 1 }
        if timer.isFarewell { farewellCount -= 1 }
        if timer.isFarewell, timer.due != .max { goingCount -= 1 }
        slots[Int(slot)] = nil
        freeSlots.append(slot)
        // A table that was large once gives its storage back.
        if count == 0, slots.count > 64 { (slots, freeSlots) = ([], []) }
        return timer
    }

    /// Removes a timer from the list of a client.
    mutating func leave(_ client: UInt64, _ slot: UInt32) {
        guard let place = ofClient.index(forKey: client) else { return }
        ofClient.values[place].remove(slot)
        if ofClient.values[place].isEmpty { ofClient.remove(at: place) }
    }

    /// Moves a timer to another due time.
    mutating func move(_ slot: UInt32, due: Int64, dueAt: Int64) {
        guard var timer = slots[Int(slot)] else { return }
        order.remove(timer.item(at: slot))
        if timer.isFarewell { goingCount += (due != .max ? 1 : 0) - (timer.due != .max ? 1 : 0) }
        timer.due = due
        timer.dueAt = dueAt
        slots[Int(slot)] = timer
        order.insert(timer.item(at: slot))
    }

    /// Moves a repeating timer to its next firing, which has another identifier.
    mutating func goOn(_ slot: UInt32, _ repetition: Timer.Repetition) {
        repetitions[slot] = repetition
        if slots[Int(slot)]?.isRestored == true {
            restoredCount -= 1
            slots[Int(slot)]?.isRestored = false
        }
        move(slot, due: min(repetition.due, repetition.endsAt), dueAt: repetition.dueAt)
    }

    /// Adds all that can be observed of the timers now or later.
    func addDigest(to digest: inout StateDigest) {
        digest.add(count)
        digest.add(lastOrdinal)
        digest.add(firedCount)
        digest.add(missedCount)
        order.forEach { item in
            add(self[item.slot], repetition(at: item.slot), to: &digest)
            return true
        }
    }

    private func add(
        _ timer: Timer, _ repetition: Timer.Repetition?, to digest: inout StateDigest
    ) {
        digest.add(timer.id)
        digest.add(timer.content)
        digest.add(timer.isRestored)
        digest.add(Int(timer.depth))
        digest.add(timer.ordinal)
        digest.add(timer.due)
        digest.add(timer.dueAt)
        digest.add(timer.postedAt)
        digest.add(timer.details?.client ?? 0)
        digest.add(timer.details?.farewell?.delay ?? -1)
        digest.add(timer.details?.farewell?.principal.name)
        guard let repetition else { return }
        digest.add(repetition.start)
        digest.add(repetition.period)
        digest.add(repetition.endsAt)
        digest.add(repetition.next)
        digest.add(repetition.fired)
        digest.add(repetition.lastMade.map { $0 + 1 } ?? 0)
        digest.add(repetition.missed)
    }
}

extension TimerTable: Coded {
    init(_ known: TimerTable?, by coder: inout some Coder) throws(CodeError) {
        slots = try coder(known?.slots)
        freeSlots = try coder(known?.freeSlots)
        order = try coder(known?.order)
        kinds = try coder(known?.kinds)
        repetitions = try coder.table(known?.repetitions)
        ofClient = try coder.table(
            known.map { known in known.ofClient.mapValues { known.inOrder($0) } }
        ).mapValues(Set.init)
        lastOrdinal = try coder(known?.lastOrdinal)
        byteCount = try coder(known?.byteCount)
        farewellCount = try coder(known?.farewellCount)
        goingCount = try coder(known?.goingCount)
        restoredCount = try coder(known?.restoredCount)
        firedCount = try coder(known?.firedCount)
        missedCount = try coder(known?.missedCount)
        owned = try coder(known?.owned)
        positions = known?.positions ?? PositionTable(seed: coder.seed)
        guard coder.isReading else { return }
        detailsByteCount = slots.reduce(0) { $0 + ($1?.details.footprint ?? 0) }
        let taken = slots.indices.lazy.filter { [slots] in slots[$0] != nil }.map { UInt64($0) }
        positions.insert(all: taken) { Self.id(in: slots[Int($0)]) }
    }
}
