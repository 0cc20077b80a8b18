/// All clients of a center, in slots that are used again; their numbers never are.
struct ClientTable: Sendable {
    /// One client.
    struct Client: Sendable {
        let id: UInt64
        let transport: Transport
        let connection: ConnectionName
        let sessionHash: SecretHash
        let principal: [UInt8]
        let connectedAt: Int64
        var observerCount = 0
        /// The observer that it registered last.
        var lastObserver = ObserverTable.noSlot
    }

    private var slots: [Client] = []
    private var freeSlots: [UInt32] = []
    /// All clients in the order of their numbers.
    private(set) var order = PostingList()

    var count: Int { order.count }

    subscript(slot: UInt32) -> Client { slots[Int(slot)] }

    func slot(of id: UInt64) -> UInt32? { order.slot(of: id) }

    /// Where a client's notifications go.
    func route(at slot: UInt32) -> (connection: UInt64, transport: Transport) {
        (slots[Int(slot)].connection.number, slots[Int(slot)].transport)
    }

    mutating func add(_ registration: ClientRegistration, at time: Int64) {
        let client = Client(
            id: registration.id, transport: registration.transport,
            connection: registration.connection, sessionHash: registration.sessionHash,
            principal: registration.principal, connectedAt: time)
        let slot: UInt32
        if let free = freeSlots.popLast() {
            slot = free
            slots[Int(slot)] = client
        } else {
            slot = UInt32(slots.count)
            slots.append(client)
        }
        order.append(serial: client.id, slot: slot)
    }

    mutating func remove(_ slot: UInt32) {
        order.remove(serial: slots[Int(slot)].id)
        freeSlots.append(slot)
    }

    /// Notes that a client registered an observer.
    mutating func noteObserver(_ observer: UInt32, at slot: UInt32) {
        slots[Int(slot)].observerCount += 1
        slots[Int(slot)].lastObserver = observer
    }

    /// Notes that an observer of a client was removed.
    mutating func noteRemoval(of observer: UInt32, before previous: UInt32, at slot: UInt32) {
        slots[Int(slot)].observerCount -= 1
        if slots[Int(slot)].lastObserver == observer { slots[Int(slot)].lastObserver = previous }
    }
}
