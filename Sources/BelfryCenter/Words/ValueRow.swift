/// A value as a listing shows it, without its content.
public struct ValueRow: Sendable, Equatable {
    /// The object.
    public let object: [UInt8]
    /// The canonical bytes of its value.
    public let byteCount: Int
    /// How many observers observe it, or a place in it.
    public let observerCount: Int
    /// The time of its last change, in milliseconds since 1970.
    public let changedAt: Int64
}
