/// A client that connects.
public struct ClientRegistration: Sendable {
    /// Its number; `c4` has 4.
    ///
    /// It has none before the command is applied.
    public var id: UInt64
    /// How it gets its notifications.
    public let transport: Transport
    /// The owner that what it makes counts for.
    public let owner: Owner
    /// Where they are to be sent.
    public let connection: ConnectionName
    /// The hash of the secret that speaks for the client.
    public let sessionHash: SecretHash
    /// Who it is, as access control named it.
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
