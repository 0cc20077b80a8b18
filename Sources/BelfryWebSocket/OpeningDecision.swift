/// The answer of a server to an opening handshake.
public enum OpeningDecision: Equatable, Sendable {
    /// Answer 101 with `Upgrade: websocket`, `Connection: Upgrade`, Sec-WebSocket-Accept,
    /// Sec-WebSocket-Protocol if a subprotocol was chosen, and Sec-WebSocket-Extensions if messages
    /// may be compressed.
    case accept(acceptKey: [UInt8], subprotocol: [UInt8]?, deflate: DeflateAgreement?)
    /// Answer as the refusal says.
    case refuse(OpeningRefusal)
}

/// Why a request is not upgraded (RFC 6455 §4.2.1, §4.2.2).
public enum OpeningRefusal: Equatable, Sendable {
    /// The method is not GET.
    case methodNotGet
    /// The version is older than HTTP/1.1.
    case versionTooOld
    /// The request has content in the place of frames.
    case hasContent
    /// Upgrade does not name websocket.
    case noUpgrade
    /// Connection does not name upgrade.
    case noConnectionUpgrade
    /// Sec-WebSocket-Key is missing.
    case noKey
    /// Sec-WebSocket-Key is on more than one line (RFC 6455 §11.3.1).
    case repeatedKey
    /// Sec-WebSocket-Key is not the base 64 form of 16 bytes.
    case invalidKey
    /// Sec-WebSocket-Version is on more than one line (RFC 6455 §11.3.5).
    case repeatedVersion
    /// Sec-WebSocket-Version is missing or is not 13.
    case unsupportedVersion
    /// Sec-WebSocket-Protocol is not a list of tokens.
    case malformedSubprotocols
    /// Sec-WebSocket-Protocol names none of the server's subprotocols.
    case unknownSubprotocols

    /// The HTTP status of the answer: 400, 405 or 426.
    public var status: Int {
        switch self {
        case .methodNotGet: 405
        case .noUpgrade, .noConnectionUpgrade, .unsupportedVersion: 426
        case .versionTooOld, .hasContent, .noKey, .repeatedKey, .invalidKey: 400
        case .repeatedVersion, .malformedSubprotocols, .unknownSubprotocols: 400
        }
    }

    /// The fault, for the reader of the answer.
    public var reason: String {
        switch self {
        case .methodNotGet: "a WebSocket is opened with GET"
        case .versionTooOld: "a WebSocket is opened with HTTP/1.1"
        case .hasContent: "a WebSocket is opened by a request without content"
        case .noUpgrade: "Upgrade must name websocket"
        case .noConnectionUpgrade: "Connection must name upgrade"
        case .noKey: "Sec-WebSocket-Key is missing"
        case .repeatedKey: "Sec-WebSocket-Key is sent more than once"
        case .invalidKey: "Sec-WebSocket-Key must be 16 bytes in base64"
        case .repeatedVersion: "Sec-WebSocket-Version is sent more than once"
        case .unsupportedVersion: "Sec-WebSocket-Version must be 13"
        case .malformedSubprotocols: "Sec-WebSocket-Protocol is not a list of tokens"
        case .unknownSubprotocols: "Sec-WebSocket-Protocol names no subprotocol of this path"
        }
    }

    /// Whether the answer needs `Upgrade: websocket`, `Connection: Upgrade` and
    /// `Sec-WebSocket-Version: 13` (RFC 9110 §15.5.22, RFC 6455 §4.4).
    public var namesUpgrade: Bool { status == 426 }
}
