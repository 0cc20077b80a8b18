import BelfryCenter
import BelfryJSON
import BelfryStore

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
            wasAsked: id % 4 != 1, connectedAt: 1_700_000_000_000 + Int64(id),
            disconnectedFor: disconnectedFor, immediateThrough: id * 5,
            lastWritten: id % 2 == 0 ? LastWritten(sequence: id * 7, isShared: id % 4 == 0) : nil)
    }

    static func observer(
        _ serial: UInt64, client: UInt64 = 1, acknowledgedThrough: UInt64 = 0,
        isPlain: Bool = false
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
            acknowledgedThrough: acknowledgedThrough, forgottenThrough: serial * 2,
            role: isPlain ? .plain : role(serial))
    }

    private static func role(_ serial: UInt64) -> ObserverRole {
        switch serial % 6 {
        case 2, 5: .responder(responder(serial))
        case 1: .action(target: bytes("target \(serial)"))
        case 3: valueRole(serial)
        default: .plain
        }
    }

    private static func valueRole(_ serial: UInt64) -> ObserverRole {
        var terms = ValueTerms(path: path(serial % 2 == 0 ? "" : "a.k\(serial)"))
        terms.sendsInitial = serial & 1 != 0
        terms.sendsOld = serial & 2 != 0
        terms.sendsOwn = serial & 4 != 0
        return .value(terms)
    }

    private static func path(_ text: String) -> DocumentPath {
        guard let path = try? DocumentPath.parse(bytes(text).span) else {
            preconditionFailure("it is a key path")
        }
        return path
    }

    /// The value of an object, with some places that end.
    static func value(_ object: UInt64, changed: UInt64 = 1, byteCount: Int = 8) -> ValueRecord {
        var parts: [ValueRecord.Part] = []
        for number in 0..<changed % 4 {
            let lease = ValueRecord.Lease(client: number + 1, nanoseconds: Int64(changed))
            parts.append(
                ValueRecord.Part(
                    path: path(number == 0 ? "" : "k\(number)"),
                    expiresAt: number == 1 ? nil : Int64(changed),
                    timeToLive: number == 2 ? 5_000 : nil,
                    lease: number % 2 == 0 ? nil : lease))
        }
        let text = #"{"k":"\#(String(repeating: "x", count: byteCount))","n":\#(changed)}"#
        let limits = DocumentLimits(byteLimit: .max, depthLimit: 128)
        guard let document = try? Document.parse(bytes(text).span, limits: limits) else {
            preconditionFailure("it is a document")
        }
        return ValueRecord(
            object: bytes("object \(object)"), document: document, changedSequence: changed,
            changedAt: 1_700_000_000_000 + Int64(changed), parts: parts)
    }

    static func action(_ sequence: UInt64, row: UInt64, responder: UInt64) -> ActionRecord {
        ActionRecord(
            sequence: sequence, row: row, responder: responder, selector: bytes("act\(row):"),
            acknowledges: row % 2 == 0,
            path: (0...row % 3).map { bytes("address \($0)") },
            shown: (0..<row % 4).map { $0 })
    }

    static func responder(_ number: UInt64) -> ResponderTerms {
        var terms = ResponderTerms(
            implements: (0..<number % 4).map { bytes("answer\($0):") },
            next: number % 2 == 0 ? nil : bytes("next"))
        terms.ifHeld = ResponderTerms.IfHeld.allCases[Int(number % 3)]
        terms.concurrency = Int(number % 1_000) + 1
        return terms
    }

    static func tombstone(_ serial: UInt64, names: [[UInt8]] = []) -> Tombstone {
        let removers: [Remover] = [.client(serial), .principal(bytes("p\(serial)")), .broker]
        var terms = FilterTerms()
        terms.names = names
        return Tombstone(
            tokenHash: hash(serial), removedAt: Int64(serial), removedBy: removers[Int(serial % 3)],
            reason: RemovalReason.allCases[Int(serial % 5)],
            name: serial % 2 == 0 ? nil : bytes("a"), object: serial % 3 == 0 ? bytes("o") : nil,
            terms: terms)
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

    /// A timer that fires once, repeats, or is a farewell, of every kind of poster.
    static func timer(_ number: UInt64, fired: Int64 = 0, byteCount: Int = 20) -> TimerRecord {
        let isFarewell = number % 3 == 1
        let repeats = number % 3 == 2
        let terms = TimerTerms(
            start: isFarewell || number % 2 == 0 ? .after(Int64(number)) : nil,
            period: repeats ? Int64(number) + 100 : nil, isFarewell: isFarewell)
        let scopes: [PostScope] = [
            .everything, .some([]),
            .some([
                PostScope.Pattern(names: [.exact(bytes("a")), .prefix([])]),
                PostScope.Pattern(objects: [.prefix(bytes("o"))]),
            ]),
        ]
        return TimerRecord(
            post: Post(
                id: id(number), content: content(number, byteCount: byteCount),
                causedBy: number % 2 == 0 ? nil : id(number + 1),
                options: PostOptions(
                    style: number % 5 == 0 ? .idle : .asap,
                    coalescing: Coalescing(rawValue: UInt8(number % 4)),
                    keepsLatest: number % 7 == 0,
                    modes: number % 4 == 0 ? [] : [bytes("default"), bytes("mode\(number)")],
                    maxDelay: number % 5 == 0 ? 7 : nil, isImmediate: number % 6 == 0,
                    timeToLive: number % 2 == 0 ? nil : 9, timer: terms)),
            depth: Int(number % 32), postedAt: Int64(number),
            dueAt: isFarewell && number % 2 == 0 ? nil : Int64(number) + 1_000,
            isRestored: number % 7 == 0,
            scope: scopes[Int(number % 4 % 3)], client: number % 4 == 3 ? nil : number,
            principal: isFarewell
                ? TimerRecord.Principal(name: bytes("p\(number)"), hasKey: number % 2 == 0) : nil,
            repetition: repeats
                ? TimerRecord.Repetition(
                    startAt: -5, next: fired + 1, fired: fired, missed: 3,
                    lastMade: number % 4 == 0 ? nil : fired,
                    leaseLeft: number % 2 == 0 ? nil : 11) : nil)
    }

    /// An ask that is open, or that has ended in one of all ways.
    static func ask(
        _ number: UInt64, shown: [UInt64] = [], isOpen: Bool = true, byteCount: Int = 20
    ) -> AskRecord {
        let outcome = outcome(number, byteCount: byteCount)
        return AskRecord(
            id: id(number), content: content(number, byteCount: byteCount),
            causedBy: number % 2 == 0 ? nil : id(number + 1), depth: Int(number % 32),
            fallback: number % 3 == 0 ? nil : bytes("{\"w\":\(number)}"),
            isOnce: number % 5 == 0, askedAt: Int64(number), answerBy: Int64(number) + 1_000,
            principal: bytes("p\(number % 2)"), shown: shown, observer: shown.last ?? 0,
            end: isOpen ? nil : AskRecord.End(outcome: outcome, forgottenAt: Int64(number) + 9),
            options: askOptions(number))
    }

    private static func askOptions(_ number: UInt64) -> AskOptions {
        var options = AskOptions()
        options.present = number % 3 == 0 ? bytes(#"{"title":"\#(number)"}"#) : nil
        options.waitsForAnybody = number % 4 == 0
        return options
    }

    /// How many outcomes of an ask there are.
    static let outcomeCount: UInt64 = 10

    static func outcome(_ number: UInt64, byteCount: Int = 20) -> AskOutcome {
        let answer = [UInt8](repeating: UInt8(ascii: "1"), count: byteCount)
        let states: [AskOutcome.State] = [
            .open(until: -1),
            .answered(
                AskAnswer(
                    answer, observer: .max, principal: number % 20 == 1 ? bytes("ann") : [],
                    reason: number % 30 == 1 ? bytes("so") : nil)), .withdrawn,
            .fallback(answer, .responderRefused(error: bytes("{}"))), .failed(.noResponder),
            .failed(.responderBusy), .failed(.selectorNotImplemented),
            .failed(.responderRefused(error: bytes("{\"code\":1}"))), .failed(.responderGone),
            .fallback(bytes("true"), .noAnswer),
        ]
        return AskOutcome(
            id: id(number), state: states[Int(number % outcomeCount)],
            path: (0..<number % 4).map { bytes("address \($0)") })
    }

    static func archive(_ number: UInt32) -> ArchiveRecord {
        var terms = ArchiveTerms()
        terms.count = number % 2 == 0 ? nil : Int(number)
        terms.age = number % 3 == 0 ? nil : 5_000
        terms.each = number % 2 == 0 ? .name : .object
        terms.keepLast = 3
        terms.isStored = number % 4 != 0
        return ArchiveRecord(
            number: number,
            name: ArchiveName(Array("Order.".utf8), isPrefix: number % 2 == 0), terms: terms,
            since: 7, began: LossMark(sequence: 3, postedAt: 4), forgotten: marks(2),
            isEnded: number % 5 == 0)
    }

    static func archivedKind(_ number: UInt64) -> ArchivedKindRecord {
        ArchivedKindRecord(
            key: ArchivedKindKey(
                archive: 2, name: Array("Name\(number)".utf8),
                object: number % 2 == 0 ? nil : Array("object".utf8), isOfObject: true),
            marks: marks(number), began: LossMark(sequence: 1, postedAt: 2))
    }

    static func kept(_ number: UInt64) -> KeptRecord {
        KeptRecord(
            archive: 2, notification: notification(number).notification,
            endsAt: number % 2 == 0 ? nil : 300)
    }

    private static func marks(_ number: UInt64) -> LossMarks {
        var marks = LossMarks()
        marks.passed = LossMark(sequence: number, postedAt: 1_000)
        marks.ended = LossMark(sequence: number + 1, postedAt: -1)
        return marks
    }

    static func key(_ number: UInt64, sequence: UInt64 = 0, hasAsk: Bool = false) -> KeyRecord {
        var receipts: [Receipt] = []
        let states: [Receipt.State] = [
            .posted, .queued, .coalesced(into: id(number)), .dequeued, .expired,
            .timed(dueAt: Int64(number)), .timed(dueAt: nil),
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
            .coalesced, .dropped, .disconnected, .answered(result: bytes("[1]")), .resultOmitted,
            .unhandled(.noResponder), .unhandled(.responderBusy),
        ]
        let rows = outcomes.enumerated().map { place, outcome in
            var route: ActionRoute?
            if place % 3 == 1 || place > 9 {
                let path = (0...place % 3).map { bytes("address \($0)") }
                route = ActionRoute(path: path, responder: place > 9 ? nil : UInt64(place))
            }
            return ReportRow(
                observer: .max - UInt64(place), outcome: outcome, route: route)
        }
        return KeyRecord(
            key: IdempotencyKey(
                principal: bytes("p\(number % 2)"), text: bytes("key \(number)"),
                requestHash: hash(number), form: UInt8(number % 200)),
            receipts: receipts, reports: [rows, []], ask: hasAsk ? outcome(number) : nil)
    }
}
