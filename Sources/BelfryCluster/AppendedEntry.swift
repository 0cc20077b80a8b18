/// An entry of this broker that the log has shown, and its cost.
public struct AppendedEntry: Sendable {
    /// The time since it was appended first, in nanoseconds.
    public let time: Int64
    /// How long it is, in bytes.
    public let byteCount: Int
    /// How many commands it has.
    public let commandCount: Int
}
