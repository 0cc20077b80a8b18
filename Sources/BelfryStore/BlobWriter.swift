internal import BelfryCenter

/// Writes small blobs: numbers in groups of seven bits, the lowest first, and counted bytes.
struct BlobWriter {
    /// The version of the answers that are written; the first byte of each.
    static let answerVersion: UInt8 = 1

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

    /// The modes of a queue entry.
    static func modes(_ modes: [[UInt8]]) -> [UInt8] {
        var writer = BlobWriter()
        for mode in modes { writer.append(mode) }
        return writer.bytes
    }

    /// What an idempotency key answers: its receipts, and the rows of its reports.
    static func answer(of record: KeyRecord) -> [UInt8] {
        var writer = BlobWriter()
        writer.bytes.append(answerVersion)
        writer.append(UInt64(record.receipts.count))
        for receipt in record.receipts { writer.append(receipt) }
        writer.append(UInt64(record.reports.count))
        for rows in record.reports {
            writer.append(UInt64(rows.count))
            for row in rows { writer.append(row) }
        }
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
        switch row.outcome {
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
        }
    }
}
