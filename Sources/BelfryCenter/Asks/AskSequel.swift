/// The rest of a command's work on asks.
///
/// It is done when all that ends with the command has ended, so that no ask is shown that is over
/// by then (rule R10).
struct AskSequel: Sendable {
    /// The asks that walk again.
    ///
    /// They have lost their responders, or they wait and another one at their address may take
    /// them.
    private(set) var orphans: [AskTable.Orphan] = []
    /// The observers and clients that may have got room for waiting asks, in that order.
    ///
    /// None is left when a command is over.
    private var openings: [Opening] = []
    /// The index of the first opening that was not taken.
    private var firstOpening = 0

    /// An observer, or a client, that may have room.
    enum Opening: Sendable, Equatable {
        /// The observer with this serial number.
        case observer(UInt64)
        /// Each observer of the client with this number.
        case client(UInt64)
    }

    /// Makes the sequel in a snapshot.
    init(orphans: [AskTable.Orphan] = []) {
        self.orphans = orphans
    }

    /// Whether nothing is left to do.
    var isEmpty: Bool { orphans.isEmpty && openings.isEmpty }

    /// Adds an ask that walks again.
    mutating func add(_ orphan: AskTable.Orphan) { orphans.append(orphan) }

    /// Notes that an observer, or a client, may be shown waiting asks.
    mutating func noteOpening(_ opening: Opening) {
        if openings.last != opening { openings.append(opening) }
    }

    /// Takes the asks that walk next, in the order of asking.
    mutating func takeOrphans() -> [AskTable.Orphan] {
        var taken: [AskTable.Orphan] = []
        swap(&taken, &orphans)
        return taken.sorted { $0.ordinal < $1.ordinal }
    }

    /// Leaves asks to another turn.
    mutating func leave(_ rest: ArraySlice<AskTable.Orphan>) {
        orphans.insert(contentsOf: rest, at: 0)
    }

    /// The number of openings that were not examined yet.
    var openingCount: Int { openings.count - firstOpening }

    /// Takes the first opening.
    mutating func takeOpening() -> Opening {
        let opening = openings[firstOpening]
        firstOpening += 1
        if firstOpening == openings.count {
            // The next ask needs the storage again.
            openings.removeAll(keepingCapacity: true)
            firstOpening = 0
        }
        return opening
    }
}
