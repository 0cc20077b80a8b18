internal import Synchronization

/// A yes or no that one thread tells and others look at, without a lock.
public final class SharedFlag: Sendable {
    private let flag: Atomic<Bool>

    /// Starts with a value.
    public init(_ value: Bool) {
        flag = Atomic(value)
    }

    /// The value that was set last.
    public var value: Bool {
        get { flag.load(ordering: .acquiring) }
        set { flag.store(newValue, ordering: .releasing) }
    }
}
