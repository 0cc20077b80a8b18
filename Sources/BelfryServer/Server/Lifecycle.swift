import Synchronization

/// Where a broker stands on its way from the start to the end; it only moves on.
enum Lifecycle: UInt8, Comparable, AtomicRepresentable {
    /// It takes work.
    case ready
    /// It was asked to stop, and works on while whoever looks at `/readyz` finds out (`--drain-delay`).
    case lame
    /// Nothing new is taken.
    case draining
    /// All that it had accepted is committed, and another process may have its data.
    case released

    static func < (left: Lifecycle, right: Lifecycle) -> Bool { left.rawValue < right.rawValue }
}
