/// A sign of life that a broker gives the others beside the log, each half second.
public struct Beat: Sendable, Equatable {
    /// Its name.
    public let node: [UInt8]
    /// Its life.
    public let life: UInt64
    /// The index of the last entry that it has applied.
    public let appliedIndex: UInt64

    /// Joins the parts.
    public init(node: [UInt8], life: UInt64, appliedIndex: UInt64) {
        self.node = node
        self.life = life
        self.appliedIndex = appliedIndex
    }
}
