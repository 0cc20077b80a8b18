/// All clients of a center, in slots that are used again; their numbers never are.
struct ClientTable: Footprinted, Sendable {
    /// One client.
    struct Client: Sendable {
        let id: UInt64
        var connection: ConnectionName
        /// The reasons why it gets nothing at once; empty for a live client with nothing held.
        var suspension: Suspension = []
        let transport: Transport
        /// The owner that its observers and held notifications count for.
        var owner = Owner.none
        let sessionHash: SecretHash
        let principal: [UInt8]
        let connectedAt: Int64
        var observers = ObserverTable.List()
        /// Whether it has asked for suspension since it was last told its losses.
        ///
        /// Notifications written meanwhile in spite of the suspension say nothing of those losses.
        var wasAsked = false
        /// The start of its present state, in milliseconds since 1970.
        var stateSince: Int64
        /// When its connection ended, in monotonic nanoseconds.
        var disconnectedSince: Int64 = 0
        /// Notifications that wait to be written, in the order of sequence numbers.
        var held = HeldTable.ClientList()
        var debt = Debt()
        /// The highest number that is written although the client asked for suspension (rule D8).
        var immediateSequence: UInt64 = 0
        var stored = Stored()
        /// Observers, farewells and entries of values that last longer than a connection.
        var lastingCount = 0
        /// Losses that it was not told yet.
        var gapCount = 0
        /// Readers that wait at its mailbox.
        var readerCount = 0
        /// The time of the next check of its leases; an older heap entry of the client is void.
        var leaseCheckAt = Int64.max

        /// Whether the store keeps it.
        var isLasting: Bool { lastingCount > 0 }

        /// The state that is reported.
        var state: ClientState {
            (suspension.contains(.flushing) ? suspension.union(.slow) : suspension).state
        }
    }

    /// The acknowledgements that a client owes (decision 27).
    struct Debt: Sendable {
        /// Written notifications that must be acknowledged, in the order of writing.
        var entries = HeldTable.ClientList()
        /// Observers at their limit of owed acknowledgements.
        var owingCount = 0
        /// Whether its observers together are at their limit of owed acknowledgements.
        var isTooMuch = false

        /// Whether an observer, or all together, are at the limit.
        var isAtLimit: Bool { owingCount > 0 || isTooMuch }
    }

    /// The last record of a client in the store, as far as a later one is compared with it.
    struct Stored: Sendable {
        /// The value of `immediateSequence`.
        var immediateThrough: UInt64 = 0
        /// Whether the client is disconnected there, or is a mailbox without a reader.
        var isAway = false
    }

    /// The reasons why a client gets nothing at once: several can hold (law 5).
    struct Suspension: OptionSet, Sendable {
        let rawValue: UInt16

        /// The client asked for it.
        static let asked = Suspension(rawValue: 1)
        /// The socket of the client is full.
        static let slow = Suspension(rawValue: 2)
        /// The client owes acknowledgements.
        static let owing = Suspension(rawValue: 4)
        /// The connection of the client has ended.
        static let disconnected = Suspension(rawValue: 8)
        /// Held notifications are being written; no other one may overtake them.
        static let flushing = Suspension(rawValue: 16)
        /// Held notifications wait for a `minInterval`; no other one may overtake them.
        static let paced = Suspension(rawValue: 32)

        /// The state of the client, whatever is being written to it.
        var state: ClientState {
            if contains(.disconnected) { return .disconnected }
            if !isDisjoint(with: [.slow, .owing, .reading]) { return .slow }
            return contains(.asked) ? .asked : .live
        }

        /// The client is a mailbox: nothing is ever sent without being kept.
        static let mailbox = Suspension(rawValue: 64)

        /// Its observers read the past, up to the present (rule A8).
        static let reading = Suspension(rawValue: 128)

        /// Its frames wait for the answers to a batch of its calls.
        static let answering = Suspension(rawValue: 256)

        /// The reasons that keep even immediate notifications back (rule D10).
        static let blocking: Suspension = [.slow, .owing, .disconnected]
        /// The reasons for which the suspension behaviours of observers count.
        static let suspended: Suspension = [
            .asked, .slow, .owing, .disconnected, .reading,
        ]
    }

    private var slots: [Client] = []
    private var freeSlots: [UInt32] = []
    /// All clients in the order of their numbers.
    private(set) var order = PostingList()
    /// The counts of clients by transport and state.
    private(set) var counts = ClientCounts()

    var count: Int { order.count }

    /// The bytes that the table costs.
    var footprint: Int {
        count * Self.clientByteCount
    }

    /// The bytes that a client costs, but for the text of its principal.
    static var clientByteCount: Int {
        MemoryLayout<Client>.stride + MemoryLayout<PostingList.Entry>.stride
    }

    subscript(slot: UInt32) -> Client {
        _read { yield slots[Int(slot)] }
        _modify { yield &slots[Int(slot)] }
    }

    /// The slot of a client, by its number.
    func slot(of id: UInt64) -> UInt32? { order.slot(of: id) }

    /// The connection and transport of a client's notifications.
    func route(at slot: UInt32) -> (connection: ConnectionName, transport: Transport) {
        (slots[Int(slot)].connection, slots[Int(slot)].transport)
    }

    /// The principal of a client; the subscript would copy all of the client.
    func principal(at slot: UInt32) -> [UInt8] { slots.span[Int(slot)].principal }

    /// The connection and transport of a client that gets posts at once; nil for any other client.
    @inline(__always)
    func liveRoute(at slot: UInt32) -> (connection: ConnectionName, transport: Transport)? {
        guard slots[Int(slot)].suspension.isEmpty else { return nil }
        return (slots[Int(slot)].connection, slots[Int(slot)].transport)
    }

    /// Whether a client gets posts at once.
    func isLive(at slot: UInt32) -> Bool { slots[Int(slot)].suspension.isEmpty }

    /// Keeps the frames of a client behind the answers to a batch of its calls, if it has any.
    ///
    /// - Parameter mustWait: Whether others wait there already, or it reads the past.
    /// - Returns: The notice that its frames follow the answers.
    mutating func keepBehindAnswers(at slot: UInt32, mustWait: Bool) -> Notice? {
        let client = self[slot]
        guard
            mustWait || client.suspension.contains(.flushing) || client.held.list.count > 0
                || client.gapCount > 0
        else {
            self[slot].suspension.remove(.answering)
            return nil
        }
        self[slot].suspension.insert(.flushing)
        return .flushFollows(client: client.id, connection: client.connection)
    }

    /// Adds a client whose number is above all others, and returns its slot.
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

    /// Notes that the reasons of a client's suspension have changed.
    mutating func noteChange(from before: Suspension, at slot: UInt32) {
        counts.move(from: before, to: slots[Int(slot)].suspension)
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

extension ClientTable.Stored {
    init(_ record: ClientRecord) {
        self.init(
            immediateThrough: record.immediateThrough, isAway: record.disconnectedFor > 0)
    }
}

// The parts are written field by field, in the order that snapshots have had from the start.
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
        observers.count = try coder(known?.observers.count)
        observers.last = try coder(known?.observers.last)
        stateSince = try coder(known?.stateSince)
        disconnectedSince = try coder(known?.disconnectedSince)
        held.list = try coder(known?.held.list)
        debt.entries.list = try coder(known?.debt.entries.list)
        held.byteCount = try coder(known?.held.byteCount)
        debt.entries.byteCount = try coder(known?.debt.entries.byteCount)
        immediateSequence = try coder(known?.immediateSequence)
        wasAsked = try coder(known?.wasAsked)
        stored.immediateThrough = try coder(known?.stored.immediateThrough)
        lastingCount = try coder(known?.lastingCount)
        debt.owingCount = try coder(known?.debt.owingCount)
        debt.isTooMuch = try coder(known?.debt.isTooMuch)
        stored.isAway = try coder(known?.stored.isAway)
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
