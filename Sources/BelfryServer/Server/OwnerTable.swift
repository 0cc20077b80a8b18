import BelfryCenter
import Synchronization

/// What principals and addresses have of what all centers keep.
///
/// A center knows an owner by a number: who that is, and what it has in other centers, is known here.
final class OwnerTable: Sendable {
    private let tables = Mutex(Tables())

    /// A principal, an address, or both: what is kept counts for each.
    struct Identity: Hashable {
        var principal: Asker?
        var address: Asker?

        var askers: [Asker] { [principal, address].compactMap { $0 } }
    }

    private struct Tables {
        var owners: [Identity: Owner] = [:]
        var entries: [Owner: Entry] = [:]
        var holdings: [Asker: Holdings] = [:]
        /// The numbers that this broker gives: a part of all, and the last one of it.
        var part: UInt32 = 0
        var partCount = UInt32.max
        var lastNumber: UInt32 = 0
        var sweepCount = 1_024
    }

    private struct Entry {
        let identity: Identity
        var holdings = Holdings()
    }

    /// Gives other numbers than the other brokers of a log, whose centers count for the owners of all.
    ///
    /// What was made at another broker counts there. Of 4,096 lives each has a part of the numbers of its own; a broker keeps
    /// that of its first life, as what it has named counts on.
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

    /// Forgets owners that have nothing, when there are twice as many as were left the last time.
    ///
    /// What comes for one of them later is not counted, and not when it goes either.
    private static func sweep(_ tables: inout Tables) {
        guard tables.entries.count >= tables.sweepCount else { return }
        for (owner, entry) in tables.entries where entry.holdings.isNone {
            tables.entries[owner] = nil
            tables.owners[entry.identity] = nil
        }
        tables.sweepCount = max(1_024, 2 * tables.entries.count)
    }

    /// Adds what centers keep more for owners.
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

    /// What is kept for each of those that an owner is.
    func holdings(of owner: Owner) -> [(asker: Asker, holdings: Holdings)] {
        tables.withLock { tables in
            guard let identity = tables.entries[owner]?.identity else { return [] }
            return identity.askers.map { ($0, tables.holdings[$0] ?? Holdings()) }
        }
    }
}
