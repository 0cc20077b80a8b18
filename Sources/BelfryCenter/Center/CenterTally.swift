/// The counts of a center's asks, timers, values and acknowledgements, which most centers lack.
public struct CenterTally: Sendable {
    /// The kinds that a tally counts.
    public enum Kind: Int, CaseIterable, Sendable {
        /// Open asks.
        case asks
        /// Bytes of all open asks, and of the results for waiting posts.
        ///
        /// Those of an ask are name, object, userInfo and default; results are in the rows of
        /// posts.
        case askBytes
        /// Observers that hold an address.
        case responders
        /// Timers that wait.
        case timers
        /// Bytes of name, object and userInfo of all timers.
        case timerBytes
        /// How often a timer has fired.
        case firings
        /// How often a timer was due and did not fire.
        case missedFirings
        /// Objects that have a value.
        case values
        /// Canonical bytes of all values, with their objects.
        case valueBytes
        /// How often a value was changed.
        case valueChanges
        /// Deliveries that their observers have answered, or read out of a mailbox.
        case acknowledgements
        /// Notifications that archives keep.
        case archived
        /// Their bytes, as they count for the bounds of archives.
        case archivedBytes
    }

    /// The counts by kind.
    private var counts = InlineArray<13, Int>(repeating: 0)

    /// Makes an empty tally.
    public init() {}

    /// The count of one kind.
    @inline(__always)
    public subscript(kind: Kind) -> Int {
        get { counts[kind.rawValue] }
        set { counts[kind.rawValue] = newValue }
    }

    /// Calls the visitor with the growth of each count that differs from an earlier tally.
    public func forEachGrowth(since earlier: Self, _ visit: (Kind, Int) -> Void) {
        // An index into an array of this kind copies all of it; one into its span does not.
        let (present, known) = (counts.span, earlier.counts.span)
        for place in present.indices where present[place] != known[place] {  // Bound: few
            guard let kind = Kind(rawValue: place) else { continue }
            visit(kind, present[place] - known[place])
        }
    }
}

extension NotificationCenter {
    /// Whether the center ever had anything that its tally counts.
    var hasTally: Bool {
        asks.isUsed || schedule.usesTimers || values.isUsed || tally[.acknowledgements] > 0
            || archiveBox.value.isUsed
    }

    /// Updates the counts of asks, timers and values.
    mutating func noteTally() {
        if asks.isUsed {
            tally[.asks] = asks.open.count
            tally[.askBytes] = asks.open.byteCount + backlog.waiting.resultByteCount
            tally[.responders] = asks.addresses.holderCount
        }
        if schedule.usesTimers {
            tally[.timers] = schedule.timers.count
            tally[.timerBytes] = schedule.timers.byteCount
            tally[.firings] = Int(schedule.timers.firedCount)
            tally[.missedFirings] = Int(schedule.timers.missedCount)
        }
        if archiveBox.value.isUsed {
            tally[.archived] = archiveBox.value.rows.count
            tally[.archivedBytes] = archiveBox.value.rows.byteCount
        }
        if values.isUsed {
            tally[.values] = values.count
            tally[.valueBytes] = values.byteCount
            tally[.valueChanges] = Int(values.changeCount)
        }
    }
}
