internal import CBelfrySystem

/// A descriptor that one thread makes readable to wake another (eventfd(2)).
public struct EventDescriptor: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// Creates a descriptor that is not readable yet.
    public init() throws(SystemCallError) {
        descriptor = Descriptor(owning: try checked(belfry_event_create(), "eventfd"))
    }

    /// The number to watch for `.readable`.
    public var rawValue: Int32 {
        descriptor.rawValue
    }

    /// Makes the descriptor readable, from any thread.
    ///
    /// A full counter (`EAGAIN`) is readable already, so nothing can go wrong.
    public func signal() {
        _ = belfry_event_signal(descriptor.rawValue)
    }

    /// Makes the descriptor unreadable until the next signal.
    public func clear() {
        _ = belfry_event_clear(descriptor.rawValue)
    }
}
