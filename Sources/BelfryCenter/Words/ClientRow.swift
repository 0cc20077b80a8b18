/// What can be seen of a client.
public struct ClientRow: Sendable, Equatable {
    /// Its number; `c4` has 4.
    public let id: UInt64
    /// How it gets its notifications.
    public let transport: Transport
    /// Where they are sent; where they were sent while it is disconnected.
    public let connection: ConnectionName
    /// Its state.
    public let state: ClientState
    /// Since when it is in its state, in milliseconds since 1970.
    public let stateSince: Int64
    /// Who it is.
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
