/// A connection, named by its machine and its number there: a center keeps no reference to it.
public struct ConnectionName: Hashable, Sendable {
    /// The machine that has the socket.
    public let node: UInt32
    /// The number of the connection on that machine; never used twice in one life of the broker.
    public let number: UInt64

    /// Joins both parts.
    public init(node: UInt32, number: UInt64) {
        self.node = node
        self.number = number
    }
}
