/// The name of a command: which node accepted it, in which of its lives, and its number there.
public struct CommandID: Hashable, Sendable {
    /// The machine.
    public let node: UInt32
    /// Which start of the broker on that machine.
    public let incarnation: UInt64
    /// The number of the command in that life.
    public let counter: UInt64

    /// Joins the three parts.
    public init(node: UInt32, incarnation: UInt64, counter: UInt64) {
        self.node = node
        self.incarnation = incarnation
        self.counter = counter
    }

    /// Those of one table differ in their counters, mostly.
    public func hash(into hasher: inout Hasher) { hasher.combine(counter) }
}
