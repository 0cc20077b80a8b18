/// The clients of a center, their observers and responders, and the tombstones of the removed ones.
struct ObserverRegistry: Sendable {
    var clients = ClientTable()
    /// The last notifications written to disconnected clients, by slot, as far as they are known.
    var lastWritten = CountedTable<UInt32, LastWritten>()
    var observers = ObserverTable()
    var index: ObserverIndex
    var selectors: SelectorTable
    var targets = TargetTable()
    var tombstones = TombstoneTable()
    var watch = ChannelWatch()
    /// How many observers name no channel.
    var namelessCount = 0

    init(limits: CenterLimits, seed: HashSeed) {
        index = ObserverIndex(seed: seed, unobservedNameLimit: limits.unobservedNameLimit)
        selectors = SelectorTable(seed: seed)
    }

    /// The slots of a client's observers.
    func observerSlots(of client: UInt32) -> [UInt32] {
        observers.slots(of: clients[client].observers)
    }

    /// Adds the memory of its tables, each to its kind.
    func addFootprint(to kept: inout KeptMemory) {
        kept[.observers] +=
            clients.footprint + lastWritten.footprint + observers.footprint
            + (index.footprint - index.channels.footprint) + selectors.footprint
            + targets.footprint + watch.footprint
        kept[.channels] += index.channels.footprint
        kept[.tombstones] += tombstones.footprint
    }
}
