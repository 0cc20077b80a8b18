/// The modes of a center: nested leases, each of which may end at any time (rules Q15, Q16).
///
/// The end of a lease leaves the others as they are, also those entered later.
struct ModeStack: Footprinted, Sendable {
    fileprivate struct Lease: Sendable {
        let entry: ModeEntry
        /// On the monotonic clock in nanoseconds; `Int64.max` is never.
        let endsAt: Int64
    }

    /// In the order of entering; there are few.
    private var stack: [Lease] = []

    /// The bytes that the stack costs: leases are few, and each may have a name of its own.
    var footprint: Int {
        Footprint.array(of: stack.capacity, stride: MemoryLayout<Lease>.stride)
            + stack.reduce(0) { $0 + $1.entry.mode.footprint }
    }

    /// How many leases there are.
    var count: Int { stack.count }

    /// The mode that the queue waits in.
    var current: [UInt8] { stack.last?.entry.mode ?? Mode.default }

    /// The leases, outermost first.
    var leases: [ModesRow.Lease] {
        stack.map { lease in
            ModesRow.Lease(
                serial: lease.entry.serial, mode: lease.entry.mode, client: lease.entry.client,
                tokenHash: lease.entry.tokenHash)
        }
    }

    /// When the next lease ends, on the monotonic clock in nanoseconds.
    @inline(__always)
    var nextDeadline: Int64? {
        if stack.isEmpty { return nil }
        guard let first = stack.map(\.endsAt).min(), first != Int64.max else { return nil }
        return first
    }

    /// Enters a mode on top of the others.
    ///
    /// - Throws: `modeStackFull`.
    mutating func enter(_ entry: ModeEntry, limit: Int, at now: Int64) throws(Refusal) {
        guard stack.count < limit else { throw .modeStackFull(limit: limit) }
        stack.append(Lease(entry: entry, endsAt: now.adding(entry.lease)))
    }

    /// Ends a lease at any place of the stack, and returns whether there was one.
    mutating func leave(_ serial: UInt64) -> Bool {
        remove { $0.entry.serial == serial }
    }

    /// Ends all leases of a client, and returns whether there was one.
    mutating func leaveAll(ofClient client: UInt64) -> Bool {
        remove { $0.entry.client == client }
    }

    /// Ends the leases whose time is over, and returns whether there was one.
    mutating func passTime(_ now: Int64) -> Bool {
        remove { $0.endsAt <= now }
    }

    private mutating func remove(where isOver: (Lease) -> Bool) -> Bool {
        let oldCount = stack.count
        stack.removeAll { isOver($0) }
        return stack.count < oldCount
    }
}

extension ModeStack.Lease: Coded {
    init(_ known: ModeStack.Lease?, by coder: inout some Coder) throws(CodeError) {
        entry = try coder(known?.entry)
        endsAt = try coder(known?.endsAt)
    }
}

extension ModeStack: Coded {
    init(_ known: ModeStack?, by coder: inout some Coder) throws(CodeError) {
        stack = try coder(known?.stack)
    }
}
