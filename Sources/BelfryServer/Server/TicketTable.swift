import BelfryAccess

/// Tickets: each stands for the credentials of its caller, once, and for a short time.
///
/// Only their hashes are kept. Each principal has a share of them: where it asks for one more, its
/// oldest ticket goes.
struct TicketTable: Sendable {
    private var tickets: [TokenDigest: (caller: Caller, deadline: Int64)] = [:]
    /// All in the order in which they were made, which is that of their ends.
    private var order = Line<(digest: TokenDigest, deadline: Int64)>()
    private var shares: [[UInt8]: Share] = [:]
    private let limit: Int

    /// The tickets of one principal.
    private struct Share {
        var count = 0
        var order = Line<TokenDigest>()
    }

    /// How long a ticket is good, in nanoseconds.
    static let lifetime: Int64 = 30_000_000_000

    /// How many tickets a broker may have at a time.
    static let limit = 10_000

    init(limit: Int = Self.limit) {
        self.limit = limit
    }

    /// Keeps a ticket, if there is room for one of another principal; `now` is in nanoseconds.
    ///
    /// - Parameter share: how many tickets a principal may have.
    mutating func insert(
        _ digest: TokenDigest, for caller: Caller, share: Int, now: Int64
    ) -> Bool {
        removeExpired(now: now)
        while let own = shares[caller.principal], own.count >= share {
            guard own.order.count > 0, let oldest = shares[caller.principal]?.order.removeFirst()
            else { break }
            remove(oldest)
        }
        guard tickets.count < limit else { return false }
        let deadline = now + Self.lifetime
        tickets[digest] = (caller, deadline)
        order.append((digest, deadline))
        shares[caller.principal, default: Share()].count += 1
        shares[caller.principal]?.order.append(digest)
        dropUsed(of: caller.principal)
        return true
    }

    /// Takes a ticket, which is then no more; nil when it is unknown, used, or too old.
    mutating func take(_ digest: TokenDigest, now: Int64) -> Caller? {
        guard let ticket = tickets[digest] else { return nil }
        remove(digest)
        return now < ticket.deadline ? ticket.caller : nil
    }

    /// Forgets all.
    mutating func removeAll() {
        self = TicketTable(limit: limit)
    }

    private mutating func remove(_ digest: TokenDigest) {
        guard let ticket = tickets.removeValue(forKey: digest) else { return }
        let principal = ticket.caller.principal
        shares[principal]?.count -= 1
        if shares[principal]?.count == 0 { shares[principal] = nil }
    }

    private mutating func removeExpired(now: Int64) {
        while let first = order.first, first.deadline <= now {
            remove(first.digest)
            _ = order.removeFirst()
        }
    }

    /// Tickets that were used stay in the lines until those are twice as long as they must be.
    private mutating func dropUsed(of principal: [UInt8]) {
        let tickets = tickets
        if order.count > 2 * tickets.count + 64 { order.keep { tickets[$0.digest] != nil } }
        guard let own = shares[principal], own.order.count > 2 * own.count + 64 else { return }
        shares[principal]?.order.keep { tickets[$0] != nil }
    }
}
