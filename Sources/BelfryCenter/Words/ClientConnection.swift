/// A client, and the connection that it uses.
public struct ClientConnection: Sendable {
    /// The client.
    public let client: UInt64
    /// Its connection, or one that reads a mailbox of it.
    public let connection: ConnectionName

    /// Joins both.
    public init(client: UInt64, connection: ConnectionName) {
        self.client = client
        self.connection = connection
    }
}
