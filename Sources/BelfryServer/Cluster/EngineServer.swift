public import BelfrySystem

/// A server of the engine of a cluster, as the options name it.
public struct EngineServer: Sendable, Equatable, CustomStringConvertible {
    /// The address of the server.
    public let endpoint: Endpoint
    /// The text of the option.
    public let text: String
    /// Whether the server must be used with TLS.
    let isSecure: Bool

    /// The ports of a server.
    public enum Service: Sendable {
        /// The port for clients: `nats://HOST:PORT` or `tls://HOST:PORT`.
        case clients
        /// The port for monitoring: `http://HOST:PORT`.
        case monitoring

        fileprivate var scheme: String { self == .clients ? "nats://" : "http://" }
        fileprivate var secureScheme: String? { self == .clients ? "tls://" : nil }
        fileprivate var port: UInt16 { self == .clients ? 4222 : 8222 }
    }

    /// Reads a URL, with or without the scheme and the port; nil for another text.
    public init?(_ text: String, for service: Service = .clients) {
        self.text = text
        isSecure = service.secureScheme.map { text.hasPrefix($0) } ?? false
        let scheme = isSecure ? service.secureScheme ?? "" : service.scheme
        let rest = text.hasPrefix(scheme) ? String(text.dropFirst(scheme.count)) : text
        guard let endpoint = Endpoint(rest, defaultPort: service.port) else { return nil }
        self.endpoint = endpoint
    }

    /// The server's text in the log.
    public var description: String { "\(endpoint)" }
}
