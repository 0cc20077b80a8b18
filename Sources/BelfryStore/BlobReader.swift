internal import BelfryCenter

/// Reads what ``BlobWriter`` wrote; anything else is nil.
struct BlobReader {
    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var isAtEnd: Bool { position == bytes.count }

    /// The modes of a queue entry, or the selectors of a responder.
    static func texts(_ bytes: [UInt8]) -> [[UInt8]]? {
        all(of: bytes) { $0.text() }
    }

    /// Reads the scope of a poster; no blob is everything.
    static func scope(_ bytes: [UInt8]?) -> PostScope? {
        guard let bytes else { return .everything }
        let patterns = all(of: bytes) { reader -> PostScope.Pattern? in
            guard let names = reader.list({ $0.scopeText() }),
                let objects = reader.list({ $0.scopeText() })
            else { return nil }
            return PostScope.Pattern(names: names, objects: objects)
        }
        return patterns.map { .some($0) }
    }

    private mutating func scopeText() -> PostScope.Text? {
        switch number() {
        case 0: text().map { .exact($0) }
        case 1: text().map { .prefix($0) }
        default: nil
        }
    }

    /// The observers that were shown an ask.
    static func serials(_ bytes: [UInt8]) -> [UInt64]? {
        all(of: bytes) { $0.number() }
    }

    /// The places of a value that end some time.
    static func parts(_ bytes: [UInt8]) -> [ValueRecord.Part]? {
        all(of: bytes) { $0.part() }
    }

    /// How an ask ended.
    static func outcome(_ bytes: [UInt8]) -> AskOutcome? {
        var reader = BlobReader(bytes)
        guard let outcome = reader.askOutcome(), reader.isAtEnd else { return nil }
        return outcome
    }

    /// An idempotency key with its answer.
    static func record(of key: IdempotencyKey, answer: [UInt8]) -> KeyRecord? {
        guard let form = answer.first.flatMap(BlobWriter.AnswerForm.init(rawValue:)) else {
            return nil
        }
        var reader = BlobReader(answer)
        reader.position = 1
        guard let receipts = reader.list({ $0.receipt() }),
            let reports = reader.list({ reader in reader.list { $0.row() } })
        else { return nil }
        let ask = form == .ask ? reader.askOutcome() : nil
        guard reader.isAtEnd, (form == .ask) == (ask != nil) else { return nil }
        return KeyRecord(key: key, receipts: receipts, reports: reports, ask: ask)
    }

    /// Elements one behind the other, up to the end.
    private static func all<Element>(
        of bytes: [UInt8], _ element: (inout BlobReader) -> Element?
    ) -> [Element]? {
        var reader = BlobReader(bytes)
        var all: [Element] = []
        while !reader.isAtEnd {
            guard let element = element(&reader) else { return nil }
            all.append(element)
        }
        return all
    }

    private mutating func number() -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count, shift < 64 {
            let byte = bytes[position]
            position += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
            shift += 7
        }
        return nil
    }

    private mutating func count() -> UInt32? {
        number().flatMap { UInt32(exactly: $0) }
    }

    private mutating func text() -> [UInt8]? {
        guard let count = number(), count <= UInt64(bytes.count - position) else { return nil }
        defer { position += Int(count) }
        return Array(bytes[position..<position + Int(count)])
    }

    private mutating func list<Element>(
        _ element: (inout BlobReader) -> Element?
    ) -> [Element]? {
        guard let count = number() else { return nil }
        var list: [Element] = []
        for _ in 0..<count {
            guard let element = element(&self) else { return nil }
            list.append(element)
        }
        return list
    }

    private mutating func id() -> NotificationID? {
        guard let high = number(), let low = number() else { return nil }
        return NotificationID(high: high, low: low)
    }

    private mutating func receipt() -> Receipt? {
        guard let id = id(), let sequence = number(), let state = state(), let matched = count(),
            let delivered = count(), let held = count(), let coalesced = count(),
            let dropped = count(), let acknowledged = count(), let refused = count(),
            let pending = count(), let dequeued = count()
        else { return nil }
        var receipt = Receipt(id: id, sequence: sequence)
        receipt.state = state
        receipt.matched = matched
        receipt.delivered = delivered
        receipt.held = held
        receipt.coalesced = coalesced
        receipt.dropped = dropped
        receipt.acknowledged = acknowledged
        receipt.refused = refused
        receipt.pending = pending
        receipt.dequeued = dequeued
        return receipt
    }

    private mutating func state() -> Receipt.State? {
        switch number() {
        case 0: .posted
        case 1: .queued
        case 2: id().map { .coalesced(into: $0) }
        case 3: .dequeued
        case 4: .expired
        case 5:
            number().map { number in
                let dueAt = Int64(bitPattern: number)
                return .timed(dueAt: dueAt < 0 ? nil : dueAt)
            }
        default: nil
        }
    }

    private mutating func part() -> ValueRecord.Part? {
        guard let path = text(), let flags = number(), flags < 8 else { return nil }
        var expiresAt: Int64?
        var lease: ValueRecord.Lease?
        if flags & 1 != 0 {
            guard let time = number() else { return nil }
            expiresAt = Int64(bitPattern: time)
        }
        if flags & 2 != 0 {
            guard let client = number(), let nanoseconds = number() else { return nil }
            lease = ValueRecord.Lease(client: client, nanoseconds: Int64(bitPattern: nanoseconds))
        }
        var timeToLive: Int64?
        if flags & 4 != 0 {
            guard let milliseconds = number() else { return nil }
            timeToLive = Int64(bitPattern: milliseconds)
        }
        return ValueRecord.Part(
            pathText: path, expiresAt: expiresAt, timeToLive: timeToLive, lease: lease)
    }

    private mutating func row() -> ReportRow? {
        guard let observer = number(), var mark = number() else { return nil }
        var route: ActionRoute?
        if mark == BlobWriter.routeMark {
            guard let path = list({ $0.text() }), let responder = number(), let next = number()
            else { return nil }
            route = ActionRoute(path: path, responder: responder == 0 ? nil : responder)
            mark = next
        }
        guard let outcome = outcome(mark) else { return nil }
        return ReportRow(observer: observer, outcome: outcome, route: route)
    }

    private mutating func outcome(_ mark: UInt64) -> ReportRow.Outcome? {
        switch mark {
        case 0: .delivered
        case 1: .acknowledged
        case 2: text().map { .refused(error: $0) }
        case 3: .pending
        case 4: .held
        case 5: .coalesced
        case 6: .dropped
        case 7: .disconnected
        case 8: text().map { .answered(result: $0) }
        case 9: .resultOmitted
        case 10: failure().map { .unhandled($0) }
        default: nil
        }
    }

    private mutating func askOutcome() -> AskOutcome? {
        guard let id = id(), let state = askState(), let path = list({ $0.text() }) else {
            return nil
        }
        return AskOutcome(id: id, state: state, path: path)
    }

    private mutating func askState() -> AskOutcome.State? {
        switch number() {
        case 0: return number().map { .open(until: Int64(bitPattern: $0)) }
        case 1:
            guard let answer = text(), let observer = number() else { return nil }
            return .answered(answer, observer: observer)
        case 2:
            guard let answer = text(), let failure = failure() else { return nil }
            return .fallback(answer, failure)
        case 3: return failure().map { .failed($0) }
        case 4: return .withdrawn
        default: return nil
        }
    }

    private mutating func failure() -> AskFailure? {
        switch number() {
        case 0: .noResponder
        case 1: .responderBusy
        case 2: .selectorNotImplemented
        case 3: text().map { .responderRefused(error: $0) }
        case 4: .responderGone
        case 5: .noAnswer
        default: nil
        }
    }
}
