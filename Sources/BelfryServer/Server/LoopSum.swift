/// The counters of all loops: each one reads as their sum.
@dynamicMemberLookup
struct LoopSum<Value: Sendable>: Sendable {
    private let loops: [Value]

    init(_ loops: [Value]) {
        self.loops = loops
    }

    subscript(dynamicMember counter: KeyPath<Value, UInt64>) -> UInt64 {
        loops.reduce(0) { $0 + $1[keyPath: counter] }
    }
}
