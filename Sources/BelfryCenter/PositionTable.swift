/// Finds the position of a notification in a ring by its identifier.
///
/// Only positions are stored: the caller tells the identifier at a position. Open addressing,
/// linear probing, backward-shift removal; at most half of the buckets are in use.
struct PositionTable: Sendable {
    private let seed: HashSeed
    /// Position + 1 in each bucket, 0 in an empty one; their count is a power of two.
    private var buckets = [UInt64](repeating: 0, count: leastBucketCount)
    /// How many identifiers it finds.
    private(set) var count = 0

    private static let leastBucketCount = 16

    init(seed: HashSeed) {
        self.seed = seed
    }

    /// The position of an identifier, if it has one.
    func position(of id: NotificationID, idAt: (UInt64) -> NotificationID) -> UInt64? {
        let position = buckets[bucket(of: id, idAt)]
        return position == 0 ? nil : position - 1
    }

    /// Notes the position of an identifier, which forgets the one that it had.
    mutating func insert(
        _ id: NotificationID, at position: UInt64, idAt: (UInt64) -> NotificationID
    ) {
        let bucket = bucket(of: id, idAt)
        let isNew = buckets[bucket] == 0
        buckets[bucket] = position + 1
        guard isNew else { return }
        count += 1
        if count * 2 > buckets.count { resize(to: buckets.count * 2, idAt) }
    }

    /// Forgets an identifier if it still has this position.
    mutating func remove(
        _ id: NotificationID, at position: UInt64, idAt: (UInt64) -> NotificationID
    ) {
        var hole = bucket(of: id, idAt)
        guard buckets[hole] == position + 1 else { return }
        let mask = buckets.count - 1
        var probe = (hole + 1) & mask
        while buckets[probe] != 0 {
            let home = home(of: idAt(buckets[probe] - 1))
            if (probe - home) & mask >= (probe - hole) & mask {
                buckets[hole] = buckets[probe]
                hole = probe
            }
            probe = (probe + 1) & mask
        }
        buckets[hole] = 0
        count -= 1
        // A table that was large once gives its storage back.
        if buckets.count > 4 * Self.leastBucketCount, count * 16 < buckets.count {
            resize(to: buckets.count / 4, idAt)
        }
    }

    /// Where the search for an identifier starts.
    ///
    /// Identifiers come with commands, so whoever knew the seed could choose colliding ones: it is
    /// mixed into both halves before their product, of which each bit depends on all of them.
    private func home(of id: NotificationID) -> Int {
        let product = (id.low ^ seed.first).multipliedFullWidth(by: (id.high ^ seed.second) | 1)
        return Int(truncatingIfNeeded: product.high ^ product.low) & (buckets.count - 1)
    }

    private func bucket(of id: NotificationID, _ idAt: (UInt64) -> NotificationID) -> Int {
        let mask = buckets.count - 1
        var bucket = home(of: id)
        while buckets[bucket] != 0, idAt(buckets[bucket] - 1) != id {
            bucket = (bucket + 1) & mask
        }
        return bucket
    }

    private mutating func resize(to newCount: Int, _ idAt: (UInt64) -> NotificationID) {
        let old = buckets
        buckets = [UInt64](repeating: 0, count: newCount)
        let mask = newCount - 1
        for entry in old where entry != 0 {
            var bucket = home(of: idAt(entry - 1))
            while buckets[bucket] != 0 { bucket = (bucket + 1) & mask }
            buckets[bucket] = entry
        }
    }
}
