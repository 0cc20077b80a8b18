/// The digest of keyed answers: all that can be observed of them now or later.
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
            for receipt in record.receipts { digest.add(receipt) }  // Bound: snapshot
            digest.add(record.reports)
            digest.add(record.ask?.byteCount ?? -1)
        }
    }
}
