/// All clients of a center, in slots that are used again; their numbers never are.
struct ClientTable: Footprinted, Sendable {
    /// One client.
    struct Client: Sendable {
        let id: UInt64
        var connection: ConnectionName
        /// Why it gets nothing at once; empty for a client that is live and has nothing held.
        var suspension: Suspension = []
        let transport: Transport
        /// The owner that its observers and what is held for it count for.
        var owner = Owner.none
        let sessionHash: SecretHash
        let principal: [UInt8]
        let connectedAt: Int64
        var observerCount = 0
        /// The observer that it registered last.
        var lastObserver = ObserverTable.noSlot
        /// Since when it is in its state, in milliseconds since 1970.
        var stateSince: Int64
        /// When its connection ended, in monotonic nanoseconds.
        var disconnectedSince: Int64 = 0
        /// What waits to be written, in the order of sequence numbers.
        var held = HeldTable.List()
        /// What was written and must be acknowledged, in the order in which it was written.
        var unacknowledged = HeldTable.List()
        /// Bytes of what waits, each notification counted for each observer.
        var heldByteCount = 0
        /// Bytes of what must be acknowledged, counted in the same way.
        var unacknowledgedByteCount = 0
        /// In spite of suspension on request, what has no higher number is written (rule D8).
        var immediateSequence: UInt64 = 0
        /// It has asked for suspension since it was last told what it lost: what it was written meanwhile, in spite of
        /// that, says nothing of its losses.
        var wasAsked = false
        /// What the store was told of that.
        var storedImmediateSequence: UInt64 = 0
        /// Observers, farewells and entries of values that last longer than a connection.
        var lastingCount = 0
        /// Observers that owe as many acknowledgements as they may.
        var owingCount = 0
        /// Whether all of its observers together owe as much as they may.
        var owesTooMuch = false
        /// Whether the store has it as one that was away, or whose mailbox nobody looked into.
        var isStoredAway = false
        /// Losses that were not told yet.
        var gapCount = 0
        /// Readers that wait at its mailbox.
        var readerCount = 0
        /// The time of its next look at leases; an older heap entry of it means nothing.
        var leaseCheckAt = Int64.max

        /// Whether the store keeps it.
        var isLasting: Bool { lastingCount > 0 }

        /// The state that is told.
        var state: ClientState {
            (suspension.contains(.flushing) ? suspension.union(.slow) : suspension).state
        }
    }

    /// Why a client gets nothing at once: several can hold (law 5).
    struct Suspension: OptionSet, Sendable {
        let rawValue: UInt8

        /// It asked for it.
        static let asked = Suspension(rawValue: 1)
        /// Its socket is full.
        static let slow = Suspension(rawValue: 2)
        /// It owes acknowledgements.
        static let owing = Suspension(rawValue: 4)
        /// Its connection has ended.
        static let disconnected = Suspension(rawValue: 8)
        /// What was held is being written; nothing may overtake it.
        static let flushing = Suspension(rawValue: 16)
        /// What is held waits for a `minInterval`; nothing may overtake it.
        static let paced = Suspension(rawValue: 32)

        /// The state that a client is in, whatever is being written to it.
        var state: ClientState {
            if contains(.disconnected) { return .disconnected }
            if !isDisjoint(with: [.slow, .owing]) { return .slow }
            return contains(.asked) ? .asked : .live
        }

        /// It is a mailbox: nothing is ever sent without being kept.
        static let mailbox = Suspension(rawValue: 64)

        /// What keeps even immediate notifications back (rule D10).
        static let blocking: Suspension = [.slow, .owing, .disconnected]
        /// What makes the behaviours of observers count.
        static let suspended: Suspension = [.asked, .slow, .owing, .disconnected]
    }

    private var slots: [Client] = []
    private var freeSlots: [UInt32] = []
    /// All clients in the order of their numbers.
    private(set) var order = PostingList()
    /// How many there are of each sort.
    private(set) var counts = ClientCounts()

    var count: Int { order.count }

    /// The bytes that the table costs.
    var footprint: Int {
        count * Self.clientByteCount
    }

    /// What a client costs, but for the text of its principal.
    static var clientByteCount: Int {
        MemoryLayout<Client>.stride + MemoryLayout<PostingList.Entry>.stride
    }

    subscript(slot: UInt32) -> Client {
        _read { yield slots[Int(slot)] }
        _modify { yield &slots[Int(slot)] }
    }

    /// The slot of a client, by its number.
    func slot(of id: UInt64) -> UInt32? { order.slot(of: id) }

    /// Where a client's notifications go.
    func route(at slot: UInt32) -> (connection: ConnectionName, transport: Transport) {
        (slots[Int(slot)].connection, slots[Int(slot)].transport)
    }

    /// Where a client's notifications go if it gets what is posted at once.
    @inline(__always)
    func liveRoute(at slot: UInt32) -> (connection: ConnectionName, transport: Transport)? {
        guard slots[Int(slot)].suspension.isEmpty else { return nil }
        return (slots[Int(slot)].connection, slots[Int(slot)].transport)
    }

    /// Whether a client gets what is posted at once.
    func isLive(at slot: UInt32) -> Bool { slots[Int(slot)].suspension.isEmpty }

    /// Adds a client whose number is above all others, and tells its slot.
    @discardableResult
    mutating func add(_ client: Client) -> UInt32 {
        let slot: UInt32
        if let free = freeSlots.popLast() {
            slot = free
            slots[Int(slot)] = client
        } else {
            slot = UInt32(slots.count)
            slots.append(client)
        }
        order.append(serial: client.id, slot: slot)
        counts.add(1, client)
        return slot
    }

    /// Frees a slot.
    mutating func remove(_ slot: UInt32) {
        order.remove(serial: slots[Int(slot)].id)
        counts.add(-1, slots[Int(slot)])
        freeSlots.append(slot)
        // A table that was large once gives its storage back.
        if order.isEmpty, slots.count > 64 {
            let counts = counts
            self = ClientTable()
            self.counts = counts
        }
    }

    /// Notes that a client is suspended for other reasons than before.
    mutating func noteChange(from before: Suspension, at slot: UInt32) {
        counts.move(from: before, to: slots[Int(slot)].suspension)
    }

    /// Notes that a client registered an observer.
    mutating func noteObserver(_ observer: UInt32, isLasting: Bool, at slot: UInt32) {
        slots[Int(slot)].observerCount += 1
        slots[Int(slot)].lastObserver = observer
        if isLasting { slots[Int(slot)].lastingCount += 1 }
    }

    /// Notes that an observer of a client was removed.
    mutating func noteRemoval(
        of observer: UInt32, isLasting: Bool, before previous: UInt32, at slot: UInt32
    ) {
        slots[Int(slot)].observerCount -= 1
        if isLasting { slots[Int(slot)].lastingCount -= 1 }
        if slots[Int(slot)].lastObserver == observer { slots[Int(slot)].lastObserver = previous }
    }
}

extension ClientTable.Client {
    init(_ registration: ClientRegistration, at time: CommandTime) {
        self.init(
            id: registration.id, connection: registration.connection,
            transport: registration.transport, owner: registration.owner,
            sessionHash: registration.sessionHash, principal: registration.principal,
            connectedAt: time.wallMilliseconds,
            stateSince: time.wallMilliseconds)
    }
}

extension ClientTable.Client: Coded {
    init(_ known: ClientTable.Client?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        connection = try coder(known?.connection)
        suspension = try coder(known?.suspension)
        transport = try coder(known?.transport)
        owner = try coder(known?.owner)
        sessionHash = try coder(known?.sessionHash)
        principal = try coder(known?.principal)
        connectedAt = try coder(known?.connectedAt)
        observerCount = try coder(known?.observerCount)
        lastObserver = try coder(known?.lastObserver)
        stateSince = try coder(known?.stateSince)
        disconnectedSince = try coder(known?.disconnectedSince)
        held = try coder(known?.held)
        unacknowledged = try coder(known?.unacknowledged)
        heldByteCount = try coder(known?.heldByteCount)
        unacknowledgedByteCount = try coder(known?.unacknowledgedByteCount)
        immediateSequence = try coder(known?.immediateSequence)
        wasAsked = try coder(known?.wasAsked)
        storedImmediateSequence = try coder(known?.storedImmediateSequence)
        lastingCount = try coder(known?.lastingCount)
        owingCount = try coder(known?.owingCount)
        owesTooMuch = try coder(known?.owesTooMuch)
        isStoredAway = try coder(known?.isStoredAway)
        gapCount = try coder(known?.gapCount)
        readerCount = try coder(known?.readerCount)
        leaseCheckAt = try coder(known?.leaseCheckAt)
    }
}

extension ClientTable.Suspension: Coded {}

extension ClientTable: Coded {
    init(_ known: ClientTable?, by coder: inout some Coder) throws(CodeError) {
        slots = try coder(known?.slots)
        freeSlots = try coder(known?.freeSlots)
        order = try coder(known?.order)
        counts = try coder(known?.counts)
    }
}
