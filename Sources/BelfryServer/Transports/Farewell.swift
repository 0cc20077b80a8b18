import BelfryWebSocket

/// The reason why the broker closes a connection whose client broke no rule of the protocol.
enum Farewell {
    case tooSlow
    case tooMuchUnfinished
    case credentialsExpired
    case stopping
    /// The broker no longer takes part in its cluster.
    case clusterLost
    case clientRemoved
    /// Another connection has become the client, or the reader of the mailbox.
    case takenOver

    /// The code of a Close frame.
    var closeCode: CloseCode {
        switch self {
        case .tooSlow: .tooSlow
        case .tooMuchUnfinished: .tryAgainLater
        case .credentialsExpired: .credentialsExpired
        case .stopping, .clusterLost: .serviceRestart
        case .clientRemoved: .clientRemoved
        case .takenOver: .takenOver
        }
    }

    /// The reason as text.
    var reason: String {
        switch self {
        case .tooSlow: "the client reads too slowly"
        case .tooMuchUnfinished: "too much unfinished input; try again later"
        case .credentialsExpired: "the credentials have expired"
        case .stopping: "the broker is shutting down"
        case .clusterLost: "the broker has lost its cluster"
        case .clientRemoved: "the client was removed"
        case .takenOver: "another connection took over"
        }
    }
}
