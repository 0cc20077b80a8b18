/// An IPv4 or IPv6 address without a port, as 128 bits.
///
/// An IPv4 address that is written as an IPv6 one (`::ffff:192.0.2.1`) is that IPv4 address.
public struct NetworkAddress: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// Joins the halves of an IPv6 address.
    public init(ipv6High high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes an IPv4 address.
    public init(ipv4 bits: UInt32) {
        high = 0
        low = 0xFFFF_0000_0000 | UInt64(bits)
    }

    /// Reads `192.0.2.1`, `2001:db8::1` or `[2001:db8::1]`.
    ///
    /// There is one way to write each number: four decimal ones without leading zeros, or groups of
    /// one to four hexadecimal digits with at most one `::`. Zones (`%eth0`) are refused.
    public init?(_ text: some Collection<UInt8>) {
        // The longest is an IPv6 address that ends in an IPv4 one, in brackets.
        guard (2...47).contains(text.count) else { return nil }
        var bytes = Array(text)
        if bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") {
            bytes = Array(bytes.dropFirst().dropLast())
            guard bytes.contains(UInt8(ascii: ":")) else { return nil }
        }
        if bytes.contains(UInt8(ascii: ":")) {
            guard let halves = Self.ipv6(bytes) else { return nil }
            self.init(ipv6High: halves.high, low: halves.low)
        } else {
            guard let bits = Self.ipv4(bytes[...]) else { return nil }
            self.init(ipv4: bits)
        }
    }

    /// Whether it is an IPv4 address.
    public var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// Whether only this machine has the address: 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        isIPv4 ? low >> 24 & 0xFF == 127 : high == 0 && low == 1
    }

    /// The address that limits count: an IPv4 address, or the /64 of an IPv6 one (one customer's).
    public var counted: NetworkAddress {
        isIPv4 ? self : NetworkAddress(ipv6High: high, low: 0)
    }

    private static func ipv4(_ text: ArraySlice<UInt8>) -> UInt32? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            guard let number = number(part, radix: 10, digitLimit: 3), number <= 255,
                part.count == 1 || part.first != UInt8(ascii: "0")
            else { return nil }
            bits = bits << 8 | UInt32(number)
        }
        return bits
    }

    private static func ipv6(_ text: [UInt8]) -> (high: UInt64, low: UInt64)? {
        let colon = UInt8(ascii: ":")
        guard
            let gap = text.indices.dropLast().first(where: {
                text[$0] == colon && text[$0 + 1] == colon
            })
        else {
            guard let groups = groups(text[...], isLast: true), groups.count == 8 else {
                return nil
            }
            return halves(groups)
        }
        guard let left = groups(text[..<gap], isLast: false),
            let right = groups(text[(gap + 2)...], isLast: true),
            left.count + right.count <= 7
        else { return nil }
        let zeros = [UInt64](repeating: 0, count: 8 - left.count - right.count)
        return halves(left + zeros + right)
    }

    /// The groups between colons; nothing is no group.
    private static func groups(_ text: ArraySlice<UInt8>, isLast: Bool) -> [UInt64]? {
        if text.isEmpty { return [] }
        var groups: [UInt64] = []
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count <= 8 else { return nil }
        for (place, part) in parts.enumerated() {
            if let number = number(part, radix: 16, digitLimit: 4) {
                groups.append(number)
            } else if isLast, place == parts.count - 1, let bits = ipv4(part) {
                groups += [UInt64(bits >> 16), UInt64(bits & 0xFFFF)]
            } else {
                return nil
            }
        }
        return groups
    }

    private static func halves(_ groups: [UInt64]) -> (high: UInt64, low: UInt64) {
        (
            groups[..<4].reduce(0) { $0 << 16 | $1 },
            groups[4...].reduce(0) { $0 << 16 | $1 }
        )
    }

    private static func number(
        _ digits: ArraySlice<UInt8>, radix: UInt64, digitLimit: Int
    ) -> UInt64? {
        guard (1...digitLimit).contains(digits.count) else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            let value: UInt64
            switch digit {
            case 48...57: value = UInt64(digit - 48)
            case 65...70 where radix == 16: value = UInt64(digit - 55)
            case 97...102 where radix == 16: value = UInt64(digit - 87)
            default: return nil
            }
            number = number * radix + value
        }
        return number
    }
}

/// Addresses that begin with the same bits: `10.0.0.0/8`, `2001:db8::/32`, or one address.
public struct Network: Hashable, Sendable {
    private let first: NetworkAddress
    private let bitCount: Int

    /// Reads an address with a prefix length, or an address alone.
    ///
    /// Bits after the prefix must be zero: other bits are probably a mistake.
    public init?(_ text: String) {
        let parts = Array(text.utf8).split(
            separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = NetworkAddress(parts[0]) else { return nil }
        first = address
        guard parts.count == 2 else {
            bitCount = 128
            return
        }
        let isIPv4Text = !parts[0].contains(UInt8(ascii: ":"))
        guard (1...3).contains(parts[1].count), parts[1].allSatisfy({ (48...57).contains($0) }),
            let length = Int(String(decoding: parts[1], as: UTF8.self)),
            length <= (isIPv4Text ? 32 : 128)
        else { return nil }
        bitCount = isIPv4Text ? 96 + length : length
        guard Self.masked(address, bitCount) == address else { return nil }
    }

    /// Whether an address is among them.
    public func contains(_ address: NetworkAddress) -> Bool {
        Self.masked(address, bitCount) == first
    }

    private static func masked(_ address: NetworkAddress, _ bitCount: Int) -> NetworkAddress {
        let highMask = bitCount >= 64 ? UInt64.max : ~(UInt64.max >> UInt64(bitCount))
        let lowMask =
            bitCount <= 64 ? 0 : ~(bitCount == 128 ? 0 : UInt64.max >> UInt64(bitCount - 64))
        return NetworkAddress(ipv6High: address.high & highMask, low: address.low & lowMask)
    }
}

extension NetworkAddress: CustomStringConvertible {
    /// The address in a form that `init(_:)` reads; IPv6 groups are written out.
    public var description: String {
        if isIPv4 {
            return [24, 16, 8, 0].map { "\(low >> UInt64($0) & 0xFF)" }.joined(separator: ".")
        }
        let groups = [high, low].flatMap { half in
            [48, 32, 16, 0].map { String(half >> UInt64($0) & 0xFFFF, radix: 16) }
        }
        return groups.joined(separator: ":")
    }
}
