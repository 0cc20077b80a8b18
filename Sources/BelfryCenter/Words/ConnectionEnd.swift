/// The way in which a connection of a client ended.
public enum ConnectionEnd: UInt64, Sendable {
    /// The connection broke, or was closed by another side than its client.
    case broken = 0
    /// The client closed the connection in order, with code 1000: its farewells are withdrawn.
    case closed = 1
    /// The broker stops or has died, and not the client, which needs time to reach another broker.
    case brokerLeft = 2
}
