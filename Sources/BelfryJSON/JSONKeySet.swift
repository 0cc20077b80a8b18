/// The keys that an object has shown so far, by their ordinals, to find those that come twice.
public struct JSONKeySet: Equatable, Sendable {
    /// Ordinals are 0 to 63.
    static let capacity = 64

    private var bits: UInt64 = 0

    /// A set without keys.
    public init() {}

    /// Adds a key, and tells whether it is new; if not, the object has it twice.
    public mutating func insert(_ ordinal: Int) -> Bool {
        let isNew = !contains(ordinal)
        bits |= 1 << UInt64(ordinal)
        return isNew
    }

    /// Whether the key has been added, in 0 to 63.
    public func contains(_ ordinal: Int) -> Bool {
        precondition(ordinal >= 0 && ordinal < Self.capacity, "a key ordinal is 0 to 63")
        return bits & 1 << UInt64(ordinal) != 0
    }
}
