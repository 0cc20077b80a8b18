/// A client as a listing shows it.
public struct ClientRow: Sendable, Equatable {
    /// Its number; `c4` has 4.
    public let id: UInt64
    /// How it gets its notifications.
    public let transport: Transport
    /// The connection to which they are sent; the former one while the client is disconnected.
    public let connection: ConnectionName
    /// Its state.
    public let state: ClientState
    /// The start of its present state, in milliseconds since 1970.
    public let stateSince: Int64
    /// The principal of the client.
    public let principal: [UInt8]
    /// How many observers it has.
    public let observerCount: Int
    /// How many notifications are held for it now.
    public let held: Int
    /// When it connected, in milliseconds since 1970.
    public let connectedAt: Int64
    /// The hash of the secret that speaks for it.
    public let sessionHash: SecretHash
}
