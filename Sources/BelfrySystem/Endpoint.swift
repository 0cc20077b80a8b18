/// A host, by its address or its name, and a port of it.
public struct Endpoint: Hashable, Sendable {
    /// The name, or the address as digits.
    public let host: String
    /// The port.
    public let port: UInt16
    /// The address; nil where the host has a name, which must be looked up.
    public let address: SocketAddress?

    /// Reads `10.0.0.1`, `[::1]:8080`, `localhost` or `broker.example:8080`; nil for another text.
    ///
    /// - Parameter defaultPort: the port of a text that has none.
    public init?(_ text: String, defaultPort: UInt16) {
        if let address = SocketAddress(text) ?? SocketAddress("\(text):\(defaultPort)") {
            self.address = address
            host = address.host
            port = address.port
            return
        }
        address = nil
        let words = text.split(separator: ":", omittingEmptySubsequences: false)
        guard words.count <= 2, let name = words.first, Self.isHostName(name) else { return nil }
        host = String(name)
        guard words.count == 2 else {
            port = defaultPort
            return
        }
        guard let port = UInt16(words[1]) else { return nil }
        self.port = port
    }

    /// RFC 1123: labels of letters, digits and hyphens.
    private static func isHostName(_ text: Substring) -> Bool {
        let isOfNames = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        return (1...253).contains(text.utf8.count) && isOfNames
    }
}

extension Endpoint: CustomStringConvertible {
    /// The host and the port, as a URL has them.
    public var description: String { address.map { "\($0)" } ?? "\(host):\(port)" }
}
