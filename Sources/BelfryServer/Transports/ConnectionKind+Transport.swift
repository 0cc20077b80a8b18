import BelfryCenter

extension Connection.Kind {
    /// The transport of a connection; nil for requests and their answers.
    @inline(__always)
    var transport: (any ClientTransport)? {
        switch self {
        case .http: nil
        case .webSocket: WebSocketTransport()
        case .debugWebSocket: WebSocketTransport(isEcho: true)
        case .events: EventStreamTransport()
        }
    }

    /// What the connection of a client is, as its center calls it.
    init(_ transport: Transport) {
        switch transport {
        case .webSocket: self = .webSocket
        case .events: self = .events
        case .mailbox: preconditionFailure("a mailbox has no connection of its own")
        }
    }
}
