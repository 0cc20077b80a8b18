/// The rest of a command's work on asks: it is done when all that ends with the command has ended,
/// so that nothing is shown that is over by then (rule R10).
struct AskSequel: Sendable {
    /// The asks that have lost their responders, which walk again, and those that wait and that
    /// another one at their address may take.
    private(set) var orphans: [AskTable.Orphan] = []
    /// The clients that may have room for what waits, in the order in which they got it; none is
    /// left when a command is over.
    private var openings: [UInt64] = []

    /// Joins what a snapshot has.
    init(orphans: [AskTable.Orphan] = []) {
        self.orphans = orphans
    }

    /// Whether nothing is left to do.
    var isEmpty: Bool { orphans.isEmpty && openings.isEmpty }

    /// An ask is to go on.
    mutating func add(_ orphan: AskTable.Orphan) { orphans.append(orphan) }

    /// A client may be shown what waits.
    mutating func noteOpening(of client: UInt64) {
        if !openings.contains(client) { openings.append(client) }
    }

    /// Takes the asks that go on, in the order of asking.
    mutating func takeOrphans() -> [AskTable.Orphan] {
        var taken: [AskTable.Orphan] = []
        swap(&taken, &orphans)
        return taken.sorted { $0.ordinal < $1.ordinal }
    }

    /// Takes the clients that may have room.
    mutating func takeOpenings() -> [UInt64] {
        var taken: [UInt64] = []
        swap(&taken, &openings)
        return taken
    }
}
