/// How much a center has of what most centers never have, asks, timers, values and observers that acknowledge, and what
/// it did with them.
public struct CenterTally: Sendable {
    /// The things that a tally counts.
    public enum Kind: Int, CaseIterable, Sendable {
        /// Open asks.
        case asks
        /// Bytes of name, object, userInfo and default of all open asks, and of the results in the rows of all posts
        /// that wait.
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
    }

    /// All kinds; they are looked at in each turn.
    public static let kinds = Kind.allCases

    /// One for each kind.
    private var counts = InlineArray<11, Int>(repeating: 0)

    /// Has nothing.
    public init() {}

    /// How much there is of one kind.
    @inline(__always)
    public subscript(kind: Kind) -> Int {
        get { counts[kind.rawValue] }
        set { counts[kind.rawValue] = newValue }
    }
}

extension NotificationCenter {
    /// Whether it ever had something that its tally counts.
    public var hasTally: Bool {
        usesAsks || usesTimers || usesValues || tally[.acknowledgements] > 0
    }

    /// Finds out what the center has of asks, timers and values now.
    mutating func noteTally() {
        if usesAsks {
            tally[.asks] = asks.count
            tally[.askBytes] = asks.byteCount + waiting.resultByteCount
            tally[.responders] = addresses.holderCount
        }
        if usesTimers {
            tally[.timers] = timers.count
            tally[.timerBytes] = timers.byteCount
            tally[.firings] = Int(timers.firedCount)
            tally[.missedFirings] = Int(timers.missedCount)
        }
        if usesValues {
            tally[.values] = values.count
            tally[.valueBytes] = values.byteCount
            tally[.valueChanges] = Int(values.changeCount)
        }
    }
}
