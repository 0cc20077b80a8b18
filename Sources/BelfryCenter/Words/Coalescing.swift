/// What makes two notifications similar: all that is named must be equal (rule Q4).
public struct Coalescing: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes a set of the bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Equal notification names.
    public static let onName = Coalescing(rawValue: 1)
    /// Equal objects; none equals none (rule Q21).
    public static let onSender = Coalescing(rawValue: 2)
    /// Nothing is similar to anything.
    public static let none: Coalescing = []
}
