/// The name of an attempt to append an entry.
public struct EntryName: Hashable, Sendable {
    /// Which life of the broker.
    public let life: UInt64
    /// The number of the entry in that life.
    public let number: UInt64
    /// Which attempt: a later one has a greater number, and the log may have both.
    public let attempt: UInt64

    /// Joins the parts.
    public init(life: UInt64, number: UInt64, attempt: UInt64) {
        self.life = life
        self.number = number
        self.attempt = attempt
    }
}
