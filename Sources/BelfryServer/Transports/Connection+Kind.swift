import BelfryCenter

extension Connection {
    /// The protocol of a connection.
    enum Kind: Equatable {
        /// Requests and their answers.
        case http
        /// A client of a transport.
        case client(Transport)
        /// The echo, a WebSocket without a client.
        case debugWebSocket
    }
}

extension Connection.Kind {
    /// The messages that it gets unasked; nil for requests and their answers.
    var words: (any ClientTransport)? {
        switch self {
        case .http: nil
        case .client(let transport): transport.words
        case .debugWebSocket: WebSocketTransport(isEcho: true)
        }
    }

    /// Whether it gets deliveries as they come: a client that does not read them is suspended.
    var observes: Bool {
        switch self {
        case .http, .debugWebSocket: false
        case .client: true
        }
    }

    /// The first deadline of its silence.
    @inline(__always)
    var silence: Connection.DeadlineKind {
        switch self {
        case .http: .idle
        case .client(let transport): transport.silence
        case .debugWebSocket: WebSocketTransport.silence
        }
    }
}
