/// A connection, named by its machine and its number there: a center keeps no reference to it.
public struct ConnectionName: Hashable, Sendable {
    // The longer part comes first, so that a delivery needs no padding behind the shorter one.
    /// The number of the connection on its machine; never used twice in one life of the broker.
    public let number: UInt64
    /// The machine that has the socket.
    public let node: UInt32

    /// Joins both parts.
    public init(node: UInt32, number: UInt64) {
        self.number = number
        self.node = node
    }
}
