import Synchronization

/// The phases of a broker, and of each of its loops, from the start to the end.
///
/// They only move forward. The broker as a whole is running, lame, draining or released; a loop has
/// all phases but lame and released.
enum Life: UInt8, Comparable, AtomicRepresentable {
    /// The state is being restored: only requests about the progress are answered.
    case starting
    /// The loop takes work, and so does the broker.
    case running
    /// The broker was asked to stop, and works on while `/readyz` reports it (`--drain-delay`).
    case lame
    /// The stop has begun: the loop, or the broker, takes nothing new.
    case draining
    /// This loop has no more commands for any center.
    case settled
    /// The centers of this loop take no more commands.
    case sealed
    /// All accepted work is committed, and another process may take the data of the broker.
    case released
    /// Clients of the loop were told to come back.
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
