/// Texts that have a limit of their own beside what they cost in memory.
public enum TextKind: Int, Sendable, CaseIterable {
    /// Entries of queues: name, object and userInfo.
    case queue
    /// Timers: the same.
    case timers
    /// Values: their canonical bytes, with their objects.
    case values
    /// Open asks: name, object, userInfo and default.
    case asks
}

/// The texts that are kept for an owner, each kind apart from the others.
public struct OwnedTexts: Sendable, Equatable {
    private var byteCounts = SIMD4<Int>()
    private var costs = SIMD4<Int>()

    /// Has nothing.
    public init() {}

    /// The bytes of one kind, and the bytes of memory that they cost, about.
    public subscript(kind: TextKind) -> (byteCount: Int, cost: Int) {
        get { (byteCounts[kind.rawValue], costs[kind.rawValue]) }
        set { (byteCounts[kind.rawValue], costs[kind.rawValue]) = newValue }
    }

    /// How many bytes more of a kind there may be where this is what may be, and something is there.
    public func room(for kind: TextKind, beside present: OwnedTexts) -> Int {
        max(
            0,
            min(
                self[kind].byteCount - present[kind].byteCount,
                self[kind].cost - present[kind].cost))
    }

    /// Adds what else is kept.
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
