/// A strict validator of JSON values that keeps nothing of them (RFC 8259).
///
/// What RFC 8259 leaves to the receiver it accepts: duplicate keys, numbers of any size, escapes of
/// lone surrogates. The text is handed to each method and only an index into it is kept; it must be
/// the same text each time.
public struct JSONScanner {
    /// The depth limit that holds when none is given.
    public static let defaultDepthLimit = 64

    /// How deep arrays and objects of one value may nest; the outermost has depth 1.
    ///
    /// The range is 1 to 128; the default is 64.
    public let depthLimit: Int

    /// The index of the next byte to look at.
    public internal(set) var index: Int

    /// A scanner that starts at `index` of its text.
    public init(depthLimit: Int = defaultDepthLimit, startingAt index: Int = 0) {
        self.depthLimit = depthLimit
        self.index = index
    }

    /// Checks that `bytes` is exactly one value with optional whitespace around it.
    ///
    /// - Returns: the kind of the value.
    /// - Throws: the malformed cases of `JSONError`, or `depthLimit`.
    /// - Complexity: one pass, no allocation.
    public static func validate(
        _ bytes: Span<UInt8>, depthLimit: Int = defaultDepthLimit
    ) throws(JSONError) -> JSONKind {
        var scanner = JSONScanner(depthLimit: depthLimit)
        let kind = try scanner.peekKind(in: bytes)
        _ = try scanner.skipValue(in: bytes)
        try scanner.finish(in: bytes)
        return kind
    }

    /// Skips whitespace and tells the kind of the value that must follow, by its first byte.
    ///
    /// - Throws: `unexpectedEnd`, or `unexpectedByte` when no value starts here.
    public mutating func peekKind(in bytes: Span<UInt8>) throws(JSONError) -> JSONKind {
        let byte = try nextSignificantByte(in: bytes)
        guard let kind = JSONKind(firstByte: byte) else { throw .unexpectedByte(at: index) }
        return kind
    }

    /// Skips whitespace and one value, which it validates.
    ///
    /// - Returns: the range of the value's bytes, without the whitespace around it.
    /// - Throws: the malformed cases of `JSONError`, or `depthLimit`, counted from this value.
    public mutating func skipValue(in bytes: Span<UInt8>) throws(JSONError) -> Range<Int> {
        var nesting = JSONNesting(limit: depthLimit)
        skipWhitespace(in: bytes)
        let start = index
        while true {
            let opened = try skipScalarOrOpen(in: bytes, &nesting)
            if opened { continue }
            let valueFollows = try closeContainers(in: bytes, &nesting)
            if !valueFollows { return start..<index }
        }
    }

    /// Skips whitespace and checks that nothing follows it.
    ///
    /// - Throws: `trailingBytes`.
    public mutating func finish(in bytes: Span<UInt8>) throws(JSONError) {
        skipWhitespace(in: bytes)
        guard index == bytes.count else { throw .trailingBytes(at: index) }
    }

    /// Skips a scalar or an empty container, or opens a container up to its first value.
    ///
    /// - Returns: whether a container was opened, and a value must follow.
    @inline(__always)
    private mutating func skipScalarOrOpen(
        in bytes: Span<UInt8>, _ nesting: inout JSONNesting
    ) throws(JSONError) -> Bool {
        let byte = try nextSignificantByte(in: bytes)
        switch byte {
        case .quote:
            _ = try skipString(in: bytes)
            return false
        case .openBrace:
            try nesting.open(isObject: true, at: index)
            index += 1
            if try skipByte(.closeBrace, in: bytes) {
                nesting.close()
                return false
            }
            try skipKey(in: bytes)
            return true
        case .openBracket:
            try nesting.open(isObject: false, at: index)
            index += 1
            if try skipByte(.closeBracket, in: bytes) {
                nesting.close()
                return false
            }
            return true
        default:
            try skipNumberOrLiteral(in: bytes, firstByte: byte)
            return false
        }
    }

    /// After a value: closes the containers that end here, up to the next value if there is one.
    ///
    /// - Returns: whether a value must follow; if not, the outermost value has ended.
    @inline(__always)
    private mutating func closeContainers(
        in bytes: Span<UInt8>, _ nesting: inout JSONNesting
    ) throws(JSONError) -> Bool {
        while nesting.depth > 0 {
            let isObject = nesting.innermostIsObject
            let byte = try nextSignificantByte(in: bytes)
            if byte == .comma {
                index += 1
                if isObject { try skipKey(in: bytes) }
                return true
            }
            guard byte == (isObject ? .closeBrace : .closeBracket) else {
                throw .unexpectedByte(at: index)
            }
            index += 1
            nesting.close()
        }
        return false
    }

    private mutating func skipNumberOrLiteral(
        in bytes: Span<UInt8>, firstByte: UInt8
    ) throws(JSONError) {
        switch firstByte {
        case .minus, .zero ... .nine:
            _ = try skipNumber(in: bytes)
        case UInt8(ascii: "t"):
            try skipLiteral([0x74, 0x72, 0x75, 0x65] as [4 of UInt8], in: bytes)
        case UInt8(ascii: "f"):
            try skipLiteral([0x66, 0x61, 0x6C, 0x73, 0x65] as [5 of UInt8], in: bytes)
        case UInt8(ascii: "n"):
            try skipLiteral([0x6E, 0x75, 0x6C, 0x6C] as [4 of UInt8], in: bytes)
        default:
            throw .unexpectedByte(at: index)
        }
    }

    private mutating func skipLiteral<let count: Int>(
        _ word: [count of UInt8], in bytes: Span<UInt8>
    ) throws(JSONError) {
        for position in word.indices {
            guard index < bytes.count else { throw .unexpectedEnd }
            guard bytes[index] == word[position] else { throw .unexpectedByte(at: index) }
            index += 1
        }
    }
}

// The steps that the reader shares.
extension JSONScanner {
    mutating func skipWhitespace(in bytes: Span<UInt8>) {
        var next = index
        while next < bytes.count, bytes[next].isJSONWhitespace { next += 1 }
        index = next
    }

    /// Skips whitespace and looks at the byte behind it.
    @inline(__always)
    mutating func nextSignificantByte(in bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
        if index < bytes.count {
            let byte = bytes[index]
            // Mostly there is no whitespace; one comparison finds it out.
            if byte > .space { return byte }
        }
        return try byteBehindWhitespace(in: bytes)
    }

    @inline(never)
    private mutating func byteBehindWhitespace(
        in bytes: Span<UInt8>
    ) throws(JSONError) -> UInt8 {
        skipWhitespace(in: bytes)
        guard index < bytes.count else { throw .unexpectedEnd }
        return bytes[index]
    }

    /// Skips whitespace, and `byte` if it is the next one.
    @inline(__always)
    mutating func skipByte(_ byte: UInt8, in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        guard try nextSignificantByte(in: bytes) == byte else { return false }
        index += 1
        return true
    }

    /// Skips the key of a member and its colon.
    @inline(__always)
    @discardableResult
    mutating func skipKey(in bytes: Span<UInt8>) throws(JSONError) -> JSONStringRange {
        guard try nextSignificantByte(in: bytes) == .quote else {
            throw .unexpectedByte(at: index)
        }
        let key = try skipString(in: bytes)
        guard try skipByte(.colon, in: bytes) else { throw .unexpectedByte(at: index) }
        return key
    }
}
