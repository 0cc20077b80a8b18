/// A broker's message to the others that it runs, sent beside the log each half second.
public struct Beat: Sendable, Equatable {
    /// The name of the broker.
    public let node: [UInt8]
    /// The life of the broker in the log.
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
