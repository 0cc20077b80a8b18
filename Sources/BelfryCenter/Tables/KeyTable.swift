import BelfryBytes

/// Gives each distinct byte string a small number, and finds the number again.
///
/// Bytes are compared as bytes (rule C6): Swift's `String` would call different sequences equal.
/// Numbers of removed keys are used again. Open addressing, linear probing, backward-shift removal.
struct KeyTable: Footprinted, Sendable {
    /// The number of a key, an index into the owner's own arrays.
    typealias Index = UInt32

    private let seed: HashSeed
    private var keys: [[UInt8]] = []
    private var hashes: [UInt32] = []
    private var freeIndexes: [Index] = []
    /// Index + 1 of the key in each bucket, 0 in an empty one; their count is a power of two.
    private var buckets: [UInt32] = [UInt32](repeating: 0, count: 16)
    /// The key that was looked up last: mostly the next one is the same.
    private var recent: Index = 0
    /// The bytes of the keys.
    private(set) var byteCount = 0

    init(seed: HashSeed) {
        self.seed = seed
    }

    /// The bytes that the table costs.
    var footprint: Int {
        Footprint.texts(count: count, byteCount: byteCount)
            + count * (MemoryLayout<[UInt8]>.stride + MemoryLayout<UInt32>.stride)
            + buckets.count * MemoryLayout<UInt32>.stride
    }

    /// How many keys the table has.
    var count: Int { keys.count - freeIndexes.count }

    /// One past the largest index that was ever given out.
    var indexLimit: Int { keys.count }

    /// The key with this index; empty for an index that is free.
    func key(at index: Index) -> [UInt8] { Int(index) < keys.count ? keys[Int(index)] : [] }

    /// The index of a key, if the table has it.
    func index(of key: Span<UInt8>) -> Index? {
        if count == 0 { return nil }
        if isRecent(key) { return recent }
        let bucket = bucket(of: key, hash: hash(key))
        return buckets[bucket] == 0 ? nil : buckets[bucket] - 1
    }

    /// Finds the index of a key where the next look-up is mostly for the same one.
    mutating func find(_ key: Span<UInt8>) -> Index? {
        let index = index(of: key)
        if let index { recent = index }
        return index
    }

    /// Whether the key was looked up last; never for an empty key, like that of a free index.
    private func isRecent(_ key: Span<UInt8>) -> Bool {
        !key.isEmpty && recent < keys.count && Self.isEqual(keys[Int(recent)], key)
    }

    /// The index of a key, which is added if it is new.
    mutating func insert(_ key: Span<UInt8>) -> (index: Index, isNew: Bool) {
        if isRecent(key) { return (recent, false) }
        let hash = hash(key)
        let bucket = bucket(of: key, hash: hash)
        if buckets[bucket] != 0 {
            recent = buckets[bucket] - 1
            return (recent, false)
        }
        let index: Index
        let bytes = [UInt8](copying: key)
        byteCount += bytes.count
        if let free = freeIndexes.popLast() {
            index = free
            keys[Int(index)] = bytes
            hashes[Int(index)] = hash
        } else {
            index = Index(keys.count)
            keys.append(bytes)
            hashes.append(hash)
        }
        buckets[bucket] = index + 1
        if count * 4 > buckets.count * 3 { grow() }
        return (index, true)
    }

    /// Removes the key with this index; the index may be given out again.
    mutating func remove(at index: Index) {
        var hole = bucket(ofIndex: index)
        let mask = buckets.count - 1
        var probe = (hole + 1) & mask
        while buckets[probe] != 0 {  // Bound: probes
            let home = Int(hashes[Int(buckets[probe] - 1)]) & mask
            if (probe - home) & mask >= (probe - hole) & mask {
                buckets[hole] = buckets[probe]
                hole = probe
            }
            probe = (probe + 1) & mask
        }
        buckets[hole] = 0
        byteCount -= keys[Int(index)].count
        keys[Int(index)] = []
        freeIndexes.append(index)
        // A table that was large once gives its storage back.
        if count == 0, keys.count > 64 { self = KeyTable(seed: seed) }
    }

    private func hash(_ key: Span<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: sipHash(key, seed: seed))
    }

    private func bucket(of key: Span<UInt8>, hash: UInt32) -> Int {
        let mask = buckets.count - 1
        var bucket = Int(hash) & mask
        while buckets[bucket] != 0 {  // Bound: probes
            let index = Int(buckets[bucket] - 1)
            if hashes[index] == hash, Self.isEqual(keys[index], key) { break }
            bucket = (bucket + 1) & mask
        }
        return bucket
    }

    private static func isEqual(_ key: [UInt8], _ other: Span<UInt8>) -> Bool {
        bytesAreEqual(key.span, other)
    }

    private func bucket(ofIndex index: Index) -> Int {
        let mask = buckets.count - 1
        var bucket = Int(hashes[Int(index)]) & mask
        while buckets[bucket] != index + 1 {  // Bound: probes
            precondition(buckets[bucket] != 0, "a key that is removed must be there")
            bucket = (bucket + 1) & mask
        }
        return bucket
    }

    private mutating func grow() {
        let old = buckets
        buckets = [UInt32](repeating: 0, count: old.count * 2)
        let mask = buckets.count - 1
        for entry in old where entry != 0 {  // Bound: growth
            var bucket = Int(hashes[Int(entry - 1)]) & mask
            while buckets[bucket] != 0 { bucket = (bucket + 1) & mask }  // Bound: probes
            buckets[bucket] = entry
        }
    }
}

extension KeyTable: Coded {
    init(_ known: KeyTable?, by coder: inout some Coder) throws(CodeError) {
        let keys: [[UInt8]] = try coder(known?.keys)
        let freeIndexes: [Index] = try coder(known?.freeIndexes)
        if let known {
            self = known
            return
        }
        self.init(seed: coder.seed)
        let free = Set(freeIndexes)
        for (index, key) in keys.enumerated() {  // Bound: snapshot
            let hash = hash(key.span)
            self.keys.append(key)
            hashes.append(hash)
            guard !free.contains(Index(index)) else { continue }
            let bucket = bucket(of: key.span, hash: hash)
            guard buckets[bucket] == 0 else { throw .malformed }
            byteCount += key.count
            buckets[bucket] = Index(index) + 1
            if (index + 1) * 4 > buckets.count * 3 { grow() }
        }
        self.freeIndexes = freeIndexes
    }
}
