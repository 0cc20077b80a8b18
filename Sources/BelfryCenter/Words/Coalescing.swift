/// The parts in which two notifications must be equal to be similar (rule Q4).
public struct Coalescing: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes a set of the bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Equal notification names.
    public static let onName = Coalescing(rawValue: 1)
    /// Equal objects; two missing objects are equal (rule Q21).
    public static let onSender = Coalescing(rawValue: 2)
    /// No two notifications are similar.
    public static let none: Coalescing = []
}
