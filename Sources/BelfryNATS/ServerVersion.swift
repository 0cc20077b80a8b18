/// The version of a server, `2.12.1`; anything behind the numbers does not count.
public struct ServerVersion: Sendable, Comparable, CustomStringConvertible {
    /// The first version with all that is spoken here.
    public static let oldest = Self(2, 12, 0)

    private let (major, minor, patch): (UInt64, UInt64, UInt64)

    /// A version of these numbers.
    public init(_ major: UInt64, _ minor: UInt64, _ patch: UInt64) {
        (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    /// Reads `2.12.1`, `v2.12.0-RC.1`, `2.12`; `nil` for a text without two numbers.
    public init?(_ text: String) {
        let digits = text.utf8.first == UInt8(ascii: "v") ? text.utf8.dropFirst() : text.utf8[...]
        let core = digits.prefix { $0 == .dot || 0x30...0x39 ~= $0 }
        let numbers = core.split(separator: .dot, omittingEmptySubsequences: false)
            .map { Array($0).decimal }
        guard numbers.count == 2 || numbers.count == 3, let major = numbers[0],
            let minor = numbers[1], let patch = numbers.count == 3 ? numbers[2] : 0
        else { return nil }
        self.init(major, minor, patch)
    }

    /// Compares number by number.
    public static func < (left: Self, right: Self) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }

    /// The numbers with dots.
    public var description: String { "\(major).\(minor).\(patch)" }
}
