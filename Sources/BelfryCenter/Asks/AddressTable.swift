import BelfryBytes

/// Which responders hold which address (rules R1 and R2).
struct AddressTable: Sendable {
    /// One who holds an address.
    struct Holder: Sendable {
        /// The slot of the observer.
        let slot: UInt32
        let serial: UInt64
        /// How many asks it was shown, and how many of them it has answered.
        var askedCount: UInt64 = 0
        var answeredCount: UInt64 = 0
        /// Rises with each ask of the center: who was asked longest ago has the lowest.
        var lastAsked: UInt64 = 0
    }

    /// An address that somebody holds.
    fileprivate struct Address: Sendable {
        /// In registration order.
        var holders: [Holder] = []
        /// Whether others may join them.
        var isShared = false
    }

    private var keys: KeyTable
    private var addresses: [Address] = []
    private var askCount: UInt64 = 0
    /// How many hold an address.
    private(set) var holderCount = 0

    init(seed: HashSeed) {
        keys = KeyTable(seed: seed)
    }

    /// The bytes that the table costs.
    var footprint: Int {
        keys.footprint + keys.count * MemoryLayout<Address>.stride
            + holderCount * Footprint.array(of: 1, stride: MemoryLayout<Holder>.stride)
    }

    /// The holders of an address, in registration order.
    func holders(of address: Span<UInt8>) -> [Holder] {
        keys.index(of: address).map { addresses[Int($0)].holders } ?? []
    }

    /// Whether another one may hold an address beside those who do.
    func isShared(_ address: Span<UInt8>) -> Bool {
        keys.index(of: address).map { addresses[Int($0)].isShared } ?? true
    }

    /// One more holds an address.
    mutating func add(_ address: [UInt8], slot: UInt32, serial: UInt64, isShared: Bool) {
        let (index, isNew) = keys.insert(address.span)
        if isNew {
            if Int(index) == addresses.count { addresses.append(Address()) }
            addresses[Int(index)] = Address(isShared: isShared)
        }
        addresses[Int(index)].holders.append(Holder(slot: slot, serial: serial))
        holderCount += 1
    }

    /// One holds its address no more.
    mutating func remove(_ address: [UInt8], serial: UInt64) {
        guard let index = keys.index(of: address.span),
            let place = addresses[Int(index)].holders.firstIndex(where: { $0.serial == serial })
        else { return }
        addresses[Int(index)].holders.remove(at: place)
        holderCount -= 1
        guard addresses[Int(index)].holders.isEmpty else { return }
        keys.remove(at: index)
        // A table that was large once gives its storage back.
        if keys.count == 0, addresses.count > 64 { addresses = [] }
    }

    /// Notes that a holder is shown an ask.
    mutating func noteAsked(_ address: Span<UInt8>, serial: UInt64) {
        askCount += 1
        let ordinal = askCount
        update(address, serial) {
            $0.askedCount += 1
            $0.lastAsked = ordinal
        }
    }

    /// Notes that a holder got an action: of those that share, another one comes next.
    mutating func noteTurn(_ address: Span<UInt8>, serial: UInt64) {
        askCount += 1
        let ordinal = askCount
        update(address, serial) { $0.lastAsked = ordinal }
    }

    /// Notes that a holder has answered.
    mutating func noteAnswered(_ address: Span<UInt8>, serial: UInt64) {
        update(address, serial) { $0.answeredCount += 1 }
    }

    private mutating func update(
        _ address: Span<UInt8>, _ serial: UInt64, _ change: (inout Holder) -> Void
    ) {
        guard let index = keys.find(address),
            let place = addresses[Int(index)].holders.firstIndex(where: { $0.serial == serial })
        else { return }
        change(&addresses[Int(index)].holders[place])
    }

    /// Adds all that can be seen of the addresses now or later; their order is that of their first holders.
    func addDigest(to digest: inout StateDigest) {
        digest.add(holderCount)
        digest.add(askCount)
        let held = addresses.filter { !$0.holders.isEmpty }
            .sorted { $0.holders[0].serial < $1.holders[0].serial }
        for address in held {
            digest.add(address.isShared)
            for holder in address.holders {
                digest.add(holder.serial)
                digest.add(holder.askedCount)
                digest.add(holder.answeredCount)
                digest.add(holder.lastAsked)
            }
        }
    }
}

extension AddressTable.Holder: Coded {
    init(_ known: AddressTable.Holder?, by coder: inout some Coder) throws(CodeError) {
        slot = try coder(known?.slot)
        serial = try coder(known?.serial)
        askedCount = try coder(known?.askedCount)
        answeredCount = try coder(known?.answeredCount)
        lastAsked = try coder(known?.lastAsked)
    }
}

extension AddressTable.Address: Coded {
    init(_ known: AddressTable.Address?, by coder: inout some Coder) throws(CodeError) {
        holders = try coder(known?.holders)
        isShared = try coder(known?.isShared)
    }
}

extension AddressTable: Coded {
    init(_ known: AddressTable?, by coder: inout some Coder) throws(CodeError) {
        keys = try coder(known?.keys)
        addresses = try coder(known?.addresses)
        askCount = try coder(known?.askCount)
        holderCount = try coder(known?.holderCount)
    }
}
