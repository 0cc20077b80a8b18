import BelfryJSON

/// The places of values with a `ttl` or a `lease`, in reused slots (rules V16 and V17).
struct ValuePartTable: Footprinted, Sendable {
    /// One place.
    struct Part: Blockless, Sendable {
        /// The slot of the value, and the node of the place in it.
        let value: UInt32
        let node: UInt32
        /// The rising number of the part; a deadline with another number is of an earlier part.
        let ordinal: UInt64
        /// Its end by `ttl`, on the monotonic clock and in milliseconds since 1970.
        var expiresAt = Int64.max
        var expiresAtWall: Int64?
        /// Its whole `ttl` in milliseconds.
        var timeToLive: Int64?
        /// The client of the entry, and the nanoseconds that the entry outlives its connection.
        var lease: ValueRecord.Lease?
        /// Its end because its client is disconnected.
        var leaseEndsAt = Int64.max

        /// Its end, as far as it is known.
        var endsAt: Int64 { min(expiresAt, leaseEndsAt) }
    }

    private var parts: [Part?] = []
    private var freeParts: [UInt32] = []
    private var lastOrdinal: UInt64 = 0
    /// The parts of each client, in the order of setting.
    private var ofClients: [UInt64: [UInt32]] = [:]

    /// How many parts there are.
    var count: Int { parts.count - freeParts.count }

    /// The bytes that the table costs.
    var footprint: Int {
        Footprint.list(
            count: parts.count, capacity: parts.capacity, stride: MemoryLayout<Part?>.stride)
            + freeParts.footprint + count * MemoryLayout<UInt32>.stride
            + Footprint.dictionary(
                capacity: ofClients.capacity,
                stride: MemoryLayout<UInt64>.stride + MemoryLayout<[UInt32]>.stride)
            + ofClients.count * Footprint.array(of: 1, stride: MemoryLayout<UInt32>.stride)
    }

    /// The bytes of a part, with its place in a list and its deadline.
    static let partByteCount =
        MemoryLayout<Part?>.stride + MemoryLayout<UInt32>.stride + deadlineByteCount
    /// A time, a rank, and a case with two numbers.
    private static let deadlineByteCount = 40

    /// The part in a slot, if one is there.
    subscript(slot: UInt32) -> Part? { Int(slot) < parts.count ? parts[Int(slot)] : nil }

    /// Whether a slot still has the part of a deadline.
    func isAlive(_ slot: UInt32, ordinal: UInt64) -> Bool {
        Int(slot) < parts.count && parts[Int(slot)]?.ordinal == ordinal
    }

    /// How many entries a client has.
    func count(ofClient client: UInt64) -> Int { ofClients[client]?.count ?? 0 }

    /// The entries of a client, in the order of setting.
    func slots(ofClient client: UInt64) -> [UInt32] { ofClients[client] ?? [] }

    /// The parts whose time is over, in the order of their ends.
    func over(at now: Int64) -> [UInt32] {
        let slots = parts.indices.filter { parts[$0].map { $0.endsAt <= now } ?? false }
        let ends = slots.map { slot in
            (parts[slot]?.expiresAtWall ?? .max, parts[slot]?.ordinal ?? 0, UInt32(slot))
        }
        return ends.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }

    /// Adds a part, and returns its slot.
    mutating func add(value: UInt32, node: UInt32) -> UInt32 {
        lastOrdinal += 1
        let slot = freeParts.popLast() ?? UInt32(parts.count)
        let part = Part(value: value, node: node, ordinal: lastOrdinal)
        if Int(slot) == parts.count { parts.append(part) } else { parts[Int(slot)] = part }
        return slot
    }

    /// Sets the end of a part by `ttl`.
    mutating func setEnd(_ slot: UInt32, at end: Int64, wall: Int64, timeToLive: Int64?) {
        parts[Int(slot)]?.expiresAt = end
        parts[Int(slot)]?.expiresAtWall = wall
        parts[Int(slot)]?.timeToLive = timeToLive
    }

    /// Sets the client that a part is an entry of.
    mutating func setLease(_ slot: UInt32, _ lease: ValueRecord.Lease) {
        parts[Int(slot)]?.lease = lease
        ofClients[lease.client, default: []].append(slot)
    }

    /// Sets the end of a running lease, or with `Int64.max` that it does not run.
    mutating func setLeaseEnd(_ slot: UInt32, at end: Int64) {
        parts[Int(slot)]?.leaseEndsAt = end
    }

    /// Moves the entries of a client to another one, which continues it.
    mutating func move(from client: UInt64, to other: UInt64) {
        guard let slots = ofClients.removeValue(forKey: client) else { return }
        for slot in slots {  // Bound: parts
            guard let lease = parts[Int(slot)]?.lease else { continue }
            parts[Int(slot)]?.lease = ValueRecord.Lease(
                client: other, nanoseconds: lease.nanoseconds)
        }
        ofClients[other, default: []] += slots
    }

    /// Removes a part.
    mutating func remove(_ slot: UInt32) {
        if let client = parts[Int(slot)]?.lease?.client {
            ofClients[client]?.removeAll { $0 == slot }
            if ofClients[client]?.isEmpty == true { ofClients[client] = nil }
        }
        parts[Int(slot)] = nil
        freeParts.append(slot)
        if freeParts.count == parts.count {
            parts = []
            freeParts = []
        }
    }

    /// Adds all that can be observed of the parts now or later.
    func addDigest(to digest: inout StateDigest) {
        digest.add(count)
        for part in parts {  // Bound: snapshot
            guard let part else { continue }
            digest.add(part.ordinal)
            digest.add(part.expiresAt)
            digest.add(part.lease?.client ?? 0)
            digest.add(part.lease?.nanoseconds ?? -1)
            digest.add(part.leaseEndsAt)
        }
    }
}

extension ValuePartTable.Part: Coded {
    init(_ known: ValuePartTable.Part?, by coder: inout some Coder) throws(CodeError) {
        value = try coder(known?.value)
        node = try coder(known?.node)
        ordinal = try coder(known?.ordinal)
        expiresAt = try coder(known?.expiresAt)
        expiresAtWall = try coder(known?.expiresAtWall)
        lease = try coder(known?.lease)
        leaseEndsAt = try coder(known?.leaseEndsAt)
        guard coder.version >= 3 else { return }
        timeToLive = try coder(known?.timeToLive)
    }
}

extension ValuePartTable: Coded {
    init(_ known: ValuePartTable?, by coder: inout some Coder) throws(CodeError) {
        parts = try coder(known?.parts)
        freeParts = try coder(known?.freeParts)
        lastOrdinal = try coder(known?.lastOrdinal)
        ofClients = try coder.table(known?.ofClients)
    }
}
