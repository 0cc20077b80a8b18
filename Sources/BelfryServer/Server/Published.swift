import Synchronization

/// A copy of what one loop has, where other loops can read it.
final class Published<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) {
        self.value = Mutex(value)
    }

    /// Nothing of it is changed: a value of many numbers that is not `inout` is copied twice.
    @inline(__always)
    func publish(_ new: inout Value) {
        value.withLock { $0 = new }
    }

    func read() -> Value {
        value.withLock { $0 }
    }
}
