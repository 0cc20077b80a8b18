/// What a digest sees of keyed answers: all that can be seen of them now or later.
extension KeyedAnswers {
    /// Adds the answers, the oldest first.
    func addDigest(to digest: inout StateDigest) {
        digest.add(count)
        forEach { record, waitingFor, expiresAt in
            digest.add(record.key.principal)
            digest.add(record.key.text)
            digest.add(record.key.requestHash)
            digest.add(UInt64(record.key.form))
            digest.add(waitingFor != nil)
            if let waitingFor { digest.add(waitingFor) }
            digest.add(expiresAt)
            digest.add(record.receipts.count)
            for receipt in record.receipts { digest.add(receipt) }
            digest.add(record.reports.count)
            for rows in record.reports {
                digest.add(rows.count)
                for row in rows { Self.add(row, to: &digest) }
            }
        }
    }

    private static func add(_ row: ReportRow, to digest: inout StateDigest) {
        digest.add(row.observer)
        switch row.outcome {
        case .delivered: digest.add(0 as UInt64)
        case .acknowledged: digest.add(1 as UInt64)
        case .refused(let error):
            digest.add(2 as UInt64)
            digest.add(error)
        case .pending: digest.add(3 as UInt64)
        case .held: digest.add(4 as UInt64)
        case .coalesced: digest.add(5 as UInt64)
        case .dropped: digest.add(6 as UInt64)
        case .disconnected: digest.add(7 as UInt64)
        }
    }
}
