/// The responders by address, the asks that are open, and the ends of recent ones.
struct Asks: Sendable {
    /// Whether there ever was a responder, an ask or a result; a center without pays for one check.
    var isUsed = false
    /// The holders of each address.
    var addresses: AddressTable
    var open: AskTable
    /// The ends of recent asks.
    var fates: AskFates

    init(seed: HashSeed) {
        addresses = AddressTable(seed: seed)
        open = AskTable(seed: seed)
        fates = AskFates(seed: seed)
    }

    /// Adds the memory of its tables, each to its kind.
    func addFootprint(to kept: inout KeptMemory) {
        kept[.observers] += addresses.footprint
        kept[.queue] += open.footprint
        kept[.fates] += fates.footprint
    }
}
