/// The rest of a command's work on asks: it is done when all that ends with the command has ended,
/// so that nothing is shown that is over by then (rule R10).
struct AskSequel: Sendable {
    /// The asks that have lost their responders, which walk again, and those that wait and that
    /// another one at their address may take.
    private(set) var orphans: [AskTable.Orphan] = []
    /// The clients that may have room for what waits, in the order in which they got it; none is
    /// left when a command is over.
    private var openings: [UInt64] = []
    /// The index of the first of them that was not taken.
    private var firstOpening = 0

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
        if !openings[firstOpening...].contains(client) { openings.append(client) }
    }

    /// Takes the asks that go on, in the order of asking.
    mutating func takeOrphans() -> [AskTable.Orphan] {
        var taken: [AskTable.Orphan] = []
        swap(&taken, &orphans)
        return taken.sorted { $0.ordinal < $1.ordinal }
    }

    /// How many clients may have room.
    var openingCount: Int { openings.count - firstOpening }

    /// Takes the first client that may have room.
    mutating func takeOpening() -> UInt64 {
        let client = openings[firstOpening]
        firstOpening += 1
        if firstOpening == openings.count {
            // The next ask needs the storage again.
            openings.removeAll(keepingCapacity: true)
            firstOpening = 0
        }
        return client
    }
}
