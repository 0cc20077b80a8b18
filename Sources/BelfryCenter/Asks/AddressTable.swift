import BelfryBytes

/// The responders that hold each address (rules R1 and R2).
struct AddressTable: Sendable {
    /// A holder of an address.
    struct Holder: Sendable {
        /// The slot of the observer.
        let slot: UInt32
        let serial: UInt64
        /// The numbers of asks that it was shown, and of those that it has answered.
        var askedCount: UInt64 = 0
        var answeredCount: UInt64 = 0
        /// The number of its last ask among all asks of the center: the lowest is asked next.
        var lastAsked: UInt64 = 0
    }

    /// An address that has a holder.
    fileprivate struct Address: Sendable {
        /// In the order of registration, which is that of their serial numbers.
        var holders: [Holder] = []
        /// Whether other holders may join.
        var isShared = false
        /// The holders that implement a selector, by its number, in the order of registration.
        var offers: [UInt32: [Offer]] = [:]

        /// The place of a holder.
        func place(of serial: UInt64) -> Int? {
            let place = holders.indices.firstPlace { holders[$0].serial >= serial }
            return place < holders.count && holders[place].serial == serial ? place : nil
        }
    }

    /// A holder in a list by selector.
    struct Offer: Sendable {
        let slot: UInt32
        let serial: UInt64
    }

    private var keys: KeyTable
    private var addresses: [Address] = []
    private var askCount: UInt64 = 0
    /// The number of holders of all addresses.
    private(set) var holderCount = 0
    /// The number of selectors that they implement, each counted for each holder.
    private var offerCount = 0

    init(seed: HashSeed) {
        keys = KeyTable(seed: seed)
    }

    /// The bytes that the table costs.
    var footprint: Int {
        keys.footprint + keys.count * MemoryLayout<Address>.stride
            + holderCount * Footprint.array(of: 1, stride: MemoryLayout<Holder>.stride)
            + offerCount * Self.offerByteCount
    }

    /// The bytes of a selector at a holder: a place in a list and, if alone there, one in a table.
    private static let offerByteCount =
        Footprint.array(of: 1, stride: MemoryLayout<Offer>.stride)
        + Footprint.dictionary(
            capacity: 2,
            stride: MemoryLayout<UInt32>.stride + MemoryLayout<[Offer]>.stride)

    /// The number of an address that has a holder.
    @inline(__always)
    func number(of address: Span<UInt8>) -> UInt32? { keys.index(of: address) }

    /// The holders of an address, in registration order.
    func holders(of address: Span<UInt8>) -> [Holder] {
        number(of: address).map { addresses[Int($0)].holders } ?? []
    }

    /// The holders of the address with this number.
    func holders(at number: UInt32) -> [Holder] { addresses[Int(number)].holders }

    /// The holders of an address that implement the selector with this number.
    @inline(__always)
    func offers(at number: UInt32, of selector: UInt32) -> [Offer] {
        addresses[Int(number)].offers[selector] ?? []
    }

    /// The oldest holder of an address, whose `next` counts.
    @inline(__always)
    func oldest(at number: UInt32) -> UInt32 { addresses[Int(number)].holders[0].slot }

    /// The number of a holder's last ask, among all asks of the center.
    func lastAsked(at number: UInt32, serial: UInt64) -> UInt64 {
        let address = addresses[Int(number)]
        return address.place(of: serial).map { address.holders[$0].lastAsked } ?? 0
    }

    /// Whether another holder may join those of an address.
    func isShared(_ address: Span<UInt8>) -> Bool {
        number(of: address).map { addresses[Int($0)].isShared } ?? true
    }

    /// Adds a holder of an address, which implements the selectors with these numbers.
    mutating func add(
        _ address: [UInt8], slot: UInt32, serial: UInt64, implementing selectors: [UInt32],
        isShared: Bool
    ) {
        let (index, isNew) = keys.insert(address.span)
        if isNew {
            if Int(index) == addresses.count { addresses.append(Address()) }
            addresses[Int(index)] = Address(isShared: isShared)
        }
        addresses[Int(index)].holders.append(Holder(slot: slot, serial: serial))
        holderCount += 1
        offer(address, slot: slot, serial: serial, implementing: selectors)
    }

    /// Adds a holder of an address to the lists of its selectors.
    mutating func offer(
        _ address: [UInt8], slot: UInt32, serial: UInt64, implementing selectors: [UInt32]
    ) {
        guard let index = keys.index(of: address.span) else { return }
        let offer = Offer(slot: slot, serial: serial)
        for selector in selectors {  // Bound: selectors
            addresses[Int(index)].offers[selector, default: []].append(offer)
        }
        offerCount += selectors.count
    }

    /// Removes a holder of an address, which implements the selectors with these numbers.
    mutating func remove(_ address: [UInt8], serial: UInt64, implementing selectors: [UInt32]) {
        guard let index = keys.index(of: address.span),
            let place = addresses[Int(index)].place(of: serial)
        else { return }
        addresses[Int(index)].holders.remove(at: place)
        holderCount -= 1
        offerCount -= selectors.count
        // Bound: selectors
        for selector in selectors { addresses[Int(index)].withdraw(serial, selector) }
        guard addresses[Int(index)].holders.isEmpty else { return }
        addresses[Int(index)] = Address()
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

    /// Notes that a holder got an action: among those that share, another one is next.
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
        guard let index = keys.find(address), let place = addresses[Int(index)].place(of: serial)
        else { return }
        change(&addresses[Int(index)].holders[place])
    }

    /// Adds all that can be observed of the addresses, now or later, in the order of first holders.
    func addDigest(to digest: inout StateDigest) {
        digest.add(holderCount)
        digest.add(askCount)
        let held = addresses.filter { !$0.holders.isEmpty }
            .sorted { $0.holders[0].serial < $1.holders[0].serial }
        for address in held {  // Bound: snapshot
            digest.add(address.isShared)
            for holder in address.holders {  // Bound: snapshot
                digest.add(holder.serial)
                digest.add(holder.askedCount)
                digest.add(holder.answeredCount)
                digest.add(holder.lastAsked)
            }
        }
    }
}

extension AddressTable.Address {
    /// Removes a holder from the list of a selector.
    fileprivate mutating func withdraw(_ serial: UInt64, _ selector: UInt32) {
        guard var offered = offers.removeValue(forKey: selector) else { return }
        let place = offered.indices.firstPlace { offered[$0].serial >= serial }
        if place < offered.count, offered[place].serial == serial { offered.remove(at: place) }
        if !offered.isEmpty { offers[selector] = offered }
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
        // The offers are computed again from the responders.
        offers = known?.offers ?? [:]
    }
}

extension AddressTable: Coded {
    init(_ known: AddressTable?, by coder: inout some Coder) throws(CodeError) {
        keys = try coder(known?.keys)
        addresses = try coder(known?.addresses)
        askCount = try coder(known?.askCount)
        holderCount = try coder(known?.holderCount)
        offerCount = known?.offerCount ?? 0
    }
}
