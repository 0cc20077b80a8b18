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
        let lifetime = limits.fateLifetime.components.seconds * 1_000_000_000
        let entry = Entry(receipt: receipt, depth: UInt32(depth), expiresAt: now + lifetime)
        positions[receipt.id] = order.append(entry)
        while order.count > limits.fateLimit || (order.first.map { $0.expiresAt <= now } ?? false) {
            removeFirst()
        }
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

    private mutating func removeFirst() {
        guard let oldest = order.first else { return }
        // The same identifier may have been posted again since.
        if positions[oldest.receipt.id] == order.startPosition {
            positions[oldest.receipt.id] = nil
        }
        order.removeFirst()
    }
}
