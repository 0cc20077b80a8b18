/// What became of recent posts, for `GET /v1/notifications/{id}` and for `causedBy` chains.
///
/// It keeps no names and no `userInfo`: an entry has the same size whatever was posted.
struct FateTable: Sendable {
    private var order = Ring<Entry>()
    private var positions: [NotificationID: UInt64] = [:]

    private struct Entry: Sendable {
        let receipt: Receipt
        let depth: UInt32
        let expiresAt: Int64
    }

    /// How many are remembered.
    var count: Int { order.count }

    /// Remembers a post, and forgets those that are too old or too many.
    mutating func append(_ receipt: Receipt, depth: Int, at now: Int64, limits: CenterLimits) {
        let entry = Entry(
            receipt: receipt, depth: UInt32(depth),
            expiresAt: Self.expiry(of: limits.fateLifetime, from: now))
        positions[receipt.id] = order.append(entry)
        trim(to: limits, at: now)
    }

    /// Forgets posts that are too old or too many.
    mutating func trim(to limits: CenterLimits, at now: Int64) {
        while let oldest = order.first, order.count > limits.fateLimit || oldest.expiresAt <= now {
            // The same identifier may have been posted again since.
            if positions[oldest.receipt.id] == order.startPosition {
                positions[oldest.receipt.id] = nil
            }
            order.removeFirst()
        }
    }

    /// A lifetime that no clock reaches is as good as the end of the clock.
    private static func expiry(of lifetime: Duration, from now: Int64) -> Int64 {
        let parts = lifetime.components
        let (seconds, isTooLong) = parts.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if isTooLong { return Int64.max }
        let (time, isPastTheEnd) = now.addingReportingOverflow(seconds)
        if isPastTheEnd { return Int64.max }
        let (whole, isLast) = time.addingReportingOverflow(parts.attoseconds / 1_000_000_000)
        return isLast ? Int64.max : whole
    }

    /// How long the chain is that ends at this notification.
    func depth(of id: NotificationID) -> Int? {
        positions[id].map { Int(order[$0].depth) }
    }

    /// The account of a post, unless it is forgotten.
    func receipt(of id: NotificationID, at now: Int64) -> Receipt? {
        guard let position = positions[id], order[position].expiresAt > now else { return nil }
        return order[position].receipt
    }

    /// Calls the visitor with each receipt, its depth and when it is forgotten, oldest first.
    func forEach(_ visit: (Receipt, _ depth: UInt32, _ expiresAt: Int64) -> Void) {
        var position = order.startPosition
        while position < order.endPosition {
            let entry = order[position]
            visit(entry.receipt, entry.depth, entry.expiresAt)
            position += 1
        }
    }
}
