/// The parts of an HTTP response to a client that opens a connection (RFC 6455 §4.1).
public struct OpeningResponse: Sendable {
    /// The status of the response.
    public var status: Int
    /// The lines of Upgrade.
    public var upgrade: [[UInt8]] = []
    /// The lines of Connection.
    public var connection: [[UInt8]] = []
    /// The lines of Sec-WebSocket-Accept.
    public var accept: [[UInt8]] = []
    /// The lines of Sec-WebSocket-Protocol.
    public var subprotocols: [[UInt8]] = []
    /// The lines of Sec-WebSocket-Extensions.
    public var extensions: [[UInt8]] = []

    /// A response with this status, and none of the fields yet.
    public init(status: Int) {
        self.status = status
    }

    /// The meaning of the response for the connection.
    public enum Outcome: Equatable, Sendable {
        /// The connection is open, with this subprotocol if one was chosen.
        ///
        /// Messages that arrive may be compressed if that was offered and accepted.
        case open(subprotocol: [UInt8]?, mayInflate: Bool)
        /// The server answered with another status than 101.
        case refused(status: Int)
        /// The server answered 101, but not to this request: the transport must end.
        case invalid(Fault)
    }

    /// A fault of a response of 101.
    public enum Fault: Equatable, Sendable {
        /// Upgrade does not name websocket.
        case noUpgrade
        /// Connection does not name upgrade.
        case noConnectionUpgrade
        /// Sec-WebSocket-Accept is missing, repeated, or belongs to another key.
        case wrongAccept
        /// The chosen subprotocol was not offered, or more than one was chosen.
        case unexpectedSubprotocol
        /// An extension was accepted that was not offered, or not in this way.
        case unexpectedExtension
    }

    /// Checks the response to a request with the key of `opening` and these subprotocols.
    ///
    /// - Parameter offersDeflate: whether the request had `DeflateAgreement.clientFieldValue`.
    public func outcome(
        of opening: ClientOpening, subprotocols offered: [[UInt8]], offersDeflate: Bool
    ) -> Outcome {
        guard status == 101 else { return .refused(status: status) }
        guard FieldList.contains("websocket", in: upgrade) else { return .invalid(.noUpgrade) }
        guard FieldList.contains("upgrade", in: connection) else {
            return .invalid(.noConnectionUpgrade)
        }
        let key = opening.key
        guard accept == [OpeningKey.accept(for: key.span)] else { return .invalid(.wrongAccept) }
        guard extensions.isEmpty || offersDeflate && DeflateAgreement.isAgreed(extensions) else {
            return .invalid(.unexpectedExtension)
        }
        let mayInflate = !extensions.isEmpty
        guard let chosen = subprotocols.first else {
            return .open(subprotocol: nil, mayInflate: mayInflate)
        }
        guard subprotocols.count == 1, offered.contains(chosen) else {
            return .invalid(.unexpectedSubprotocol)
        }
        return .open(subprotocol: chosen, mayInflate: mayInflate)
    }
}
