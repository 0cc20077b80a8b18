internal import CBelfrySystem

// SENDABLE: the byte is read and written atomically.
/// A yes or no that one thread tells and others look at, without a lock.
@safe public final class SharedFlag: @unchecked Sendable {
    private let byte: UnsafeMutablePointer<UInt8>

    /// Starts with a value.
    public init(_ value: Bool) {
        // SAFETY: one byte is made here, and freed in `deinit`.
        unsafe byte = .allocate(capacity: 1)
        unsafe byte.initialize(to: value ? 1 : 0)
    }

    deinit {
        // SAFETY: nobody holds a reference any more.
        unsafe byte.deallocate()
    }

    /// What was told last.
    public var value: Bool {
        get {
            // SAFETY: the byte lives as long as this object.
            unsafe belfry_flag_load(byte)
        }
        set {
            // SAFETY: as above.
            unsafe belfry_flag_store(byte, newValue)
        }
    }
}
