/// A host with an optional port, as in Host and in an authority (RFC 9110 §7.2, RFC 3986 §3.2.2).
public struct HostField: Sendable, Equatable {
    /// The host in lower case; an IPv6 address has its brackets.
    public let host: [UInt8]
    /// The port, or `nil` when there is none.
    public let port: Int?

    /// Reads `uri-host [ ":" port ]`; user information is refused, and so is an empty host.
    ///
    /// RFC 9110 lets Host be empty when the target has no authority, which http never has.
    /// - Throws: `HTTPError.invalidHost`.
    public init(parsing text: Span<UInt8>) throws(HTTPError) {
        let parts = try Self.parts(of: text)
        var host: [UInt8] = []
        host.reserveCapacity(parts.hostEnd)
        for index in 0..<parts.hostEnd {
            host.append(ASCII.lowercased(text[index]))
        }
        self.host = host
        port = parts.port
    }

    /// Checks the text and finds where its host ends, without taking memory.
    static func parts(of text: Span<UInt8>) throws(HTTPError) -> (hostEnd: Int, port: Int?) {
        guard text.count > 0 else { throw .invalidHost }
        let hostEnd = try text[0] == ASCII.leftBracket ? literalEnd(in: text) : nameEnd(in: text)
        guard hostEnd < text.count else { return (hostEnd, nil) }
        guard text[hostEnd] == ASCII.colon else { throw .invalidHost }
        // `port = *DIGIT`: a colon with nothing behind it is legal.
        var port: Int?
        for index in hostEnd + 1..<text.count {
            guard ASCII.isDigit(text[index]) else { throw .invalidHost }
            let value = (port ?? 0) * 10 + Int(text[index] &- ASCII.zero)
            guard value <= 65_535 else { throw .invalidHost }
            port = value
        }
        return (hostEnd, port)
    }

    private static func nameEnd(in text: Span<UInt8>) throws(HTTPError) -> Int {
        var index = 0
        while true {
            index = ByteSet.host.endOfRun(in: text, from: index, to: text.count)
            guard index < text.count, text[index] == ASCII.percent else { break }
            guard text.count - index > 2, ASCII.hexValue(text[index + 1]) != nil,
                ASCII.hexValue(text[index + 2]) != nil
            else { throw .invalidHost }
            index += 3
        }
        guard index > 0 else { throw .invalidHost }
        return index
    }

    private static func literalEnd(in text: Span<UInt8>) throws(HTTPError) -> Int {
        let bracket = text.firstIndex(of: ASCII.rightBracket, in: 0..<text.count)
        guard bracket < text.count else { throw .invalidHost }
        let literal = text.extracting(1..<bracket)
        guard isFutureAddress(literal) || isIPv6Address(literal) else { throw .invalidHost }
        return bracket + 1
    }

    /// `"v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )`.
    private static func isFutureAddress(_ text: Span<UInt8>) -> Bool {
        guard text.count >= 4, text[0] | 0x20 == 0x76 else { return false }
        let dot = text.firstIndex(of: 0x2E, in: 0..<text.count)
        guard dot > 1, dot + 1 < text.count else { return false }
        for index in 1..<dot where ASCII.hexValue(text[index]) == nil { return false }
        for index in dot + 1..<text.count {
            guard ByteSet.host.contains(text[index]) || text[index] == ASCII.colon else {
                return false
            }
        }
        return true
    }

    /// Eight groups of one to four hexadecimal digits, one `::` for a run of zero groups, and
    /// an IPv4 address for the last two if wished.
    private static func isIPv6Address(_ text: Span<UInt8>) -> Bool {
        var groupCount = 0
        var hasGap = false
        var index = 0
        if text.count >= 2, text[0] == ASCII.colon {
            guard text[1] == ASCII.colon else { return false }
            hasGap = true
            index = 2
        }
        while index < text.count {
            let end = text.firstIndex(of: ASCII.colon, in: index..<text.count)
            if end == text.count, isIPv4Address(text.extracting(index..<end)) {
                groupCount += 2
                break
            }
            guard 1...4 ~= end - index else { return false }
            for digit in index..<end where ASCII.hexValue(text[digit]) == nil { return false }
            groupCount += 1
            guard end < text.count else { break }
            index = end + 1
            guard index < text.count else { return false }
            if text[index] == ASCII.colon {
                guard !hasGap else { return false }
                hasGap = true
                index += 1
            }
        }
        return hasGap ? groupCount <= 7 : groupCount == 8
    }

    /// Four numbers of 0 to 255 without leading zeros.
    private static func isIPv4Address(_ text: Span<UInt8>) -> Bool {
        var index = 0
        for part in 0..<4 {
            let end = text.firstIndex(of: 0x2E, in: index..<text.count)
            guard 1...3 ~= end - index, (end == text.count) == (part == 3) else { return false }
            guard end - index == 1 || text[index] != ASCII.zero else { return false }
            var value = 0
            for digit in index..<end {
                guard ASCII.isDigit(text[digit]) else { return false }
                value = value * 10 + Int(text[digit] &- ASCII.zero)
            }
            guard value <= 255 else { return false }
            index = min(end + 1, text.count)
        }
        return true
    }
}
