/// Where a loop is between its start and its end; it only moves on.
enum Life: UInt8, Comparable {
    /// The state is restored: nothing is taken but what asks how far that has come.
    case starting
    /// It takes work.
    case running
    /// The stop has begun: nothing new is taken.
    case draining
    /// This loop has nothing more for any center.
    case settled
    /// The centers of this loop take no command any more.
    case sealed
    /// Clients were told to come back.
    case leaving
    /// The loop ends with this turn.
    case over

    static func < (left: Life, right: Life) -> Bool { left.rawValue < right.rawValue }

    /// Whether the stop has begun.
    var isStopping: Bool { self >= .draining }
    /// Whether centers take no command any more.
    var isSealed: Bool { self >= .sealed }
    /// Whether nothing new is taken.
    var takesNothing: Bool { self != .running }
}
