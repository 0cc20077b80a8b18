/// The fates of recent posts, for `GET /v1/notifications/{id}` and for `causedBy` chains.
///
/// The table keeps no names and no `userInfo`: every entry has the same size.
struct FateTable: Footprinted, Sendable {
    private var order = Ring<Entry>()
    private var positions: PositionTable
    private var countLimit: Int
    /// In nanoseconds.
    private var lifetime: Int64

    fileprivate struct Entry: Sendable {
        var receipt: Receipt
        let depth: UInt32
        let expiresAt: Int64
    }

    /// Makes an empty table; the seed is the secret of its hash table.
    init(limits: CenterLimits, seed: HashSeed = HashSeed(0, 0)) {
        countLimit = limits.fateLimit
        lifetime = limits.fateLifetime.wholeNanoseconds
        positions = PositionTable(seed: seed)
    }

    /// Sets other limits: the lifetime applies to the posts to come.
    mutating func configure(_ limits: CenterLimits, at now: Int64) {
        countLimit = limits.fateLimit
        lifetime = limits.fateLifetime.wholeNanoseconds
        trim(at: now)
    }

    /// How many are remembered.
    var count: Int { order.count }

    /// The bytes that the table costs.
    var footprint: Int { order.footprint + positions.footprint }

    /// Remembers a post, and forgets those that are too old or too many.
    mutating func append(_ receipt: Receipt, depth: Int, at now: Int64) {
        let entry = Entry(
            receipt: receipt, depth: UInt32(depth), expiresAt: now.adding(lifetime))
        let position = order.append(entry)
        positions.insert(receipt.id, at: position, above: order.startPosition) {
            order[$0].receipt.id
        }
        trim(at: now)
    }

    /// Forgets posts that are too old or too many; after a quiet time some with each post.
    private mutating func trim(at now: Int64) {
        for _ in 0..<Work.vainLookLimit {  // Bound: forgotten
            guard !order.isEmpty,
                order.count > countLimit || order[order.startPosition].expiresAt <= now
            else { return }
            forgetOldest()
        }
    }

    /// Forgets the oldest posts until no more than so many are left.
    mutating func trim(toCount count: Int) {
        while order.count > count { forgetOldest() }  // Bound: forgotten
        order.shrink()
        positions.shrink()
    }

    private mutating func forgetOldest() {
        // The same identifier may have been posted again since: then it stays.
        let position = order.startPosition
        positions.remove(order[position].receipt.id, at: position)
        order.removeFirst()
    }

    /// The length of the chain that ends at this notification.
    func depth(of id: NotificationID) -> Int? {
        position(of: id).map { Int(order[$0].depth) }
    }

    /// The account of a post, unless it is forgotten.
    func receipt(of id: NotificationID, at now: Int64) -> Receipt? {
        guard let position = position(of: id), order[position].expiresAt > now else { return nil }
        return order[position].receipt
    }

    /// The present account of a post, however old it is.
    func current(_ id: NotificationID) -> Receipt? {
        position(of: id).map { order[$0].receipt }
    }

    /// Changes the account of a post, unless it is forgotten.
    mutating func update(_ id: NotificationID, _ change: (inout Receipt) -> Void) {
        guard let position = position(of: id) else { return }
        order.update(position) { change(&$0.receipt) }
    }

    private func position(of id: NotificationID) -> UInt64? {
        positions.position(of: id, above: order.startPosition) { order[$0].receipt.id }
    }

    /// Calls the visitor with each receipt, its depth and when it is forgotten, oldest first.
    func forEach(_ visit: (Receipt, _ depth: UInt32, _ expiresAt: Int64) -> Void) {
        var position = order.startPosition
        while position < order.endPosition {  // Bound: snapshot
            let entry = order[position]
            visit(entry.receipt, entry.depth, entry.expiresAt)
            position += 1
        }
    }
}

extension FateTable.Entry: Coded {
    init(_ known: FateTable.Entry?, by coder: inout some Coder) throws(CodeError) {
        receipt = try coder(known?.receipt)
        depth = try coder(known?.depth)
        expiresAt = try coder(known?.expiresAt)
    }
}

extension FateTable: Coded {
    init(_ known: FateTable?, by coder: inout some Coder) throws(CodeError) {
        order = try coder(known?.order)
        countLimit = try coder(known?.countLimit)
        lifetime = try coder(known?.lifetime)
        positions = known?.positions ?? PositionTable(seed: coder.seed)
        guard coder.isReading else { return }
        positions.insert(
            all: order.startPosition..<order.endPosition, above: order.startPosition
        ) { order[$0].receipt.id }
    }
}
