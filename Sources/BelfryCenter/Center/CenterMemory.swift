/// The account of a center's memory.
struct CenterMemory: Sendable {
    /// The memory of each kind, as of the last look.
    var kept = KeptMemory()
    /// The rough measure of the memory at that time.
    var measure = 0
    /// The memory by owner; it counts for this process alone, and decides nothing.
    var owned = OwnedMemory()
}
