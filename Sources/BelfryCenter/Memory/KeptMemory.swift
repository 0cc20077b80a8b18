/// How many bytes of memory a center keeps, by kind.
public struct KeptMemory: Sendable, Equatable {
    /// One lane for each kind: an account is added and compared in a few instructions.
    private var byteCounts = SIMD8<Int>()

    /// Keeps nothing.
    public init() {}

    /// The bytes of one kind.
    @inline(__always)
    public subscript(kind: KeptKind) -> Int {
        get { byteCounts[kind.rawValue] }
        set { byteCounts[kind.rawValue] = newValue }
    }

    /// How much more there is of each kind than there was.
    @inline(__always)
    public static func - (left: KeptMemory, right: KeptMemory) -> KeptMemory {
        var growth = left
        growth.byteCounts &-= right.byteCounts
        return growth
    }

    /// Adds what another one keeps.
    @inline(__always)
    public static func += (left: inout KeptMemory, right: KeptMemory) {
        left.byteCounts &+= right.byteCounts
    }
}

extension KeptMemory: Coded {
    init(_ known: KeptMemory?, by coder: inout some Coder) throws(CodeError) {
        self.init()
        for kind in KeptKind.allCases { self[kind] = try coder(known?[kind]) }
    }
}
