/// A digest of the whole state of a center: equal states have equal digests.
///
/// It is SipHash-1-3 with a key that is the same in every process, over all fields in one order.
/// Text is preceded by its length and an optional by whether it is there, so that no two different
/// states write the same words.
struct StateDigest {
    private var state = SipState(HashSeed(0x6265_6c66_7279_2e64, 0x6967_6573_742e_7631))

    /// The digest of everything added so far.
    func finish() -> UInt64 {
        var copy = state
        return copy.finish()
    }

    mutating func add(_ word: UInt64) { state.absorb(word) }
    mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }
    mutating func add(_ number: Int) { add(Int64(number)) }
    mutating func add(_ number: UInt32) { add(UInt64(number)) }
    mutating func add(_ flag: Bool) { add(flag ? 1 as UInt64 : 0) }

    mutating func add(_ bytes: Span<UInt8>) {
        add(bytes.count)
        var word: UInt64 = 0
        var shift: UInt64 = 0
        for index in bytes.indices {  // Bound: bytes
            word |= UInt64(bytes[index]) << shift
            shift += 8
            if shift == 64 {
                add(word)
                word = 0
                shift = 0
            }
        }
        if shift > 0 { add(word) }
    }

    mutating func add(_ bytes: [UInt8]) { add(bytes.span) }

    mutating func add(_ bytes: [UInt8]?) {
        add(bytes != nil)
        if let bytes { add(bytes) }
    }

    mutating func add(_ hash: SecretHash) {
        add(hash.high)
        add(hash.low)
    }

    mutating func add(_ content: Notification.Content) {
        add(content.name)
        add(content.hasObject)
        if let object = content.object { add(object) }
        let userInfo = content.userInfo
        add(userInfo != nil)
        if let userInfo { add(userInfo) }
    }

    mutating func add(_ notification: Notification) {
        add(notification.id)
        add(notification.sequence)
        add(notification.postedAt)
        add(notification.causedBy != nil)
        if let cause = notification.causedBy { add(cause) }
        add(notification.content)
        add(notification.expiresAt)
        add(notification.isRestored)
    }

    mutating func add(_ outcome: ReportRow.Outcome) {
        switch outcome {
        case .delivered: add(0 as UInt64)
        case .acknowledged: add(1 as UInt64)
        case .refused(let error):
            add(2 as UInt64)
            add(error)
        case .pending: add(3 as UInt64)
        case .held: add(4 as UInt64)
        case .coalesced: add(5 as UInt64)
        case .dropped: add(6 as UInt64)
        case .disconnected: add(7 as UInt64)
        case .answered(let result):
            add(8 as UInt64)
            add(result)
        case .resultOmitted: add(9 as UInt64)
        case .unhandled(let failure):
            add(10 as UInt64)
            add(Array(failure.text.utf8))
        }
    }

    mutating func add(_ reports: [[ReportRow]]) {
        add(reports.count)
        for rows in reports {  // Bound: snapshot
            add(rows.count)
            for row in rows {  // Bound: snapshot
                add(row.observer)
                add(row.outcome)
                guard let route = row.route else { continue }
                for address in route.path { add(address) }  // Bound: snapshot
                add(route.responder ?? 0)
            }
        }
    }

    mutating func add(_ id: NotificationID) {
        add(id.high)
        add(id.low)
    }

    mutating func add(_ receipt: Receipt) {
        add(receipt.id)
        add(receipt.sequence)
        switch receipt.state {
        case .posted: add(0 as UInt64)
        case .queued: add(1 as UInt64)
        case .coalesced(let id):
            add(2 as UInt64)
            add(id)
        case .dequeued: add(3 as UInt64)
        case .expired: add(4 as UInt64)
        case .timed(let dueAt):
            add(5 as UInt64)
            add(dueAt ?? -1)
        }
        for count in [
            receipt.matched, receipt.delivered, receipt.held, receipt.coalesced, receipt.dropped,
            receipt.acknowledged, receipt.refused, receipt.pending, receipt.dequeued,
        ] { add(count) }
    }

    mutating func add(_ remover: Remover) {
        switch remover {
        case .client(let id):
            add(0 as UInt64)
            add(id)
        case .principal(let principal):
            add(1 as UInt64)
            add(principal)
        case .broker:
            add(2 as UInt64)
        }
    }
}
