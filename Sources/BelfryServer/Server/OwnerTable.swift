import BelfryCenter
import Synchronization

/// The memory of principals and addresses over all centers.
///
/// A center knows an owner by a number: this table knows its identity, and its memory in other
/// centers.
final class OwnerTable: Sendable {
    private let tables = Mutex(Tables())

    /// A principal, an address, or both: memory counts for each.
    struct Identity: Hashable {
        var principal: Asker?
        var address: Asker?

        var askers: [Asker] { [principal, address].compactMap { $0 } }
    }

    private struct Tables {
        var owners: [Identity: Owner] = [:]
        var entries: [Owner: Entry] = [:]
        var holdings: [Asker: Holdings] = [:]
        /// The part of all numbers that this broker gives, and the last one it gave.
        var part: UInt32 = 0
        var partCount = UInt32.max
        var lastNumber: UInt32 = 0
        var sweepCount = 1_024
    }

    private struct Entry {
        let identity: Identity
        var holdings = Holdings()
    }

    /// Sets this broker's part of the numbers apart from the other brokers of a log.
    ///
    /// Centers count for the owners of all brokers, and an owner counts where it was named. There
    /// are parts for 4,096 lives; a broker keeps the part of its first life, as the owners that it
    /// named remain.
    ///
    /// - Parameter seat: the number of this broker's life.
    func takePart(seat: UInt32) {
        tables.withLock { tables in
            guard tables.partCount == .max else { return }
            tables.partCount = (1 << 20) - 1
            tables.part = seat << 20
        }
    }

    /// The number of an owner.
    func owner(_ identity: Identity) -> Owner {
        tables.withLock { tables in
            if let owner = tables.owners[identity] { return owner }
            Self.sweep(&tables)
            guard tables.entries.count < tables.partCount else { return .none }
            repeat {
                tables.lastNumber =
                    tables.lastNumber < tables.partCount ? tables.lastNumber + 1 : 1
            } while tables.entries[Owner(number: tables.part | tables.lastNumber)] != nil
            let owner = Owner(number: tables.part | tables.lastNumber)
            tables.owners[identity] = owner
            tables.entries[owner] = Entry(identity: identity)
            return owner
        }
    }

    /// Forgets owners without memory, when there are twice as many as the last sweep left.
    ///
    /// Memory that such an owner keeps later is not counted, neither when it grows nor when it is
    /// freed.
    private static func sweep(_ tables: inout Tables) {
        guard tables.entries.count >= tables.sweepCount else { return }
        for (owner, entry) in tables.entries where entry.holdings.isNone {
            tables.entries[owner] = nil
            tables.owners[entry.identity] = nil
        }
        tables.sweepCount = max(1_024, 2 * tables.entries.count)
    }

    /// Adds the growth of owners' memory.
    func add(_ growth: [Owner: Holdings]) {
        tables.withLock { tables in
            for (owner, more) in growth {
                guard let identity = tables.entries[owner]?.identity else { continue }
                tables.entries[owner]?.holdings += more
                for asker in identity.askers {
                    tables.holdings[asker, default: Holdings()] += more
                    if tables.holdings[asker]?.isNone == true { tables.holdings[asker] = nil }
                }
            }
        }
    }

    /// The memory of the principal and the address of an owner.
    func holdings(of owner: Owner) -> [(asker: Asker, holdings: Holdings)] {
        tables.withLock { tables in
            guard let identity = tables.entries[owner]?.identity else { return [] }
            return identity.askers.map { ($0, tables.holdings[$0] ?? Holdings()) }
        }
    }
}
