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
