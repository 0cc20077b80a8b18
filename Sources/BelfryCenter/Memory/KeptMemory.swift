/// The bytes of memory that a center keeps, by kind.
public struct KeptMemory: Sendable, Equatable {
    /// One lane for each kind: an account is added and compared in a few instructions.
    private var byteCounts = SIMD16<Int>()

    /// Makes an empty account.
    public init() {}

    /// The bytes of one kind.
    @inline(__always)
    public subscript(kind: KeptKind) -> Int {
        get { byteCounts[kind.rawValue] }
        set { byteCounts[kind.rawValue] = newValue }
    }

    /// The growth of each kind.
    @inline(__always)
    public static func - (left: KeptMemory, right: KeptMemory) -> KeptMemory {
        var growth = left
        growth.byteCounts &-= right.byteCounts
        return growth
    }

    /// Adds another account.
    @inline(__always)
    public static func += (left: inout KeptMemory, right: KeptMemory) {
        left.byteCounts &+= right.byteCounts
    }
}

extension KeptMemory: Coded {
    init(_ known: KeptMemory?, by coder: inout some Coder) throws(CodeError) {
        self.init()
        // No state of a log has archives.
        for kind in KeptKind.allCases where kind != .archives {
            self[kind] = try coder(known?[kind])
        }
    }
}
