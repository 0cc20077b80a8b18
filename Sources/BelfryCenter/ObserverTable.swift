/// All observers of a center, in slots that are used again; serial numbers never are (rule O5).
struct ObserverTable: Sendable {
    /// One registration.
    struct Observer: Sendable {
        let serial: UInt64
        let tokenHash: SecretHash
        /// The slot of its client.
        let client: UInt32
        /// Where its filter is filed.
        let place: ObserverIndex.Place
        let selector: UInt32
        /// It gets what has a greater sequence number (rule C10).
        let since: UInt64
        let createdAt: Int64
        var delivered: UInt64 = 0
        var lastDeliveredAt = Int64.min
        /// Its neighbours among the observers of its client.
        var previousOfClient = noSlot
        var nextOfClient = noSlot
    }

    static let noSlot = UInt32.max

    private var slots: [Observer] = []
    private var freeSlots: [UInt32] = []
    /// All observers in registration order.
    private(set) var order = PostingList()

    var count: Int { order.count }

    subscript(slot: UInt32) -> Observer { slots[Int(slot)] }

    func slot(of serial: UInt64) -> UInt32? { order.slot(of: serial) }

    /// The slot that the next observer will have.
    func reserveSlot() -> UInt32 { freeSlots.last ?? UInt32(slots.count) }

    /// Puts an observer into the reserved slot, behind the last one of its client.
    mutating func fill(_ slot: UInt32, with observer: Observer, after previous: UInt32) {
        var observer = observer
        observer.previousOfClient = previous
        if freeSlots.popLast() == nil {
            slots.append(observer)
        } else {
            slots[Int(slot)] = observer
        }
        if previous != Self.noSlot { slots[Int(previous)].nextOfClient = slot }
        order.append(serial: observer.serial, slot: slot)
    }

    /// Counts a delivery, and tells the slot of the client.
    mutating func noteDelivery(at slot: UInt32, _ time: Int64) -> UInt32 {
        slots[Int(slot)].delivered += 1
        slots[Int(slot)].lastDeliveredAt = time
        return slots[Int(slot)].client
    }

    /// Frees a slot.
    mutating func remove(_ slot: UInt32) {
        let observer = slots[Int(slot)]
        if observer.previousOfClient != Self.noSlot {
            slots[Int(observer.previousOfClient)].nextOfClient = observer.nextOfClient
        }
        if observer.nextOfClient != Self.noSlot {
            slots[Int(observer.nextOfClient)].previousOfClient = observer.previousOfClient
        }
        order.remove(serial: observer.serial)
        freeSlots.append(slot)
    }

    /// The slots of one client's observers in registration order, given the last of them.
    func slots(from last: UInt32) -> [UInt32] {
        var result: [UInt32] = []
        var slot = last
        while slot != Self.noSlot {
            result.append(slot)
            slot = slots[Int(slot)].previousOfClient
        }
        result.reverse()
        return result
    }
}
