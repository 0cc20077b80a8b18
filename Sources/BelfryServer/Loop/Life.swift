/// The phases of a loop from its start to its end; it only moves forward.
enum Life: UInt8, Comparable {
    /// The state is being restored: only requests about the progress are answered.
    case starting
    /// The loop takes work.
    case running
    /// The stop has begun: the loop takes nothing new.
    case draining
    /// This loop has no more commands for any center.
    case settled
    /// The centers of this loop take no more commands.
    case sealed
    /// Clients were told to come back.
    case leaving
    /// The loop ends with this turn.
    case over

    static func < (left: Life, right: Life) -> Bool { left.rawValue < right.rawValue }

    /// Whether the stop has begun.
    var isStopping: Bool { self >= .draining }
    /// Whether centers take no more commands.
    var isSealed: Bool { self >= .sealed }
    /// Whether the loop takes nothing new.
    var takesNothing: Bool { self != .running }
}
