/// Kinds of texts that have a limit of their own besides that of memory.
public enum TextKind: Int, Sendable, CaseIterable {
    /// Entries of queues: name, object and userInfo.
    case queue
    /// Timers: name, object and userInfo.
    case timers
    /// Values: their canonical bytes, with their objects.
    case values
    /// Open asks: name, object, userInfo and default.
    case asks
}

/// The texts that are kept for an owner, by kind.
public struct OwnedTexts: Sendable, Equatable {
    private var byteCounts = SIMD4<Int>()
    private var costs = SIMD4<Int>()

    /// Makes an account of no texts.
    public init() {}

    /// The bytes of one kind, and the memory that they cost, about.
    public subscript(kind: TextKind) -> (byteCount: Int, cost: Int) {
        get { (byteCounts[kind.rawValue], costs[kind.rawValue]) }
        set { (byteCounts[kind.rawValue], costs[kind.rawValue]) = newValue }
    }

    /// The bytes of a kind still free, where this is the limit and `present` is used.
    public func room(for kind: TextKind, beside present: OwnedTexts) -> Int {
        max(
            0,
            min(
                self[kind].byteCount - present[kind].byteCount,
                self[kind].cost - present[kind].cost))
    }

    /// Adds another account.
    public static func += (left: inout OwnedTexts, right: OwnedTexts) {
        left.byteCounts &+= right.byteCounts
        left.costs &+= right.costs
    }
}

extension OwnedTexts: Coded {
    init(_ known: OwnedTexts?, by coder: inout some Coder) throws(CodeError) {
        self.init()
        for kind in TextKind.allCases {
            self[kind] = (try coder(known?[kind].byteCount), try coder(known?[kind].cost))
        }
    }
}
