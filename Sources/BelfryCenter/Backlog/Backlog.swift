/// The notifications that observers have not got yet, and those that they lost.
struct Backlog: Sendable {
    var held = HeldTable()
    /// Additional data of held actions, by entry; most centers never have one.
    var heldActions = CountedTable<UInt32, HeldAction>()
    /// Held entries that a later notification of their kind replaces.
    var replaceable = CountedTable<ObservedKind, UInt32>()
    /// The running intervals of observers with a `minInterval`.
    var paces = PaceTable()
    /// The posts and readers that wait for acknowledgements and notifications.
    var waiting = WaitingTable()
    /// The last losses that were reported to observers, by their numbers; most never have any.
    var toldGaps = CountedTable<UInt64, [ToldGap]>()
    /// The possible losses of clients with their last connections, by slot; none without a log.
    var doubts = CountedTable<UInt32, [Doubt]>()
    /// The losses of observers; they count for this process alone, and decide nothing.
    var losses = Losses()

    /// The entries of a kept notification, one for each observer that it waits for.
    func entries(of kept: UInt32) -> [UInt32] {
        held.slots(of: held.holders(at: kept), in: .notification)
    }

    /// Adds the memory of its tables, each to its kind.
    func addFootprint(to kept: inout KeptMemory) {
        kept[.held] += held.footprint + heldActions.footprint + replaceable.footprint
        kept[.fates] += paces.footprint
        kept[.queue] += waiting.footprint
        kept[.observers] += toldGaps.footprint + doubts.footprint
    }
}
