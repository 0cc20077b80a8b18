/// What can be seen of the value of an object without reading it.
public struct ValueRow: Sendable, Equatable {
    /// The object.
    public let object: [UInt8]
    /// The canonical bytes of its value.
    public let byteCount: Int
    /// How many observers look at it, or at a place in it.
    public let observerCount: Int
    /// When it changed last, in milliseconds since 1970.
    public let changedAt: Int64
}
