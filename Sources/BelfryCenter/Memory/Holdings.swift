/// The memory and the counts that are kept for an owner.
public struct Holdings: Sendable, Equatable {
    /// The bytes by kind; for the queue only those of observers of values, as the rest is texts.
    public var memory = KeptMemory()
    /// The texts in queues, timers, values and asks.
    public var texts = OwnedTexts()
    /// How many observers.
    public var observerCount = 0
    /// How many centers.
    public var centerCount = 0

    /// Makes empty holdings.
    public init() {}

    /// Whether nothing is kept.
    public var isNone: Bool { self == Holdings() }

    /// Adds other holdings.
    public static func += (left: inout Holdings, right: Holdings) {
        left.memory += right.memory
        left.texts += right.texts
        left.observerCount += right.observerCount
        left.centerCount += right.centerCount
    }
}

extension Holdings: Coded {
    init(_ known: Holdings?, by coder: inout some Coder) throws(CodeError) {
        memory = try coder(known?.memory)
        texts = try coder(known?.texts)
        observerCount = try coder(known?.observerCount)
        centerCount = try coder(known?.centerCount)
    }
}
