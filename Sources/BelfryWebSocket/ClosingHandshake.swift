/// The progress of a connection towards its close (RFC 6455 §7).
///
/// Either side may begin. The receiver of a Close answers with one; when both were sent the server
/// ends the transport, and the client waits for that (§7.1.1). The methods return the next action
/// and do nothing themselves; a closing timer of the caller bounds every wait.
public struct ClosingHandshake: Equatable, Sendable {
    /// The action that the caller must take.
    public enum Action: Equatable, Sendable {
        /// Nothing, or nothing any more.
        case none
        /// Send a Close frame with this code, send no frame after it, and start the closing timer.
        case sendClose(CloseCode?)
        /// Send a Close frame with this code, and end the transport when it has been written.
        case sendCloseThenEnd(CloseCode?)
        /// End the transport when the output so far has been written.
        case endTransport
    }

    /// The steps of closing.
    public enum State: Equatable, Sendable {
        /// Frames pass in both directions.
        case open
        /// Our Close is sent and the peer's is awaited.
        case weSentClose
        /// Both Closes are sent, and a client awaits that the server ends the transport.
        case peerSentClose
        /// The transport has ended, or must end now.
        case closed
    }

    /// The state of the connection.
    public private(set) var state = State.open

    /// How the connection ended, for the application and for the metrics (RFC 6455 §7.1.5).
    ///
    /// It is 1006 as long as no Close has arrived, and 1005 when it came without a code.
    public private(set) var outcome = CloseCode.abnormalClosure

    private let role: Role

    /// The closing of a connection that has just been opened.
    public init(role: Role) {
        self.role = role
    }

    /// Whether frames may still be sent; after a Close nothing may follow (RFC 6455 §5.5.1).
    public var maySend: Bool { state == .open }

    /// The application wants to close.
    public mutating func close(_ code: CloseCode?) -> Action {
        switch state {
        case .open:
            state = .weSentClose
            return .sendClose(code)
        case .weSentClose, .peerSentClose, .closed:
            return .none
        }
    }

    /// A Close frame with this code arrived; the answer carries the same code (RFC 6455 §5.5.1).
    public mutating func receiveClose(_ code: CloseCode?) -> Action {
        switch (state, role) {
        case (.open, .server):
            outcome = code ?? .noStatusReceived
            state = .closed
            return .sendCloseThenEnd(code)
        case (.open, .client):
            outcome = code ?? .noStatusReceived
            state = .peerSentClose
            return .sendClose(code)
        case (.weSentClose, .server):
            outcome = code ?? .noStatusReceived
            state = .closed
            return .endTransport
        case (.weSentClose, .client):
            outcome = code ?? .noStatusReceived
            state = .peerSentClose
            return .none
        case (.peerSentClose, _), (.closed, _):
            return .none
        }
    }

    /// The peer broke the protocol: the connection is failed at once (RFC 6455 §7.1.7).
    public mutating func fail(_ error: WebSocketError) -> Action {
        switch state {
        case .open:
            state = .closed
            return .sendCloseThenEnd(error.closeCode)
        case .weSentClose, .peerSentClose:
            state = .closed
            return .endTransport
        case .closed:
            return .none
        }
    }
}
