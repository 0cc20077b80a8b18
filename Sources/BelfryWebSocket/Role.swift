/// The side of a connection that an endpoint is on; the client masks (RFC 6455 §5.1).
public enum Role: Sendable {
    /// The side that opened the connection: it masks what it sends, and reads unmasked frames.
    case client
    /// The side that accepted the connection: it reads masked frames, and masks nothing.
    case server
}
