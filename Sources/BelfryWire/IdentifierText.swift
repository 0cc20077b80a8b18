internal import BelfryBytes
public import BelfryCenter
internal import BelfryJSON

/// The text of an observer, a client or a mode lease: `o17`, `c4` and `m3`.
///
/// That much is public; with a secret behind a dot it gives the rights of its owner.
public struct IdentifierText: Sendable, Equatable {
    /// The number.
    public let number: UInt64
    /// The text behind the dot, if there is one.
    public let secret: [UInt8]?

    /// The longest secret that is read, in bytes; 128 random bits need 22.
    static let secretByteLimit = 64

    /// Reads `o17` or `o17.secret`.
    public init?(observer text: Span<UInt8>) {
        self.init(text, prefix: UInt8(ascii: "o"))
    }

    /// Reads `c4` or `c4.secret`.
    public init?(client text: Span<UInt8>) {
        self.init(text, prefix: UInt8(ascii: "c"))
    }

    /// Reads `m3` or `m3.secret`.
    public init?(mode text: Span<UInt8>) {
        self.init(text, prefix: UInt8(ascii: "m"))
    }

    private init?(_ text: Span<UInt8>, prefix: UInt8) {
        guard text.count >= 2, text[0] == prefix else { return nil }
        var end = 1
        while end < text.count, text[end] != UInt8(ascii: ".") { end += 1 }
        guard let number = Decimal.read(text.extracting(1..<end)) else { return nil }
        self.number = number
        guard end < text.count else {
            secret = nil
            return
        }
        let secretRange = end + 1..<text.count
        guard !secretRange.isEmpty, secretRange.count <= Self.secretByteLimit else { return nil }
        var secret: [UInt8] = []
        for index in secretRange {
            guard Self.isSecretByte(text[index]) else { return nil }
            secret.append(text[index])
        }
        self.secret = secret
    }

    /// Appends `o17`, or `o17.secret`.
    public static func append(
        observer serial: UInt64, secret: [UInt8]? = nil, to output: inout [UInt8]
    ) {
        append(UInt8(ascii: "o"), serial, secret, to: &output)
    }

    /// Appends `c4`, or `c4.secret`.
    public static func append(client id: UInt64, secret: [UInt8]? = nil, to output: inout [UInt8]) {
        append(UInt8(ascii: "c"), id, secret, to: &output)
    }

    /// Appends `m3`, or `m3.secret`.
    public static func append(
        mode serial: UInt64, secret: [UInt8]? = nil, to output: inout [UInt8]
    ) {
        append(UInt8(ascii: "m"), serial, secret, to: &output)
    }

    /// The text `o17.secret`, in no more memory than it needs.
    public static func text(observer serial: UInt64, secret: [UInt8]) -> [UInt8] {
        text(UInt8(ascii: "o"), serial, secret)
    }

    /// The text `c4.secret`, in no more memory than it needs.
    public static func text(client id: UInt64, secret: [UInt8]) -> [UInt8] {
        text(UInt8(ascii: "c"), id, secret)
    }

    private static func text(_ prefix: UInt8, _ number: UInt64, _ secret: [UInt8]) -> [UInt8] {
        var digitCount = 1
        var rest = number / 10
        while rest > 0 {
            digitCount += 1
            rest /= 10
        }
        var text: [UInt8] = []
        text.reserveCapacity(2 + digitCount + secret.count)
        append(prefix, number, secret, to: &text)
        return text
    }

    private static func append(
        _ prefix: UInt8, _ number: UInt64, _ secret: [UInt8]?, to output: inout [UInt8]
    ) {
        output.append(prefix)
        JSONWriter.append(integer: number, to: &output)
        if let secret {
            output.append(UInt8(ascii: "."))
            output.append(contentsOf: secret)
        }
    }

    /// The alphabet of base64url (RFC 4648 §5).
    private static func isSecretByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// The place at which the next page of a listing starts, as text that callers only hand back.
public enum CursorText {
    /// Reads the text of a cursor.
    public static func read(_ text: Span<UInt8>) -> UInt64? { Decimal.read(text) }

    /// Appends the text of a cursor.
    public static func append(_ cursor: UInt64, to output: inout [UInt8]) {
        JSONWriter.append(integer: cursor, to: &output)
    }

    /// Reads the text of a place in an order: its numbers, and its text as hexadecimal digits.
    public static func readKey(_ text: Span<UInt8>) -> RowKey? {
        let parts = [UInt8](copying: text).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let row = Decimal.read(Array(parts[1]).span) else { return nil }
        let isNegative = parts[0].first == UInt8(ascii: "-")
        let magnitude = Decimal.read(Array(parts[0].dropFirst(isNegative ? 1 : 0)).span)
        guard let magnitude, let number = Int64(exactly: magnitude) else { return nil }
        var bytes: [UInt8] = []
        var digits = parts[2]
        while let high = digits.popFirst() {
            guard let low = digits.popFirst(), let high = hexDigits.firstIndex(of: high),
                let low = hexDigits.firstIndex(of: low)
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return RowKey(number: isNegative ? -number : number, text: bytes, row: row)
    }

    /// Appends the text of a place in an order.
    public static func append(_ key: RowKey, to output: inout [UInt8]) {
        JSONWriter.append(integer: Int(key.number), to: &output)
        output.append(UInt8(ascii: "."))
        JSONWriter.append(integer: key.row, to: &output)
        output.append(UInt8(ascii: "."))
        for byte in key.text {
            output.append(hexDigits[Int(byte >> 4)])
            output.append(hexDigits[Int(byte & 15)])
        }
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)
}

/// Numbers that have exactly one text.
enum Decimal {
    /// Reads digits without sign and leading zero.
    static func read(_ text: Span<UInt8>) -> UInt64? {
        guard text.count > 0, text.count == 1 || text[0] != UInt8(ascii: "0") else { return nil }
        var value: UInt64 = 0
        for index in text.indices {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, passed) = product.addingReportingOverflow(UInt64(digit))
            if overflowed || passed { return nil }
            value = sum
        }
        return value
    }
}
