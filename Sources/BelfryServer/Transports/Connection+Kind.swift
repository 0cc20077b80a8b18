import BelfryCenter

extension Connection {
    /// What is spoken on a connection.
    enum Kind: UInt8 {
        case http
        case webSocket
        case events
        case debugWebSocket
    }
}

extension Connection.Kind {
    /// The transport of a connection; nil for requests and their answers.
    var transport: (any ClientTransport)? {
        switch self {
        case .http: nil
        case .webSocket: WebSocketTransport()
        case .debugWebSocket: WebSocketTransport(isEcho: true)
        case .events: EventStreamTransport()
        }
    }

    /// Whether it is told things as they come: who does not read them is suspended, and asks for nothing by that.
    var observes: Bool {
        switch self {
        case .http, .debugWebSocket: false
        case .webSocket, .events: true
        }
    }

    /// What its silence means, where nothing was said about it before.
    @inline(__always)
    var silence: Connection.DeadlineKind {
        switch self {
        case .http: .idle
        case .webSocket, .debugWebSocket: WebSocketTransport.silence
        case .events: EventStreamTransport.silence
        }
    }

    /// What the connection of a client is, as its center calls it.
    @inline(__always)
    init(_ transport: Transport) {
        switch transport {
        case .webSocket: self = .webSocket
        case .events: self = .events
        case .mailbox: preconditionFailure("a mailbox has no connection of its own")
        }
    }
}
