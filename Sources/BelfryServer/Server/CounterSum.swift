/// The counters of all loops: each reads as their sum.
@dynamicMemberLookup
struct CounterSum: Sendable {
    private let loops: [Counters]

    init(_ loops: [Counters]) {
        self.loops = loops
    }

    subscript(dynamicMember counter: KeyPath<Counters, UInt64>) -> UInt64 {
        loops.reduce(0) { $0 + $1[keyPath: counter] }
    }
}
