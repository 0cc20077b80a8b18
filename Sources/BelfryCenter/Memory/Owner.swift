/// An owner that kept memory counts for, by a number that its server gives.
public struct Owner: Hashable, Sendable {
    /// The number; no other owner gets it while something counts for this one.
    public let number: UInt32

    /// Names an owner.
    public init(number: UInt32) {
        self.number = number
    }

    /// The owner of memory that counts for the whole broker alone.
    public static let none = Owner(number: 0)
}
