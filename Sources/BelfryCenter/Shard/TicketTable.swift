/// Tickets: each replaces the credentials of its caller, once, and for a short time.
///
/// Only their hashes are kept. Each principal has a share of them: when it asks for one more, its
/// oldest ticket is removed. The holder is the kept part of the credentials.
public struct TicketTable<Holder: Sendable>: Sendable {
    private var tickets: [SecretHash: Ticket] = [:]
    /// All tickets in the order in which they were made, which is that of their ends.
    private var order = Ring<SecretHash>()
    private var shares: [[UInt8]: Share] = [:]
    private var placeCount = 0
    private let limit: Int

    /// A ticket that was not used.
    struct Ticket: Sendable {
        let holder: Holder
        let principal: [UInt8]
        /// How many places it takes: one or more.
        let placeCount: Int
        /// The end of its time, in nanoseconds.
        let end: Int64
    }

    /// The tickets of one principal.
    private struct Share {
        var placeCount = 0
        var order = Ring<SecretHash>()
    }

    /// Makes an empty table.
    public init() { self.init(limit: TicketTerms.limit) }

    init(limit: Int) { self.limit = limit }

    /// How many tickets there are, with those that have ended since the last one was made.
    var count: Int { tickets.count }

    /// Keeps a ticket, if there is room beside those of other principals.
    ///
    /// - Parameters:
    ///   - placeCount: how many places it takes.
    ///   - share: how many places the tickets of a principal may take.
    ///   - now: the time in nanoseconds.
    public mutating func insert(
        _ hash: SecretHash, for principal: [UInt8], holder: Holder, placeCount: Int = 1, share: Int,
        now: Int64
    ) -> Bool {
        removeEnded(now: now)
        while let own = shares[principal], own.placeCount + placeCount > share,  // Bound: tickets
            let oldest = shares[principal]?.order.removeFirst()
        {
            remove(oldest)
        }
        guard self.placeCount + placeCount <= limit, tickets[hash] == nil else { return false }
        add(
            Ticket(
                holder: holder, principal: principal, placeCount: placeCount,
                end: now + TicketTerms.lifetime),
            hash)
        dropUsed(of: principal)
        return true
    }

    /// Removes and returns a ticket; nil when it is unknown, used, or too old.
    public mutating func take(_ hash: SecretHash, now: Int64) -> Holder? {
        guard let ticket = tickets[hash] else { return nil }
        remove(hash)
        return now < ticket.end ? ticket.holder : nil
    }

    /// Whether there is such a ticket.
    public func has(_ hash: SecretHash) -> Bool { tickets[hash] != nil }

    /// Forgets all.
    public mutating func removeAll() { self = TicketTable(limit: limit) }

    private mutating func add(_ ticket: Ticket, _ hash: SecretHash) {
        tickets[hash] = ticket
        placeCount += ticket.placeCount
        order.append(hash)
        shares[ticket.principal, default: Share()].placeCount += ticket.placeCount
        shares[ticket.principal]?.order.append(hash)
    }

    private mutating func remove(_ hash: SecretHash) {
        guard let ticket = tickets.removeValue(forKey: hash) else { return }
        placeCount -= ticket.placeCount
        shares[ticket.principal]?.placeCount -= ticket.placeCount
        if shares[ticket.principal]?.placeCount == 0 { shares[ticket.principal] = nil }
    }

    private mutating func removeEnded(now: Int64) {
        while let first = order.first {  // Bound: tickets
            if let ticket = tickets[first], ticket.end > now { return }
            remove(first)
            order.removeFirst()
        }
    }

    /// Removes used tickets from the lines, once those are twice as long as they must be.
    private mutating func dropUsed(of principal: [UInt8]) {
        if order.count > 2 * tickets.count + 64 { order = kept(order) }
        guard let own = shares[principal], own.order.count > 2 * own.placeCount + 64 else { return }
        let line = kept(own.order)
        shares[principal]?.order = line
    }

    private func kept(_ line: Ring<SecretHash>) -> Ring<SecretHash> {
        var kept = Ring<SecretHash>()
        for position in line.startPosition..<line.endPosition  // Bound: tickets
        where tickets[line[position]] != nil {
            kept.append(line[position])
        }
        return kept
    }
}

/// The lifetime of tickets and the room for them, in a broker of its own or in a log.
public enum TicketTerms {
    /// The lifetime of a ticket, in nanoseconds.
    public static let lifetime: Int64 = 30_000_000_000

    /// The number of places for tickets.
    public static let limit = 10_000

    /// The places of a ticket in a log, which keeps so many bytes of credentials: one for each KiB.
    static func placeCount(ofByteCount byteCount: Int) -> Int {
        max(1, (byteCount + 1_023) / 1_024)
    }
}

extension TicketTable: Coded where Holder: Coded {
    init(_ known: TicketTable?, by coder: inout some Coder) throws(CodeError) {
        let rows = known.map { known in
            let line = known.kept(known.order)
            return (line.startPosition..<line.endPosition).compactMap { position in
                known.tickets[line[position]].map { Row(hash: line[position], ticket: $0) }
            }
        }
        let read: [Row] = try coder(rows)
        if let known {
            self = known
            return
        }
        self.init()
        for row in read { add(row.ticket, row.hash) }  // Bound: snapshot
    }

    private struct Row: Coded {
        let hash: SecretHash
        let ticket: Ticket

        init(hash: SecretHash, ticket: Ticket) {
            (self.hash, self.ticket) = (hash, ticket)
        }

        init(_ known: Row?, by coder: inout some Coder) throws(CodeError) {
            hash = try coder(known?.hash)
            ticket = Ticket(
                holder: try coder(known?.ticket.holder),
                principal: try coder(known?.ticket.principal),
                placeCount: try coder(known?.ticket.placeCount), end: try coder(known?.ticket.end))
        }
    }
}
