/// Somebody whom things that a center keeps count for, by a number that its server gives.
public struct Owner: Hashable, Sendable {
    /// The number; it is not given to another one while something counts for it.
    public let number: UInt32

    /// Names an owner.
    public init(number: UInt32) {
        self.number = number
    }

    /// What it makes counts for the whole broker alone.
    public static let none = Owner(number: 0)
}

/// What is kept for an owner.
public struct Holdings: Sendable, Equatable {
    /// The bytes by kind.
    public var memory = KeptMemory()
    /// How many observers.
    public var observerCount = 0
    /// How many centers.
    public var centerCount = 0

    /// Has nothing.
    public init() {}

    /// Whether nothing is kept.
    public var isNone: Bool { self == Holdings() }

    /// Adds what else is kept.
    public static func += (left: inout Holdings, right: Holdings) {
        left.memory += right.memory
        left.observerCount += right.observerCount
        left.centerCount += right.centerCount
    }
}
