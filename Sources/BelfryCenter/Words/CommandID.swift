/// The name of a command: the node that accepted it, the life of that node, and a number.
public struct CommandID: Hashable, Sendable {
    /// The machine.
    public let node: UInt32
    /// The life of the broker on that machine.
    public let incarnation: UInt64
    /// The number of the command in that life.
    public let counter: UInt64

    /// Joins the three parts.
    public init(node: UInt32, incarnation: UInt64, counter: UInt64) {
        self.node = node
        self.incarnation = incarnation
        self.counter = counter
    }

    /// Hashes the counter alone: most names in one table differ in it.
    public func hash(into hasher: inout Hasher) { hasher.combine(counter) }
}
