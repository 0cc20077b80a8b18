import BelfrySystem

/// A server of the engine of a cluster, as the options name it.
public struct EngineServer: Sendable, Equatable, CustomStringConvertible {
    /// The name or the address of its host.
    public let host: String
    /// The port.
    public let port: UInt16
    /// Its address, unless the host is a name.
    let address: SocketAddress?

    /// Whether it must be spoken to with TLS.
    let isSecure: Bool

    /// The schemes that may stand before it in a URL.
    private static let (plainScheme, secureScheme) = ("nats://", "tls://")

    /// Reads `nats://HOST:PORT` or `tls://HOST:PORT`, with or without the scheme and the port, which is 4222 then; nil for another text.
    public init?(_ text: String) {
        isSecure = text.hasPrefix(Self.secureScheme)
        let scheme = isSecure ? Self.secureScheme : Self.plainScheme
        let rest = text.hasPrefix(scheme) ? String(text.dropFirst(scheme.count)) : text
        if let address = SocketAddress(rest) ?? SocketAddress(rest + ":4222") {
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
            port = 4222
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
