import BelfryLoop

// The connections over their share.

extension ConnectionTable {
    /// The largest connections of the askers over their share; empty where none is.
    mutating func largestPastShare(
        _ limit: (ShareLimit) -> Int, _ outbox: inout Outbox,
        _ byteCount: (Connection, inout Outbox) -> Int
    ) -> [ConnectionID] {
        var sums: [Asker: Int] = [:]
        var found: [(byteCount: Int, id: ConnectionID, askers: [Asker])] = []
        for slot in 0..<slotCount {
            guard let connection = self[slot], let seat = connection.seat,
                !connection.isClosing
            else { continue }
            let count = byteCount(connection, &outbox)
            if count == 0 { continue }
            let askers = [seat.asker] + (seat.other.map { [$0.asker] } ?? [])
            for asker in askers { sums[asker, default: 0] += count }
            found.append((count, connection.id, askers))
        }
        var excesses: [Asker: Int] = [:]
        for (asker, sum) in sums {
            guard let share = outbox.shares.limit(of: asker), sum > limit(share) else { continue }
            excesses[asker] = sum - limit(share)
        }
        if excesses.isEmpty { return [] }
        var largest: [ConnectionID] = []
        for (count, id, askers) in found.sorted(by: { $0.byteCount > $1.byteCount })
        where askers.contains(where: { excesses[$0, default: 0] > 0 }) {
            for asker in askers { excesses[asker]? -= count }
            largest.append(id)
        }
        return largest
    }

    /// Closes the connections with the most unsent output of askers over their share.
    mutating func boundUnsentShares(_ outbox: inout Outbox) {
        guard unsentWatch.mustLook(outbox.loop.unsentByteTotal) else { return }
        let largest = largestPastShare(\.unsentByteCount, &outbox) { connection, outbox in
            outbox.loop.unsentByteCount(of: connection.id)
        }
        for id in largest {
            outbox.meet(.shares)
            closeSlowest(id, &outbox)
        }
    }

    /// The connections with unfinished input, the largest first.
    mutating func unfinishedFromLargest(with tls: TLSTable?) -> [ConnectionID] {
        var found: [(byteCount: Int, id: ConnectionID)] = []
        for slot in 0..<slotCount {
            guard let connection = self[slot], !connection.isClosing else { continue }
            let byteCount = connection.unfinishedByteCount(with: tls)
            if byteCount > 0 { found.append((byteCount, connection.id)) }
        }
        return found.sorted { $0.byteCount > $1.byteCount }.map(\.id)
    }
}

extension Connection {
    /// Its unfinished input, with that of its TLS session.
    func unfinishedByteCount(with tls: TLSTable?) -> Int {
        (unfinished?.byteCount ?? 0) + (tls?.unfinishedByteCount(of: id) ?? 0)
    }
}
