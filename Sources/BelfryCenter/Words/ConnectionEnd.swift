/// How a connection of a client has ended.
public enum ConnectionEnd: UInt64, Sendable {
    /// It broke, or somebody else closed it than its client.
    case broken = 0
    /// Its client closed it in order, with code 1000: it says no farewell.
    case closed = 1
    /// Its broker stops or has died, and not its client: that must find the time to come back to another broker.
    case brokerLeft = 2
}
