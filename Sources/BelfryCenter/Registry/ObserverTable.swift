/// All observers of a center, in slots that are used again; serial numbers never are (rule O5).
struct ObserverTable: Footprinted, Sendable {
    /// One registration.
    struct Observer: Sendable {
        // The fields that each delivery reads come first, so that they are close in memory.
        let serial: UInt64
        /// The slot of its client.
        let client: UInt32
        let selector: UInt32
        var tally = ObserverTally()
        /// The highest sequence number written to it; higher ones were held, or are in a gap.
        var writtenThrough: UInt64 = 0
        let terms: ObserverTerms
        // The next two fit between the terms and the hash, where there is room for 7 bytes.
        /// Whether a delivery to a live client needs no further checks: each delivery reads this.
        let isPlain: Bool
        /// How many of its held notifications came out of the replay ring and wait.
        var replayedCount: UInt32 = 0
        let tokenHash: SecretHash
        /// The place where its filter is filed.
        let place: ObserverIndex.Place
        /// It gets notifications with a greater sequence number (rule C10).
        let since: UInt64
        /// Notifications above this number are replayed; below `since` if it asked for replay.
        var replaysAbove: UInt64
        let createdAt: Int64
        /// Its neighbours among the observers of its client.
        var links = Links()
        /// The notifications that are held for it, or were sent and not acknowledged.
        var entries = HeldTable.List()
        var debt = Debt()
        /// The mailbox of an observer whose client has no connection.
        var mailbox = Mailbox()
        /// The losses that were not told yet.
        var gaps: [GapRecord] = []

        init(
            serial: UInt64, tokenHash: SecretHash, client: UInt32, place: ObserverIndex.Place,
            selector: UInt32, since: UInt64, createdAt: Int64, terms: ObserverTerms,
            isPlain: Bool = true
        ) {
            self.serial = serial
            self.client = client
            self.selector = selector
            self.terms = terms
            self.tokenHash = tokenHash
            self.place = place
            self.since = since
            replaysAbove = since
            self.createdAt = createdAt
            self.isPlain = isPlain && !terms.acknowledges && terms.minInterval == 0
        }

        /// Counts a delivery that is newer than all those written before.
        @inline(__always)
        mutating func noteDelivery(of sequence: UInt64, at time: Int64) {
            tally.recordDelivery(at: time)
            writtenThrough = sequence
        }

        /// Whether a number is held if it was sent and owes an acknowledgement.
        ///
        /// A kill may have been before the store had it: then it is among unknown losses.
        func holdsUnanswered(_ sequence: UInt64) -> Bool {
            terms.acknowledges
                && !gaps.contains {
                    $0.reason == .unknown && $0.count == nil && $0.first <= sequence
                        && sequence <= $0.last
                }
        }

        /// Adds a loss to those of its reason, and returns the sum.
        mutating func add(_ gap: GapRecord) -> GapRecord {
            mailbox.hasNewGap = true
            for place in gaps.indices where gaps[place].reason == gap.reason {  // Bound: gaps
                gaps[place].add(gap)
                return gaps[place]
            }
            gaps.append(gap)
            return gap
        }

        /// How many notifications wait for it.
        var heldCount: Int { entries.count - debt.count }
        /// The held notifications that count for its limit: not the replayed ones (decision 61).
        var limitedCount: Int { heldCount - Int(replayedCount) }
        /// Whether the store keeps it.
        var isLasting: Bool { !terms.endsWithConnection }
    }

    /// The acknowledgements that an observer owes (decision 27).
    struct Debt: Sendable {
        /// The number of notifications that were sent to it and not acknowledged.
        var count = 0
        /// Deadlines in a row by which it had not acknowledged.
        var missedDeadlineCount: UInt32 = 0
        /// Whether it is at its limit of owed acknowledgements, and more notifications wait.
        var isTooMuch = false
    }

    /// The state of a mailbox: the numbers up to which it was read, and the connection that waits.
    struct Mailbox: Sendable {
        /// The number up to which everything was acknowledged.
        var acknowledgedThrough: UInt64 = 0
        /// Shown notifications up to this number may have been dropped for want of room.
        var forgottenThrough: UInt64 = 0
        /// The highest number that was sent to its stream.
        var streamedThrough: UInt64 = 0
        /// The time of the last look, in monotonic nanoseconds.
        var lookedAt: Int64 = 0
        /// The connection that waits.
        var reader: ConnectionName?
        var readerIsStream = false
        /// Whether one of the gaps was not sent to its stream.
        var hasNewGap = false

        /// The stream that waits, if one does.
        var stream: ConnectionName? { readerIsStream ? reader : nil }

        /// The time of the last look, from which a lease runs; nil while a reader waits.
        var unreadSince: Int64? { reader == nil ? lookedAt : nil }

        /// Lets a poll or a stream wait, in place of an earlier one.
        mutating func attach(_ connection: ConnectionName, isStream: Bool, at time: Int64) {
            reader = connection
            readerIsStream = isStream
            lookedAt = time
        }

        /// Ends the wait of the reader.
        mutating func detach(at time: Int64) {
            reader = nil
            lookedAt = time
        }
    }

    /// The neighbours of an observer in the list of its client.
    struct Links: Sendable {
        var previous = noSlot
        var next = noSlot
    }

    /// The observers of one client: how many, and the last one, from which links lead to all.
    struct List: Sendable {
        var count = 0
        var last = noSlot
    }

    static let noSlot = UInt32.max

    private var slots: [Observer] = []
    /// The roles of observers that are not plain, by slot: few have one, and each slot would pay.
    private var roles = CountedTable<UInt32, ObserverRole>()
    private var freeSlots: [UInt32] = []
    /// All observers in registration order.
    private(set) var order = PostingList()

    /// The bytes that the table costs.
    ///
    /// Each observer has a slot, a place in the order, and one in a list of the index.
    var footprint: Int {
        count * (MemoryLayout<Observer>.stride + 2 * MemoryLayout<PostingList.Entry>.stride)
            + roles.footprint
    }

    var count: Int { order.count }

    subscript(slot: UInt32) -> Observer {
        _read { yield slots[Int(slot)] }
        _modify { yield &slots[Int(slot)] }
    }

    /// The slot of an observer, by its number.
    func slot(of serial: UInt64) -> UInt32? { order.slot(of: serial) }

    /// The slot that the next observer will have.
    func reserveSlot() -> UInt32 { freeSlots.last ?? UInt32(slots.count) }

    /// The role of the observer in a slot.
    func role(at slot: UInt32) -> ObserverRole {
        roles.isEmpty ? .plain : roles[slot] ?? .plain
    }

    /// The terms of the observer in a slot that has a finer filter.
    func filter(at slot: UInt32) -> FilterTerms? { role(at: slot).filter }

    /// The responder terms of the observer in a slot; nil for any other observer.
    func responder(at slot: UInt32) -> ResponderTerms? { role(at: slot).responder }

    /// Whether the observer in a slot holds an address.
    func isResponder(at slot: UInt32) -> Bool {
        if case .responder = role(at: slot) { true } else { false }
    }

    /// The address that the deliveries of the observer in a slot go to, if it has a target.
    func target(at slot: UInt32) -> [UInt8]? { role(at: slot).target }

    /// Sets the role of the observer in a slot, which is not plain.
    mutating func setRole(_ role: ObserverRole, at slot: UInt32) {
        roles[slot] = role
    }

    /// Puts an observer into the reserved slot, behind the last one of its client.
    mutating func fill(_ slot: UInt32, with observer: consuming Observer, in list: inout List) {
        observer.links.previous = list.last
        order.append(serial: observer.serial, slot: slot)
        if freeSlots.popLast() == nil {
            slots.append(observer)
        } else {
            slots[Int(slot)] = observer
        }
        if list.last != Self.noSlot { slots[Int(list.last)].links.next = slot }
        list.last = slot
        list.count += 1
    }

    /// Counts a delivery, and returns the slot of the client.
    mutating func noteDelivery(at slot: UInt32, _ time: Int64) -> UInt32 {
        slots[Int(slot)].tally.recordDelivery(at: time)
        return slots[Int(slot)].client
    }

    /// The connection that waits at a mailbox; its number is 0 for none.
    func readerName(at slot: UInt32) -> ConnectionName {
        slots[Int(slot)].mailbox.reader ?? ConnectionName(node: 0, number: 0)
    }

    /// Adds a loss of an observer to those of its reason.
    ///
    /// The loss is added in place: reading the whole observer would copy it.
    ///
    /// - Returns: The sum, and the slot of the client if the observer had no loss before.
    mutating func add(
        _ gap: GapRecord, at slot: UInt32
    ) -> (sum: GapRecord, newLoser: UInt32?) {
        let place = Int(slot)
        let newLoser = slots[place].gaps.isEmpty ? slots[place].client : nil
        return (slots[place].add(gap), newLoser)
    }

    /// Writes and counts a delivery for each observer, up to the first that needs further checks.
    ///
    /// - Returns: The position of that one.
    mutating func deliver(
        _ notification: UInt32, _ sequence: UInt64, isRedelivered: Bool, to matched: [UInt32],
        of clients: ClientTable, at time: Int64,
        into deliveries: inout [Delivery]
    ) -> Int {
        let countBefore = deliveries.count
        deliveries.append(addingCapacity: matched.count) { output in
            var slots = self.slots.mutableSpan
            for place in matched.indices {  // Bound: observers
                let slot = Int(matched[place])
                guard slots[slot].isPlain, let route = clients.liveRoute(at: slots[slot].client)
                else { return }
                slots[slot].noteDelivery(of: sequence, at: time)
                output.append(
                    Delivery(
                        connection: route.connection, notification: notification,
                        observer: slots[slot].serial, selector: slots[slot].selector,
                        transport: route.transport, form: .shared, isRedelivered: isRedelivered))
            }
        }
        return deliveries.count - countBefore
    }

    /// Delivers a change of a value in the same way: each observer gets the form that it matches.
    ///
    /// Observers of values never acknowledge.
    ///
    /// - Parameters:
    ///   - first: the notification of the first form; the others follow it.
    ///   - author: the client that made the change, whose observers may not want it.
    mutating func deliver(
        changes first: UInt32, _ sequence: UInt64, to matches: ArraySlice<ChangeMatch>,
        exceptOf author: UInt32?, of clients: ClientTable, at time: Int64,
        into deliveries: inout [Delivery]
    ) -> Int {
        let countBefore = deliveries.count
        deliveries.append(addingCapacity: matches.count) { output in
            var slots = self.slots.mutableSpan
            for place in matches.indices {  // Bound: observers
                let slot = Int(matches[place].slot)
                let client = slots[slot].client
                guard client != author, slots[slot].terms.minInterval == 0,
                    let route = clients.liveRoute(at: client)
                else { return }
                slots[slot].noteDelivery(of: sequence, at: time)
                output.append(
                    Delivery(
                        connection: route.connection, notification: first + matches[place].form,
                        observer: slots[slot].serial, selector: slots[slot].selector,
                        transport: route.transport, form: .change, isRedelivered: false))
            }
        }
        return deliveries.count - countBefore
    }

    /// Frees a slot, and removes the observer from those of its client.
    mutating func remove(_ slot: UInt32, from list: inout List) {
        let observer = slots[Int(slot)]
        if !roles.isEmpty { roles[slot] = nil }
        if observer.links.previous != Self.noSlot {
            slots[Int(observer.links.previous)].links.next = observer.links.next
        }
        if observer.links.next == Self.noSlot {
            list.last = observer.links.previous
        } else {
            slots[Int(observer.links.next)].links.previous = observer.links.previous
        }
        list.count -= 1
        order.remove(serial: observer.serial)
        slots[Int(slot)].gaps = []
        freeSlots.append(slot)
        // A table that was large once gives its storage back.
        if order.isEmpty, slots.count > 64 { self = ObserverTable() }
    }

    /// The slots of one client's observers in registration order.
    func slots(of list: List) -> [UInt32] {
        var result: [UInt32] = []
        var slot = list.last
        while slot != Self.noSlot {  // Bound: client
            result.append(slot)
            slot = slots[Int(slot)].links.previous
        }
        result.reverse()
        return result
    }
}

// The parts are written field by field, in the order that snapshots have had from the start.
extension ObserverTable.Observer: Coded {
    init(_ known: ObserverTable.Observer?, by coder: inout some Coder) throws(CodeError) {
        serial = try coder(known?.serial)
        client = try coder(known?.client)
        selector = try coder(known?.selector)
        tally.delivered = try coder(known?.tally.delivered)
        tally.lastTime = try coder(known?.tally.lastTime)
        writtenThrough = try coder(known?.writtenThrough)
        terms = try coder(known?.terms)
        tokenHash = try coder(known?.tokenHash)
        place = try coder(known?.place)
        since = try coder(known?.since)
        replaysAbove = try coder(known?.replaysAbove)
        createdAt = try coder(known?.createdAt)
        tally.coalesced = try coder(known?.tally.coalesced)
        tally.dropped = try coder(known?.tally.dropped)
        links.previous = try coder(known?.links.previous)
        links.next = try coder(known?.links.next)
        entries = try coder(known?.entries)
        debt.count = try coder(known?.debt.count)
        debt.missedDeadlineCount = try coder(known?.debt.missedDeadlineCount)
        mailbox.acknowledgedThrough = try coder(known?.mailbox.acknowledgedThrough)
        mailbox.forgottenThrough = try coder(known?.mailbox.forgottenThrough)
        mailbox.streamedThrough = try coder(known?.mailbox.streamedThrough)
        mailbox.lookedAt = try coder(known?.mailbox.lookedAt)
        let readerNode: UInt32 = try coder(known?.mailbox.reader?.node ?? 0)
        let readerNumber: UInt64 = try coder(known?.mailbox.reader?.number ?? 0)
        if readerNumber > 0 {
            mailbox.reader = ConnectionName(node: readerNode, number: readerNumber)
        }
        gaps = try coder(known?.gaps)
        replayedCount = try coder(known?.replayedCount)
        debt.isTooMuch = try coder(known?.debt.isTooMuch)
        mailbox.readerIsStream = try coder(known?.mailbox.readerIsStream)
        mailbox.hasNewGap = try coder(known?.mailbox.hasNewGap)
        isPlain = try coder(known?.isPlain)
    }
}

extension ObserverTable: Coded {
    init(_ known: ObserverTable?, by coder: inout some Coder) throws(CodeError) {
        slots = try coder(known?.slots)
        roles = try coder.table(known?.roles)
        // The bytes of their texts; earlier versions stored this count.
        let _: Int = try coder(known?.roles.values.values.reduce(0) { $0 + $1.byteCount })
        freeSlots = try coder(known?.freeSlots)
        order = try coder(known?.order)
    }
}
