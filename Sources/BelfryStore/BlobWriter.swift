internal import BelfryCenter

/// Writes small blobs: numbers in groups of seven bits, the lowest first, and counted bytes.
struct BlobWriter {
    /// The form of the answer of a key; the first byte of each blob.
    enum AnswerForm: UInt8 {
        /// Receipts, and the rows of their reports.
        case receipts = 1
        /// Receipts and reports, and the state of an ask.
        case ask = 2
    }

    private(set) var bytes: [UInt8] = []

    mutating func append(_ number: UInt64) {
        var rest = number
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func append(_ text: [UInt8]) {
        append(UInt64(text.count))
        bytes += text
    }

    mutating func append(_ id: NotificationID) {
        append(id.high)
        append(id.low)
    }

    /// The modes of a queue entry, or the selectors of a responder.
    static func texts(_ texts: [[UInt8]]) -> [UInt8] {
        var writer = BlobWriter()
        for text in texts { writer.append(text) }
        return writer.bytes
    }

    /// Writes the scope of a poster; nil for everything.
    static func scope(_ scope: PostScope) -> [UInt8]? {
        guard case .some(let patterns) = scope else { return nil }
        var writer = BlobWriter()
        for pattern in patterns {
            for texts in [pattern.names, pattern.objects] {
                writer.append(UInt64(texts.count))
                for text in texts { writer.append(text) }
            }
        }
        return writer.bytes
    }

    private mutating func append(_ text: PostScope.Text) {
        switch text {
        case .exact(let bytes):
            append(0)
            append(bytes)
        case .prefix(let bytes):
            append(1)
            append(bytes)
        }
    }

    /// The observers that were shown an ask.
    static func serials(_ serials: [UInt64]) -> [UInt8] {
        var writer = BlobWriter()
        for serial in serials { writer.append(serial) }
        return writer.bytes
    }

    /// The places of a value that end some time.
    static func parts(_ parts: [ValueRecord.Part]) -> [UInt8] {
        var writer = BlobWriter()
        for part in parts {
            writer.append(part.pathText)
            writer.append(
                (part.expiresAt == nil ? 0 : 1) | (part.lease == nil ? 0 : 2)
                    | (part.timeToLive == nil ? 0 : 4))
            if let expiresAt = part.expiresAt { writer.append(UInt64(bitPattern: expiresAt)) }
            if let lease = part.lease {
                writer.append(lease.client)
                writer.append(UInt64(bitPattern: lease.nanoseconds))
            }
            if let timeToLive = part.timeToLive { writer.append(UInt64(bitPattern: timeToLive)) }
        }
        return writer.bytes
    }

    /// How an ask ended.
    static func outcome(_ outcome: AskOutcome) -> [UInt8] {
        var writer = BlobWriter()
        writer.append(outcome)
        return writer.bytes
    }

    /// Writes the answer of an idempotency key: receipts, reports, and the state of its ask.
    static func answer(of record: KeyRecord) -> [UInt8] {
        var writer = BlobWriter()
        let form: AnswerForm = record.ask == nil ? .receipts : .ask
        writer.bytes.append(form.rawValue)
        writer.append(UInt64(record.receipts.count))
        for receipt in record.receipts { writer.append(receipt) }
        writer.append(UInt64(record.reports.count))
        for rows in record.reports {
            writer.append(UInt64(rows.count))
            for row in rows { writer.append(row) }
        }
        if let ask = record.ask { writer.append(ask) }
        return writer.bytes
    }

    private mutating func append(_ receipt: Receipt) {
        append(receipt.id)
        append(receipt.sequence)
        switch receipt.state {
        case .posted: append(0)
        case .queued: append(1)
        case .coalesced(let survivor):
            append(2)
            append(survivor)
        case .dequeued: append(3)
        case .expired: append(4)
        case .timed(let dueAt):
            append(5)
            // No time of day is below 0: that is none.
            append(UInt64(bitPattern: dueAt ?? -1))
        }
        for count in [
            receipt.matched, receipt.delivered, receipt.held, receipt.coalesced, receipt.dropped,
            receipt.acknowledged, receipt.refused, receipt.pending, receipt.dequeued,
        ] {
            append(UInt64(count))
        }
    }

    private mutating func append(_ row: ReportRow) {
        append(row.observer)
        if let route = row.route {
            append(Self.routeMark)
            append(UInt64(route.path.count))
            for address in route.path { append(address) }
            append(route.responder ?? 0)
        }
        append(row.outcome)
    }

    /// The mark before an outcome with the route of an action; numbers of outcomes are below it.
    static let routeMark: UInt64 = 64

    private mutating func append(_ outcome: ReportRow.Outcome) {
        switch outcome {
        case .delivered: append(0)
        case .acknowledged: append(1)
        case .refused(let error):
            append(2)
            append(error)
        case .pending: append(3)
        case .held: append(4)
        case .coalesced: append(5)
        case .dropped: append(6)
        case .disconnected: append(7)
        case .answered(let result):
            append(8)
            append(result)
        case .resultOmitted: append(9)
        case .unhandled(let failure):
            append(10)
            append(failure)
        }
    }

    private mutating func append(_ outcome: AskOutcome) {
        append(outcome.id)
        switch outcome.state {
        case .open(let until):
            append(0)
            append(UInt64(bitPattern: until))
        case .answered(let answer, let observer):
            append(1)
            append(answer)
            append(observer)
        case .fallback(let answer, let failure):
            append(2)
            append(answer)
            append(failure)
        case .failed(let failure):
            append(3)
            append(failure)
        case .withdrawn: append(4)
        }
        append(UInt64(outcome.path.count))
        for address in outcome.path { append(address) }
    }

    private mutating func append(_ failure: AskFailure) {
        switch failure {
        case .noResponder: append(0)
        case .responderBusy: append(1)
        case .selectorNotImplemented: append(2)
        case .responderRefused(let error):
            append(3)
            append(error)
        case .responderGone: append(4)
        case .noAnswer: append(5)
        }
    }
}
