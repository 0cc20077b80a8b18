/// The stored record of a client with a lasting observer.
public struct ClientRecord: Sendable, Equatable {
    /// Its number.
    public let id: UInt64
    /// How it gets its notifications.
    public let transport: Transport
    /// The hash of the secret that speaks for it.
    public let sessionHash: SecretHash
    /// The principal of the client.
    public let principal: [UInt8]
    /// Whether it asked for suspension.
    public let isAsked: Bool
    /// Whether it has asked for suspension since it was last told its losses.
    public let wasAsked: Bool
    /// When it connected first, in milliseconds since 1970.
    public let connectedAt: Int64
    /// Nanoseconds that its observers have outlived its connection so far, as last noted.
    public let disconnectedFor: Int64
    /// The number up to which held notifications are written although it asked for suspension.
    public let immediateThrough: UInt64
    /// The last notification written to it before its connection ended; nil if that is unknown.
    public let lastWritten: LastWritten?

    /// Joins the parts.
    public init(
        id: UInt64, transport: Transport, sessionHash: SecretHash, principal: [UInt8],
        isAsked: Bool, wasAsked: Bool, connectedAt: Int64, disconnectedFor: Int64,
        immediateThrough: UInt64, lastWritten: LastWritten? = nil
    ) {
        self.id = id
        self.transport = transport
        self.sessionHash = sessionHash
        self.principal = principal
        self.isAsked = isAsked
        self.wasAsked = wasAsked
        self.connectedAt = connectedAt
        self.disconnectedFor = disconnectedFor
        self.immediateThrough = immediateThrough
        self.lastWritten = lastWritten
    }
}
