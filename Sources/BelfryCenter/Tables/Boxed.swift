/// A value beside the struct that has it, so that a copy of that struct is small.
struct Boxed<Value: Sendable>: Sendable {
    /// One element: an array is copied on write.
    private var storage: [Value]

    init(_ value: Value) { storage = [value] }

    var value: Value {
        @inline(__always) _read { yield storage[0] }
        @inline(__always) _modify { yield &storage[0] }
    }
}

extension Boxed: Footprinted where Value: Footprinted {
    var footprint: Int {
        Footprint.array(of: 1, stride: MemoryLayout<Value>.stride) + value.footprint
    }
}
