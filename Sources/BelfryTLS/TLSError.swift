/// A failure of a certificate, a handshake or a connection.
///
/// Texts are those of libssl; they name no path and hold no bytes of a peer.
public enum TLSError: Error, Equatable, Sendable {
    /// The text holds no PEM certificate.
    case noCertificate
    /// The text holds no PEM private key.
    case noPrivateKey
    /// The private key needs a pass phrase, which the broker does not have.
    case encryptedPrivateKey
    /// The private key is not that of the first certificate.
    case keyMismatch
    /// libssl does not take the certificate or the key, for example because it is too short.
    case unusable(String)
    /// No authority is known that a peer's certificate could be checked by.
    case noAuthorities
    /// The peer speaks plain HTTP.
    case plainHTTP
    /// The handshake took more bytes from the peer than the limit.
    case handshakeTooLong(limit: Int)
    /// The handshake failed, for example because there is no common version.
    case handshakeFailed(String)
    /// The peer's certificate is not trusted, or is for another name.
    case untrustedPeer(String)
    /// The peer broke the protocol after the handshake, or ended the connection with an alert.
    case connectionFailed(String)
    /// Something was to be sent before the handshake was done, or after the end.
    case notOpen
}

extension TLSError: CustomStringConvertible {
    /// A sentence for an operator, without its full stop.
    public var description: String {
        switch self {
        case .noCertificate: "there is no PEM certificate"
        case .noPrivateKey: "there is no PEM private key"
        case .encryptedPrivateKey: "the private key is encrypted"
        case .keyMismatch: "the private key does not belong to the certificate"
        case .unusable(let reason): "the certificate or key cannot be used: \(reason)"
        case .noAuthorities: "there is no certificate of an authority to trust"
        case .plainHTTP: "plain HTTP where TLS is spoken"
        case .handshakeTooLong(let limit): "the handshake is longer than \(limit) bytes"
        case .handshakeFailed(let reason): "the TLS handshake failed: \(reason)"
        case .untrustedPeer(let reason): "the certificate is not trusted: \(reason)"
        case .connectionFailed(let reason): "the TLS connection failed: \(reason)"
        case .notOpen: "the TLS connection is not open"
        }
    }
}
