/// Tickets: each stands for the credentials of its caller, once, and for a short time.
///
/// Only their hashes are kept.
public struct TicketTable: Sendable {
    private var tickets: [TokenDigest: (caller: Caller, deadline: Int64)] = [:]
    /// In the order in which they were made, which is that of their ends.
    private var order: [(digest: TokenDigest, deadline: Int64)] = []
    private var start = 0
    private let limit: Int

    /// How long a ticket is good, in nanoseconds.
    public static let lifetime: Int64 = 30_000_000_000

    /// How many tickets there may be at a time.
    public init(limit: Int = 10_000) {
        self.limit = limit
    }

    /// Keeps a ticket, if there is room; `now` is in nanoseconds.
    public mutating func insert(_ digest: TokenDigest, for caller: Caller, now: Int64) -> Bool {
        removeExpired(now: now)
        guard tickets.count < limit, order.count - start < 2 * limit else { return false }
        tickets[digest] = (caller, now + Self.lifetime)
        order.append((digest, now + Self.lifetime))
        return true
    }

    /// Takes a ticket, which is then no more; nil when it is unknown, used, or too old.
    public mutating func take(_ digest: TokenDigest, now: Int64) -> Caller? {
        guard let ticket = tickets.removeValue(forKey: digest), now < ticket.deadline else {
            return nil
        }
        return ticket.caller
    }

    /// Forgets all.
    public mutating func removeAll() {
        tickets = [:]
        order = []
        start = 0
    }

    private mutating func removeExpired(now: Int64) {
        while start < order.count, order[start].deadline <= now {
            tickets[order[start].digest] = nil
            start += 1
        }
        if start > 1_000, start * 2 > order.count {
            order.removeFirst(start)
            start = 0
        }
    }
}
