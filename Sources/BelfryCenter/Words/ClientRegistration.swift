/// A client that connects.
public struct ClientRegistration: Sendable {
    /// Its number; `c4` has 4.
    ///
    /// It has none before the command is applied.
    public var id: UInt64
    /// How it gets its notifications.
    public let transport: Transport
    /// The owner that counts for all that the client makes.
    public let owner: Owner
    /// The connection to which they are sent.
    public let connection: ConnectionName
    /// The hash of the secret that speaks for the client.
    public let sessionHash: SecretHash
    /// The principal of the client, from access control.
    public let principal: [UInt8]

    /// Joins the parts.
    public init(
        id: UInt64 = 0, transport: Transport, connection: ConnectionName, sessionHash: SecretHash,
        principal: [UInt8], owner: Owner = .none
    ) {
        self.id = id
        self.transport = transport
        self.connection = connection
        self.sessionHash = sessionHash
        self.principal = principal
        self.owner = owner
    }
}
