import BelfryCenter
import BelfryStore

/// A generator whose numbers follow from its seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// Values with something in each field; equal numbers make equal values.
enum Sample {
    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    static func id(_ number: UInt64) -> NotificationID {
        NotificationID(high: number, low: .max - number)
    }

    static func hash(_ number: UInt64) -> SecretHash { SecretHash(high: ~number, low: number) }

    static func client(_ id: UInt64, disconnectedFor: Int64 = 0) -> ClientRecord {
        ClientRecord(
            id: id, transport: Transport.allCases[Int(id % 3)], sessionHash: hash(id),
            principal: bytes("principal \(id)"), isAsked: id % 2 == 0,
            connectedAt: 1_700_000_000_000 + Int64(id), disconnectedFor: disconnectedFor,
            immediateThrough: id * 5,
            lastWritten: id % 2 == 0 ? LastWritten(sequence: id * 7, isShared: id % 4 == 0) : nil)
    }

    static func observer(
        _ serial: UInt64, client: UInt64 = 1, acknowledgedThrough: UInt64 = 0
    ) -> ObserverRecord {
        var terms = ObserverTerms()
        terms.suspensionBehavior = SuspensionBehavior.allCases[Int(serial % 4)]
        terms.acknowledges = serial % 2 == 0
        terms.endsWithConnection = serial % 5 == 0
        terms.holdLimit = Int(serial) + 7
        terms.minInterval = Int64(serial % 3) * 1_000_000_000
        terms.lease = serial % 3 == 0 ? nil : Int64(serial)
        return ObserverRecord(
            serial: serial, client: client, tokenHash: hash(serial),
            name: serial % 4 == 0 ? nil : bytes("Name\(serial)"),
            object: serial % 2 == 0 ? nil : [], selector: bytes("notify:\(serial)"),
            terms: terms, since: serial * 3, createdAt: 1_700_000_000_000 + Int64(serial),
            acknowledgedThrough: acknowledgedThrough, forgottenThrough: serial * 2)
    }

    static func tombstone(_ serial: UInt64) -> Tombstone {
        let removers: [Remover] = [.client(serial), .principal(bytes("p\(serial)")), .broker]
        return Tombstone(
            tokenHash: hash(serial), removedAt: Int64(serial), removedBy: removers[Int(serial % 3)],
            reason: RemovalReason.allCases[Int(serial % 4)],
            name: serial % 2 == 0 ? nil : bytes("a"), object: serial % 3 == 0 ? bytes("o") : nil)
    }

    static func content(_ number: UInt64, byteCount: Int = 20) -> Notification.Content {
        Notification.Content(
            name: bytes("Name"), object: number % 2 == 0 ? nil : bytes("object"),
            userInfo: number % 3 == 0
                ? nil : [UInt8](repeating: UInt8(number % 251), count: byteCount))
    }

    /// A notification as a store gives it back: marked, and without a time of the clock.
    static func notification(_ sequence: UInt64, byteCount: Int = 20) -> NotificationRecord {
        NotificationRecord(
            notification: Notification(
                id: id(sequence), sequence: sequence, postedAt: Int64(sequence),
                causedBy: sequence % 2 == 0 ? nil : id(sequence + 1),
                content: content(sequence, byteCount: byteCount), isRestored: true),
            timeToLive: sequence % 3 == 0 ? nil : Int64(sequence))
    }

    static func entry(_ number: UInt64, place: UInt64? = nil, merged: Int = 0) -> QueueRecord {
        QueueRecord(
            id: id(number), place: place ?? number, content: content(number),
            causedBy: number % 2 == 0 ? nil : id(number + 1), depth: Int(number % 32),
            style: PostingStyle.allCases[Int(number % 3)],
            coalescing: Coalescing(rawValue: UInt8(number % 4)),
            modes: number % 4 == 0 ? [] : [bytes("default"), bytes("mode\(number)"), []],
            mergedCount: merged, enqueuedAt: Int64(number),
            delayLeft: number % 2 == 0 ? nil : 5, timeToLive: number % 3 == 0 ? nil : 6,
            isImmediate: number % 5 == 0)
    }

    static func key(_ number: UInt64, sequence: UInt64 = 0) -> KeyRecord {
        var receipts: [Receipt] = []
        let states: [Receipt.State] = [
            .posted, .queued, .coalesced(into: id(number)), .dequeued, .expired,
        ]
        for (index, state) in states.enumerated() {
            var receipt = Receipt(id: id(number), sequence: sequence)
            receipt.state = state
            receipt.matched = .max
            receipt.delivered = UInt32(index)
            receipt.held = 2
            receipt.coalesced = 3
            receipt.dropped = 127
            receipt.acknowledged = 128
            receipt.refused = 6
            receipt.pending = 7
            receipt.dequeued = 8
            receipts.append(receipt)
        }
        let outcomes: [ReportRow.Outcome] = [
            .delivered, .acknowledged, .refused(error: bytes("{\"code\":1}")), .pending, .held,
            .coalesced, .dropped, .disconnected,
        ]
        let rows = outcomes.enumerated().map {
            ReportRow(observer: .max - UInt64($0.offset), outcome: $0.element)
        }
        return KeyRecord(
            key: IdempotencyKey(
                principal: bytes("p\(number % 2)"), text: bytes("key \(number)"),
                requestHash: hash(number), form: UInt8(number % 200)),
            receipts: receipts, reports: [rows, []])
    }
}
