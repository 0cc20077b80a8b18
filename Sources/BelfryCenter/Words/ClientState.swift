/// The state of a client: the first of these that applies.
public enum ClientState: UInt8, Sendable, Equatable, CaseIterable {
    /// The connection of the client has ended.
    case disconnected
    /// The client does not read its deliveries, or does not acknowledge them.
    case slow
    /// The client asked for suspension.
    case asked
    /// The client gets its notifications.
    case live

    /// The state as it is written in JSON and in a query.
    public var text: String {
        switch self {
        case .disconnected: "disconnected"
        case .slow: "slow"
        case .asked: "asked"
        case .live: "live"
        }
    }
}
