import Synchronization

/// A copy of a loop's value that other loops can read.
final class Published<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) {
        self.value = Mutex(value)
    }

    /// Keeps a copy.
    ///
    /// The value does not change; it is `inout` since the compiler copies a large one twice
    /// otherwise.
    @inline(__always)
    func publish(_ new: inout Value) {
        value.withLock { $0 = new }
    }

    func read() -> Value {
        value.withLock { $0 }
    }
}
