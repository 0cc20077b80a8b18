internal import CBelfrySystem

/// An open file descriptor that closes itself when its owner is done with it.
public struct Descriptor: ~Copyable, Sendable {
    /// The number that the kernel knows the descriptor by.
    public let rawValue: Int32

    /// Takes over an open descriptor.
    public init(owning rawValue: Int32) {
        precondition(rawValue >= 0, "a descriptor is not negative")
        self.rawValue = rawValue
    }

    deinit {
        belfry_close(rawValue)
    }
}
