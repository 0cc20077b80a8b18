import Synchronization

/// A copy of what one loop has, where other loops can read it.
final class Published<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) {
        self.value = Mutex(value)
    }

    /// Keeps a copy.
    ///
    /// The value stays as it is, and is `inout` since the compiler copies a large one twice otherwise.
    @inline(__always)
    func publish(_ new: inout Value) {
        value.withLock { $0 = new }
    }

    func read() -> Value {
        value.withLock { $0 }
    }
}
