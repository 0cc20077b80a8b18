/// Why a client gets nothing now; the first that holds is told, and live when none does.
public enum ClientState: UInt8, Sendable, Equatable, CaseIterable {
    /// Its connection has ended.
    case disconnected
    /// It does not read what it is sent, or does not acknowledge it.
    case slow
    /// It asked for suspension.
    case asked
    /// It gets its notifications.
    case live

    /// The state as it stands in JSON and in a query.
    public var text: String {
        switch self {
        case .disconnected: "disconnected"
        case .slow: "slow"
        case .asked: "asked"
        case .live: "live"
        }
    }
}
