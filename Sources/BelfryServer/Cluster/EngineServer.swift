import BelfrySystem

/// A server of the engine of a cluster, as the options name it.
public struct EngineServer: Sendable, Equatable, CustomStringConvertible {
    /// The name or the address of its host.
    public let host: String
    /// The port.
    public let port: UInt16
    /// How it was written.
    public let text: String
    /// Its address, unless the host is a name.
    let address: SocketAddress?

    /// Whether it must be spoken to with TLS.
    let isSecure: Bool

    /// The ports of a server.
    public enum Service: Sendable {
        /// That of its clients: `nats://HOST:PORT` or `tls://HOST:PORT`.
        case clients
        /// That of its monitoring: `http://HOST:PORT`.
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
        if let address = SocketAddress(rest) ?? SocketAddress("\(rest):\(service.port)") {
            self.address = address
            host = address.host
            port = address.port
            return
        }
        address = nil
        let words = rest.split(separator: ":", omittingEmptySubsequences: false)
        guard words.count <= 2, let name = words.first, Self.isHostName(name) else { return nil }
        host = String(name)
        guard words.count == 2 else {
            port = service.port
            return
        }
        guard let port = UInt16(words[1]) else { return nil }
        self.port = port
    }

    /// RFC 1123: labels of letters, digits and hyphens.
    private static func isHostName(_ text: Substring) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// The server as it is logged.
    public var description: String { address.map { "\($0)" } ?? "\(host):\(port)" }
}
