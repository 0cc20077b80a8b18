/// Finds the position of a notification in a ring by its identifier.
///
/// Only positions are stored, with a part of the hash: the caller returns the identifier at a
/// position, and is asked only where the hashes are the same, as the identifier is mostly far away
/// in memory. Open addressing, linear probing, backward-shift removal; at most half of the buckets
/// are in use.
///
/// The search begins at the place in the identifier, so identifiers that are inserted one after the
/// other, and removed in that order, go through the buckets from one cache line to the next.
struct PositionTable: Footprinted, Sendable {
    private let seed: HashSeed
    /// In each bucket the hash and the lower half of the position, 0 in an empty one.
    ///
    /// Their count is a power of two.
    private var buckets = [UInt64](repeating: 0, count: leastBucketCount)
    /// How many identifiers it finds.
    private(set) var count = 0

    private static let leastBucketCount = 16

    /// The bytes that the table costs.
    var footprint: Int {
        Footprint.array(of: buckets.count, stride: MemoryLayout<UInt64>.stride)
    }

    init(seed: HashSeed) {
        self.seed = seed
    }

    /// The position of an identifier, if it has one.
    ///
    /// - Parameter base: no position is below it, nor 2^32 above it.
    func position(
        of id: NotificationID, above base: UInt64 = 0, idAt: (UInt64) -> NotificationID
    ) -> UInt64? {
        let entry = buckets[bucket(of: id, hash(of: id), base, idAt)]
        return entry == 0 ? nil : Self.position(in: entry, base)
    }

    /// Stores the position of an identifier, and forgets its former one.
    mutating func insert(
        _ id: NotificationID, at position: UInt64, above base: UInt64 = 0,
        idAt: (UInt64) -> NotificationID
    ) {
        let hash = hash(of: id)
        let bucket = bucket(of: id, hash, base, idAt)
        let isNew = buckets[bucket] == 0
        buckets[bucket] = Self.entry(hash, position)
        guard isNew else { return }
        count += 1
        if count * 2 > buckets.count { resize(to: buckets.count * 2) }
    }

    /// Stores many positions at once, after identifiers were read from bytes.
    mutating func insert(
        all positions: some Sequence<UInt64>, above base: UInt64 = 0,
        idAt: (UInt64) -> NotificationID
    ) {
        // Bound: snapshot
        for position in positions { insert(idAt(position), at: position, above: base, idAt: idAt) }
    }

    /// Forgets an identifier if it still has this position.
    mutating func remove(_ id: NotificationID, at position: UInt64) {
        let entry = Self.entry(hash(of: id), position)
        let mask = buckets.count - 1
        var hole = Self.home(of: entry, mask)
        while buckets[hole] != entry {  // Bound: probes
            if buckets[hole] == 0 { return }
            hole = (hole + 1) & mask
        }
        var probe = (hole + 1) & mask
        while buckets[probe] != 0 {  // Bound: probes
            let home = Self.home(of: buckets[probe], mask)
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
            resize(to: buckets.count / 4)
        }
    }

    /// Releases the buckets that its identifiers do not need.
    mutating func shrink() {
        var needed = Self.leastBucketCount
        while needed < 2 * count { needed *= 2 }  // Bound: levels
        if needed < buckets.count { resize(to: needed) }
    }

    /// The hash of an identifier; its highest bit is set, so that no entry is 0.
    ///
    /// Three bits select the bucket of a cache line, and the 16 bits above them, the place of the
    /// identifier, select the line. Identifiers of one place would collide, but the maker of
    /// identifiers counts the places. The other bits depend on all of the identifier and of the
    /// seed.
    private func hash(of id: NotificationID) -> UInt32 {
        let product = (id.low ^ seed.first).multipliedFullWidth(by: (id.high ^ seed.second) | 1)
        let mixed = UInt32(truncatingIfNeeded: product.high ^ product.low)
        return mixed & ~Self.placeBits | UInt32(id.place) << 3 | 1 << 31
    }

    private static let placeBits: UInt32 = 0xFFFF << 3

    private static func entry(_ hash: UInt32, _ position: UInt64) -> UInt64 {
        UInt64(hash) << 32 | position & 0xFFFF_FFFF
    }

    private static func position(in entry: UInt64, _ base: UInt64) -> UInt64 {
        base + (entry &- base) & 0xFFFF_FFFF
    }

    /// The bucket where the search for an entry starts.
    private static func home(of entry: UInt64, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: entry >> 32) & 0x7FFF_FFFF & mask
    }

    private func bucket(
        of id: NotificationID, _ hash: UInt32, _ base: UInt64, _ idAt: (UInt64) -> NotificationID
    ) -> Int {
        let mask = buckets.count - 1
        var bucket = Self.home(of: Self.entry(hash, 0), mask)
        while buckets[bucket] != 0 {  // Bound: probes
            let entry = buckets[bucket]
            if entry >> 32 == UInt64(hash), idAt(Self.position(in: entry, base)) == id { break }
            bucket = (bucket + 1) & mask
        }
        return bucket
    }

    private mutating func resize(to newCount: Int) {
        let old = buckets
        buckets = [UInt64](repeating: 0, count: newCount)
        let mask = newCount - 1
        for entry in old where entry != 0 {  // Bound: growth
            var bucket = Self.home(of: entry, mask)
            while buckets[bucket] != 0 { bucket = (bucket + 1) & mask }  // Bound: probes
            buckets[bucket] = entry
        }
    }
}
