internal import CBelfrySystem

/// An IPv4 or IPv6 address with a port.
public struct SocketAddress: Hashable, Sendable {
    private var high: UInt64
    private var low: UInt64
    private var scope: UInt32
    /// The port; 0 lets the kernel choose one for a listener.
    public var port: UInt16
    /// Whether the address is an IPv6 one.
    public let isIPv6: Bool

    /// The loopback address of IPv4 with a port.
    public static func loopback(port: UInt16) -> SocketAddress {
        var address = belfry_address()
        address.low = 0x7F00_0001
        address.port = port
        address.family = 4
        return SocketAddress(address)
    }

    /// Reads `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`, or gives `nil`.
    ///
    /// No name is looked up: `localhost` is 127.0.0.1, and every other host is digits.
    public init?(_ text: String) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = Self.port(text[text.utf8.index(after: colon)...])
        else { return nil }
        var host = text[..<colon]
        let isBracketed = host.utf8.first == UInt8(ascii: "[")
        if isBracketed {
            guard host.utf8.count > 2, host.utf8.last == UInt8(ascii: "]") else { return nil }
            host = host.dropFirst().dropLast()
        }
        guard !host.utf8.contains(0) else { return nil }
        let name = host.utf8.elementsEqual("localhost".utf8) ? "127.0.0.1" : String(host)
        var address = belfry_address()
        // SAFETY: the name is passed as a string that ends in a zero byte, and it has no other;
        // the address is one that the function fills in.
        guard unsafe belfry_parse_host(name, isBracketed, &address) else { return nil }
        self.init(address)
        self.port = port
    }

    init(_ address: belfry_address) {
        high = address.high
        low = address.low
        scope = address.scope
        port = address.port
        isIPv6 = address.family == 6
    }

    /// The address without its port as 128 bits; an IPv4 one is in the last 32.
    public var bits: (high: UInt64, low: UInt64) { (high, low) }

    /// Whether only this machine reaches the address: 127.0.0.0/8 or ::1, also as ::ffff:127.0.0.1.
    public var isLoopback: Bool {
        guard isIPv6 else { return low >> 24 == 127 }
        guard high == 0 else { return false }
        return low == 1 || low >> 24 == 0xFFFF_7F
    }

    var raw: belfry_address {
        var address = belfry_address()
        address.high = high
        address.low = low
        address.scope = scope
        address.port = port
        address.family = isIPv6 ? 6 : 4
        return address
    }

    private static func port(_ digits: Substring) -> UInt16? {
        guard (1...5).contains(digits.utf8.count) else { return nil }
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return UInt16(digits)
    }
}

extension SocketAddress: CustomStringConvertible {
    /// The address as `init(_:)` reads it.
    public var description: String {
        isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The address without its port and without brackets.
    public var host: String {
        let raw = self.raw
        // SAFETY: inet_ntop(3) writes at most 64 bytes into a buffer of 64; the count that comes
        // back is the text's length without its zero byte.
        return unsafe String(unsafeUninitializedCapacity: 64) { buffer in
            guard let base = buffer.baseAddress else { return 0 }
            return unsafe base.withMemoryRebound(to: CChar.self, capacity: 64) { text in
                unsafe Int(belfry_format_host(raw, text, 64))
            }
        }
    }
}
