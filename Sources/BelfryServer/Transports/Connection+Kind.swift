import BelfryCenter

extension Connection {
    /// What is spoken on a connection.
    enum Kind: Equatable {
        /// Requests and their answers.
        case http
        /// It is a client.
        case client(Transport)
        /// The echo, a WebSocket without a client.
        case debugWebSocket
    }
}

extension Connection.Kind {
    /// What is said on it unasked; nil for requests and their answers.
    var words: (any ClientTransport)? {
        switch self {
        case .http: nil
        case .client(let transport): transport.words
        case .debugWebSocket: WebSocketTransport(isEcho: true)
        }
    }

    /// Whether it is told things as they come: who does not read them is suspended, and asks for nothing by that.
    var observes: Bool {
        switch self {
        case .http, .debugWebSocket: false
        case .client: true
        }
    }

    /// What its silence means, where nothing was said about it before.
    @inline(__always)
    var silence: Connection.DeadlineKind {
        switch self {
        case .http: .idle
        case .client(let transport): transport.silence
        case .debugWebSocket: WebSocketTransport.silence
        }
    }
}
