import BelfryBytes

extension JSONReader {
    /// Reads a string and unescapes it to UTF-8.
    ///
    /// - Throws: `wrongKind` or `loneSurrogate` behind the value, or a malformed case.
    public mutating func readString(in bytes: Span<UInt8>) throws(JSONError) -> [UInt8] {
        var text: [UInt8] = []
        try readString(in: bytes, into: &text)
        return text
    }

    /// Reads a string and appends it, unescaped, as UTF-8, to `text`.
    ///
    /// - Throws: `wrongKind` or `loneSurrogate` behind the value, or a malformed case; what `text`
    ///   has gained by then is undefined.
    public mutating func readString(
        in bytes: Span<UInt8>, into text: inout [UInt8]
    ) throws(JSONError) {
        try expect(.string, in: bytes)
        let range = try scanner.skipString(in: bytes)
        try Self.unescape(range, of: bytes, into: &text)
    }

    /// Reads a number without fraction and exponent.
    ///
    /// - Throws: `wrongKind`, `notAnInteger` or `numberOutOfRange` behind the value, or a malformed
    ///   case.
    public mutating func readInt(in bytes: Span<UInt8>) throws(JSONError) -> Int {
        try expect(.number, in: bytes)
        let start = scanner.index
        guard try scanner.skipNumber(in: bytes) else { throw .notAnInteger(at: start) }
        guard let value = Self.integer(of: bytes, in: start..<scanner.index) else {
            throw .numberOutOfRange(at: start)
        }
        return value
    }

    /// Reads a number as the nearest `Double`.
    ///
    /// - Throws: `wrongKind` or `numberOutOfRange` behind the value, or a malformed case.
    public mutating func readDouble(in bytes: Span<UInt8>) throws(JSONError) -> Double {
        try expect(.number, in: bytes)
        let start = scanner.index
        let isInteger = try scanner.skipNumber(in: bytes)
        let range = start..<scanner.index
        // Zero is left to the long way, which knows -0; up to 15 digits are exact in a Double.
        if isInteger, range.count <= 15, let value = Self.integer(of: bytes, in: range),
            value != 0
        {
            return Double(value)
        }
        var digits: [UInt8] = []
        digits.append(bytes.extracting(range))
        guard let value = Double(String(decoding: digits, as: UTF8.self)), value.isFinite else {
            throw .numberOutOfRange(at: start)
        }
        return value
    }

    /// Reads `true` or `false`.
    ///
    /// - Throws: `wrongKind` behind the value, or a malformed case.
    public mutating func readBool(in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        try expect(.boolean, in: bytes)
        let range = try scanner.skipValue(in: bytes)
        return bytes[range.lowerBound] == UInt8(ascii: "t")
    }

    /// Reads `null` if that is the next value; another value stays where it is.
    ///
    /// - Returns: whether it was `null`.
    /// - Throws: a malformed case.
    public mutating func readNullIfPresent(in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        guard try scanner.peekKind(in: bytes) == .null else { return false }
        _ = try scanner.skipValue(in: bytes)
        return true
    }

    /// The value of a valid integer, or `nil` when it does not fit.
    private static func integer(of bytes: Span<UInt8>, in range: Range<Int>) -> Int? {
        let isNegative = bytes[range.lowerBound] == .minus
        var value = 0
        for index in (isNegative ? range.lowerBound + 1 : range.lowerBound)..<range.upperBound {
            let digit = Int(bytes[index] &- .zero)
            let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
            // Built on its own side of zero, since Int.min has no positive twin.
            let (sum, passed) =
                isNegative
                ? product.subtractingReportingOverflow(digit)
                : product.addingReportingOverflow(digit)
            if overflowed || passed { return nil }
            value = sum
        }
        return value
    }
}
