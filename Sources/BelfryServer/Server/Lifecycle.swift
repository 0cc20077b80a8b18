import Synchronization

/// The phases of a broker from its start to its end; it only moves forward.
enum Lifecycle: UInt8, Comparable, AtomicRepresentable {
    /// The broker takes work.
    case ready
    /// The broker was asked to stop, and works on while `/readyz` reports it (`--drain-delay`).
    case lame
    /// The broker takes nothing new.
    case draining
    /// All accepted work is committed, and another process may take the data.
    case released

    static func < (left: Lifecycle, right: Lifecycle) -> Bool { left.rawValue < right.rawValue }
}
