/// The fates of recent asks: past a number, a size or a time the oldest is forgotten.
struct AskFateTable: Footprinted, Sendable {
    /// The fate of one ask.
    struct Fate: Sendable {
        let outcome: AskOutcome
        /// The selector as its name, and the address as its object.
        let content: Notification.Content
        let principal: [UInt8]
        let depth: Int
        /// The observers that were shown it.
        let shown: FewList<UInt64>
        /// Whether the store has it.
        let isStored: Bool
        /// On the monotonic clock in nanoseconds.
        let forgottenAt: Int64

        /// The bytes of its texts.
        var byteCount: Int {
            outcome.byteCount + content.byteCount + principal.count + 8 * shown.count
        }
    }

    private var order = Ring<Fate>()
    private var positions: PositionTable
    private(set) var byteCount = 0
    /// The number of fates that the store has.
    private(set) var storedCount = 0

    init(seed: HashSeed) {
        positions = PositionTable(seed: seed)
    }

    /// The number of fates that are remembered.
    var count: Int { order.count }

    /// The bytes that the table costs.
    var footprint: Int {
        order.footprint + positions.footprint
            + Footprint.texts(count: 3 * count, byteCount: byteCount)
    }

    /// The time when the oldest is forgotten, on the monotonic clock in nanoseconds.
    @inline(__always)
    var nextDeadline: Int64? {
        order.isEmpty ? nil : order[order.startPosition].forgottenAt
    }

    subscript(id: NotificationID) -> Fate? {
        positions.position(of: id, above: order.startPosition) { order[$0].outcome.id }
            .map { order[$0] }
    }

    /// Adds the fate of an ask that ended just now.
    mutating func append(_ fate: consuming Fate) {
        byteCount += fate.byteCount
        if fate.isStored { storedCount += 1 }
        let id = fate.outcome.id
        let position = order.append(fate)
        positions.insert(id, at: position, above: order.startPosition) { order[$0].outcome.id }
    }

    /// Forgets the oldest past the limits; returns those of them that the store has.
    mutating func trim(to limits: CenterLimits) -> [NotificationID] {
        forget(limit: .max) { table, _ in
            table.count > limits.fateLimit || table.byteCount > limits.answerMemoryLimit
        }
    }

    /// Forgets the oldest until no more than so many are left.
    mutating func trim(toCount limit: Int) -> [NotificationID] {
        forget(limit: .max) { table, _ in table.count > limit }
    }

    /// Forgets the fates that are too old, at most so many.
    mutating func passTime(_ now: Int64, limit: Int) -> [NotificationID] {
        forget(limit: limit) { _, oldest in oldest.forgottenAt <= now }
    }

    private mutating func forget(
        limit: Int, while isOver: (borrowing AskFateTable, Fate) -> Bool
    ) -> [NotificationID] {
        var stored: [NotificationID] = []
        var room = limit
        while room > 0, let oldest = order.first, isOver(self, oldest) {  // Bound: forgotten
            positions.remove(oldest.outcome.id, at: order.startPosition)
            byteCount -= oldest.byteCount
            order.removeFirst()
            if oldest.isStored {
                stored.append(oldest.outcome.id)
                storedCount -= 1
            }
            room -= 1
        }
        return stored
    }
}

extension AskOutcome {
    /// The bytes of its texts.
    var byteCount: Int {
        path.reduce(state.textByteCount) { $0 + Footprint.array(of: $1.count) }
    }
}

extension AskFateTable.Fate {
    /// Makes the fate of an ask that was open.
    init(_ ask: borrowing OpenAsk, _ outcome: AskOutcome, forgottenAt: Int64) {
        self.init(
            outcome: outcome, content: ask.content.withoutUserInfo, principal: ask.principal,
            depth: ask.depth, shown: ask.shown, isStored: ask.isStored,
            forgottenAt: forgottenAt)
    }
}

extension AskFateTable.Fate: Coded {
    init(_ known: AskFateTable.Fate?, by coder: inout some Coder) throws(CodeError) {
        outcome = try coder(known?.outcome)
        content = try coder(known?.content)
        principal = try coder(known?.principal)
        depth = try coder(known?.depth)
        shown = try coder(known?.shown)
        isStored = try coder(known?.isStored)
        forgottenAt = try coder(known?.forgottenAt)
    }
}

extension AskFateTable: Coded {
    init(_ known: AskFateTable?, by coder: inout some Coder) throws(CodeError) {
        order = try coder(known?.order)
        byteCount = try coder(known?.byteCount)
        storedCount = try coder(known?.storedCount)
        positions = known?.positions ?? PositionTable(seed: coder.seed)
        guard coder.isReading else { return }
        positions.insert(
            all: order.startPosition..<order.endPosition, above: order.startPosition
        ) { order[$0].outcome.id }
    }
}

extension AddressTable: Footprinted {}
