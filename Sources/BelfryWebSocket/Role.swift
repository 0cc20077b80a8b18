/// The side of a connection that an endpoint is on; the client masks (RFC 6455 §5.1).
public enum Role: Sendable {
    /// The side that opened the connection: it masks its frames, and reads unmasked ones.
    case client
    /// The side that accepted the connection: it reads masked frames, and masks nothing.
    case server
}
