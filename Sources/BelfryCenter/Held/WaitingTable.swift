/// Posts whose answer waits for acknowledging observers (rule C13).
struct WaitingTable: Footprinted, Sendable {
    /// One command that waits, with the later ones of the same key.
    struct Waiting: Sendable {
        /// The commands to answer; a command that repeats another one has the form of its answer.
        var commands: [(id: CommandID, replayedForm: UInt8?)]
        var receipts: [Receipt]
        var reports: [[ReportRow]]
        /// How many acknowledgements are still waited for.
        var remainingCount: Int
        /// A number that distinguishes it from earlier ones in the same slot.
        let ordinal: UInt64
        let key: IdempotencyKey?
        /// The awaited notifications: their slots among the held ones, and their numbers.
        let places: [(kept: UInt32, sequence: UInt64)]
        /// The bytes of the results in the rows of each receipt; empty while there are none.
        private var resultByteCounts: [Int] = []

        /// The bytes of all results in its rows.
        var resultByteCount: Int { resultByteCounts.reduce(0, +) }

        /// The bytes of its lists without the results: all rows exist from the beginning.
        var footprint: Int {
            Footprint.array(of: receipts.count, stride: MemoryLayout<Receipt>.stride)
                + Footprint.array(of: reports.count, stride: MemoryLayout<[ReportRow]>.stride)
                + reports.reduce(0) {
                    $0 + Footprint.array(of: $1.count, stride: MemoryLayout<ReportRow>.stride)
                }
                + Footprint.array(of: places.count, stride: MemoryLayout<(UInt32, UInt64)>.stride)
                + Footprint.array(
                    of: commands.count, stride: MemoryLayout<(CommandID, UInt8?)>.stride)
        }

        /// Makes the record of a command that begins to wait.
        init(
            _ command: CommandID, receipts: [Receipt], reports: [[ReportRow]], remainingCount: Int,
            ordinal: UInt64, key: IdempotencyKey?, at places: [(kept: UInt32, sequence: UInt64)]
        ) {
            commands = [(command, nil)]
            self.receipts = receipts
            self.reports = reports
            self.remainingCount = remainingCount
            self.ordinal = ordinal
            self.key = key
            self.places = places
        }

        /// Notes the outcome at one observer; returns the bytes of a result that it keeps.
        fileprivate mutating func note(
            _ row: ReportRow, receipt: Int, _ change: (inout Receipt) -> Void
        ) -> Int {
            // A post that was queued is answered as queued, whatever happens later.
            guard receipts[receipt].sequence != 0 else { return 0 }
            change(&receipts[receipt])
            guard receipt < reports.count else { return 0 }
            guard case .answered(let result) = row.outcome else {
                reports[receipt].update(row)
                return 0
            }
            if resultByteCounts.isEmpty {
                resultByteCounts = Array(repeating: 0, count: receipts.count)
            }
            guard resultByteCounts[receipt] + result.count <= ReportRow.resultsByteLimit else {
                reports[receipt].update(
                    ReportRow(observer: row.observer, outcome: .resultOmitted, route: row.route))
                return 0
            }
            resultByteCounts[receipt] += result.count
            reports[receipt].update(row)
            return result.count
        }
    }

    private var slots: [Waiting?] = []
    private var freeSlots: [UInt32] = []
    private var places: [NotificationID: (slot: UInt32, receipt: Int)] = [:]
    private var lastOrdinal: UInt64 = 0
    /// The bytes of all results in the rows of all waiting commands.
    private(set) var resultByteCount = 0

    /// The bytes of the waiting commands, without the results.
    private var waitingByteCount = 0

    /// The bytes that the table costs.
    var footprint: Int {
        Footprint.list(
            count: slots.count, capacity: slots.capacity, stride: MemoryLayout<Waiting?>.stride)
            + freeSlots.footprint + waitingByteCount + resultByteCount
            + Footprint.dictionary(
                capacity: places.capacity, stride: Self.placeByteCount)
    }

    private static let placeByteCount =
        MemoryLayout<NotificationID>.stride + MemoryLayout<(slot: UInt32, receipt: Int)>.stride

    /// How many commands wait.
    var count: Int { slots.count - freeSlots.count }

    /// Adds a command that waits; returns its slot and ordinal.
    mutating func add(
        _ command: CommandID, receipts: [Receipt], reports: [[ReportRow]], remainingCount: Int,
        key: IdempotencyKey?, at places: [(kept: UInt32, sequence: UInt64)]
    ) -> (slot: UInt32, ordinal: UInt64) {
        lastOrdinal += 1
        let waiting = Waiting(
            command, receipts: receipts, reports: reports, remainingCount: remainingCount,
            ordinal: lastOrdinal, key: key, at: places)
        let slot = freeSlots.popLast() ?? UInt32(slots.count)
        if Int(slot) == slots.count { slots.append(waiting) } else { slots[Int(slot)] = waiting }
        waitingByteCount += waiting.footprint
        // Bound: batch
        for (place, receipt) in receipts.enumerated() { self.places[receipt.id] = (slot, place) }
        return (slot, lastOrdinal)
    }

    /// Adds a later command with the same key, which waits for the same answer.
    ///
    /// - Returns: Whether the notification is still awaited.
    mutating func join(_ id: NotificationID, _ command: CommandID, form: UInt8) -> Bool {
        guard let place = places[id] else { return false }
        // The answer has the form of the first answer.
        let form = slots[Int(place.slot)]?.key?.form ?? form
        waitingByteCount -= slots[Int(place.slot)]?.footprint ?? 0
        slots[Int(place.slot)]?.commands.append((command, form))
        waitingByteCount += slots[Int(place.slot)]?.footprint ?? 0
        return true
    }

    /// Changes the account of a notification.
    mutating func update(
        _ id: NotificationID, _ row: ReportRow, _ change: (inout Receipt) -> Void
    ) {
        guard !places.isEmpty, let (slot, receipt) = places[id] else { return }
        resultByteCount += slots[Int(slot)]?.note(row, receipt: receipt, change) ?? 0
    }

    /// Counts one awaited acknowledgement less; returns the command after the last one.
    mutating func resolve(_ id: NotificationID) -> Waiting? {
        guard let place = places[id], let remaining = slots[Int(place.slot)]?.remainingCount else {
            return nil
        }
        slots[Int(place.slot)]?.remainingCount = remaining - 1
        return remaining == 1 ? take(place.slot) : nil
    }

    /// Removes a command whose deadline has come, unless it was answered before.
    mutating func take(_ slot: UInt32, ordinal: UInt64) -> Waiting? {
        guard Int(slot) < slots.count, slots[Int(slot)]?.ordinal == ordinal else { return nil }
        return take(slot)
    }

    /// Whether a command in a slot still waits.
    func isWaiting(_ slot: UInt32, ordinal: UInt64) -> Bool {
        Int(slot) < slots.count && slots[Int(slot)]?.ordinal == ordinal
    }

    /// The held notifications that a command waits for.
    func places(_ slot: UInt32) -> [(kept: UInt32, sequence: UInt64)] {
        slots[Int(slot)]?.places ?? []
    }

    private mutating func take(_ slot: UInt32) -> Waiting? {
        guard let waiting = slots[Int(slot)].take() else { return nil }
        waitingByteCount -= waiting.footprint
        freeSlots.append(slot)
        for receipt in waiting.receipts { places[receipt.id] = nil }  // Bound: batch
        resultByteCount -= waiting.resultByteCount
        return waiting
    }

    /// Adds all that can be observed of the waiting posts now or later.
    func addDigest(to digest: inout StateDigest) {
        digest.add(count)
        for waiting in slots {  // Bound: snapshot
            guard let waiting else { continue }
            digest.add(waiting.remainingCount)
            digest.add(waiting.ordinal)
            for command in waiting.commands {  // Bound: snapshot
                digest.add(command.id.node)
                digest.add(command.id.incarnation)
                digest.add(command.id.counter)
                digest.add(command.replayedForm.map { Int($0) } ?? -1)
            }
            for receipt in waiting.receipts { digest.add(receipt) }  // Bound: snapshot
            digest.add(waiting.reports)
        }
    }
}

extension WaitingTable.Waiting: Coded {
    init(_ known: WaitingTable.Waiting?, by coder: inout some Coder) throws(CodeError) {
        let ids: [CommandID] = try coder(known?.commands.map(\.id))
        let forms: [UInt8?] = try coder(known?.commands.map(\.replayedForm))
        commands = zip(ids, forms).map { ($0, $1) }
        receipts = try coder(known?.receipts)
        reports = try coder(known?.reports)
        remainingCount = try coder(known?.remainingCount)
        ordinal = try coder(known?.ordinal)
        key = try coder(known?.key)
        let kept: [UInt32] = try coder(known?.places.map(\.kept))
        let sequences: [UInt64] = try coder(known?.places.map(\.sequence))
        places = zip(kept, sequences).map { ($0, $1) }
        resultByteCounts = try coder(known?.resultByteCounts)
    }
}

extension WaitingTable: Coded {
    init(_ known: WaitingTable?, by coder: inout some Coder) throws(CodeError) {
        slots = try coder(known?.slots)
        freeSlots = try coder(known?.freeSlots)
        lastOrdinal = try coder(known?.lastOrdinal)
        resultByteCount = try coder(known?.resultByteCount)
        places = known?.places ?? [:]
        guard coder.isReading else { return }
        for (slot, waiting) in slots.enumerated() {  // Bound: snapshot
            waitingByteCount += waiting?.footprint ?? 0
            for (place, receipt) in (waiting?.receipts ?? []).enumerated() {  // Bound: snapshot
                places[receipt.id] = (UInt32(slot), place)
            }
        }
    }
}
