/// The status code of a Close frame (RFC 6455 §7.4).
public struct CloseCode: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt16

    /// Makes a code with this number, whether it is allowed on the wire or not.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Whether an endpoint may send this code in a Close frame.
    ///
    /// These are the codes that RFC 6455 §7.4.1 and the IANA registry define for the wire, and the
    /// ranges of §7.4.2 for libraries (3000) and private use (4000). 1004 has no meaning, and
    /// 1005, 1006 and 1015 only say what did not arrive.
    public var isValidOnWire: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

// The codes of RFC 6455 §7.4.1 and of the IANA registry.
extension CloseCode {
    /// The purpose of the connection is fulfilled.
    public static let normalClosure = CloseCode(rawValue: 1000)
    /// The endpoint goes away: a page was left, a server stops.
    public static let goingAway = CloseCode(rawValue: 1001)
    /// The peer broke the protocol.
    public static let protocolError = CloseCode(rawValue: 1002)
    /// The message is of a kind that the endpoint does not take, such as binary.
    public static let unsupportedData = CloseCode(rawValue: 1003)
    /// A Close without a code arrived; never on the wire.
    public static let noStatusReceived = CloseCode(rawValue: 1005)
    /// The transport ended without a Close; never on the wire.
    public static let abnormalClosure = CloseCode(rawValue: 1006)
    /// The payload contradicts the kind of the message, such as text that is not UTF-8.
    public static let invalidPayload = CloseCode(rawValue: 1007)
    /// The message is too big.
    public static let messageTooBig = CloseCode(rawValue: 1009)
    /// The endpoint met a condition that it did not expect.
    public static let internalError = CloseCode(rawValue: 1011)
    /// The server restarts: reconnect after the time that it announced.
    public static let serviceRestart = CloseCode(rawValue: 1012)
    /// The server is overloaded: back off.
    public static let tryAgainLater = CloseCode(rawValue: 1013)
}

// The broker's own codes.
extension CloseCode {
    /// Another connection resumed the client of this one: do not reconnect.
    public static let takenOver = CloseCode(rawValue: 4001)
    /// The client was removed: do not reconnect.
    public static let clientRemoved = CloseCode(rawValue: 4002)
    /// The credentials expired: get new ones first.
    public static let credentialsExpired = CloseCode(rawValue: 4003)
    /// The client was too slow for too long.
    public static let tooSlow = CloseCode(rawValue: 4008)
}
