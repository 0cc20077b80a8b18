import BelfryJSON

/// The places of values that end some time, in slots that are used again (rules V16 and V17).
struct ValuePartTable: Footprinted, Sendable {
    /// One place.
    struct Part: Blockless, Sendable {
        /// The slot of the value, and the node of the place in it.
        let value: UInt32
        let node: UInt32
        /// Rises with each part: that of the deadline says whether it is the same one.
        let ordinal: UInt64
        /// When it ends in any case, on the monotonic clock and in milliseconds since 1970.
        var expiresAt = Int64.max
        var expiresAtWall: Int64?
        /// For how many milliseconds it was to last when it was written.
        var timeToLive: Int64?
        /// The client whose entry it is, and how many nanoseconds it outlives its connection.
        var lease: ValueRecord.Lease?
        /// When it ends because its client is away.
        var leaseEndsAt = Int64.max

        /// When it ends, as far as is known.
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

    /// Whether a slot has the part of a deadline still.
    func isAlive(_ slot: UInt32, ordinal: UInt64) -> Bool {
        Int(slot) < parts.count && parts[Int(slot)]?.ordinal == ordinal
    }

    /// How many entries a client has.
    func count(ofClient client: UInt64) -> Int { ofClients[client]?.count ?? 0 }

    /// The entries of a client, in the order of setting.
    func slots(ofClient client: UInt64) -> [UInt32] { ofClients[client] ?? [] }

    /// The parts that are over, in the order in which they have ended.
    func over(at now: Int64) -> [UInt32] {
        let slots = parts.indices.filter { parts[$0].map { $0.endsAt <= now } ?? false }
        let ends = slots.map { slot in
            (parts[slot]?.expiresAtWall ?? .max, parts[slot]?.ordinal ?? 0, UInt32(slot))
        }
        return ends.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }

    /// Adds a part, and tells its slot and its number.
    mutating func add(value: UInt32, node: UInt32) -> UInt32 {
        lastOrdinal += 1
        let slot = freeParts.popLast() ?? UInt32(parts.count)
        let part = Part(value: value, node: node, ordinal: lastOrdinal)
        if Int(slot) == parts.count { parts.append(part) } else { parts[Int(slot)] = part }
        return slot
    }

    /// Notes when a part ends in any case.
    mutating func setEnd(_ slot: UInt32, at end: Int64, wall: Int64, timeToLive: Int64?) {
        parts[Int(slot)]?.expiresAt = end
        parts[Int(slot)]?.expiresAtWall = wall
        parts[Int(slot)]?.timeToLive = timeToLive
    }

    /// Notes whose entry a part is.
    mutating func setLease(_ slot: UInt32, _ lease: ValueRecord.Lease) {
        parts[Int(slot)]?.lease = lease
        ofClients[lease.client, default: []].append(slot)
    }

    /// Notes that the lease of a part runs, or with `Int64.max` that it does not.
    mutating func setLeaseEnd(_ slot: UInt32, at end: Int64) {
        parts[Int(slot)]?.leaseEndsAt = end
    }

    /// The entries of a client are those of another one from now on: it goes on as that.
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

    /// Adds all that can be seen of the parts now or later.
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
