extension Route {
    /// The path as the contract writes it, for the log: it holds nothing of what was asked.
    var pattern: String {
        switch self {
        case .channelPost: "/v1/channels/{name}"
        case .channels: "/v1/channels"
        case .notifications: "/v1/notifications"
        case .notification: "/v1/notifications/{id}"
        case .observers: "/v1/observers"
        case .observer: "/v1/observers/{idOrToken}"
        case .mailbox: "/v1/observers/{idOrToken}/notifications"
        case .clients: "/v1/clients"
        case .client: "/v1/clients/{id}"
        case .centers: "/v1/centers"
        case .center: "/v1/centers/{center}"
        case .queue: "/v1/queue"
        case .queueEntry: "/v1/queue/{id}"
        case .modes: "/v1/modes"
        case .mode: "/v1/modes/{token}"
        case .explain: "/v1/explain"
        case .leaks: "/v1/reports/leaks"
        case .unmatched: "/v1/reports/unmatched"
        case .webSocket: "/v1/ws"
        case .events: "/v1/events"
        case .tickets: "/v1/tickets"
        case .backup: "/v1/backup"
        case .live: "/livez"
        case .ready: "/readyz"
        case .metrics: "/metrics"
        case .asset: "a file"
        case .debugEcho: "/debug/echo"
        case .debugWebSocket: "/debug/ws"
        }
    }
}
