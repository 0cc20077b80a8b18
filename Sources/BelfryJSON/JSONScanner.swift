import BelfryBytes

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
    /// The range is 1 to 256; the default is 64.
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
        skipWhitespace(in: bytes)
        let start = index
        index = try endOfValue(in: bytes, from: start)
        return start..<index
    }

    /// Skips whitespace and checks that nothing follows it.
    ///
    /// - Throws: `trailingBytes`.
    public mutating func finish(in bytes: Span<UInt8>) throws(JSONError) {
        guard isAtEnd(of: bytes) else { throw .trailingBytes(at: index) }
    }

    /// Skips whitespace, and tells whether nothing follows it.
    public mutating func isAtEnd(of bytes: Span<UInt8>) -> Bool {
        // Mostly there is nothing at all.
        if index < bytes.count { skipWhitespace(in: bytes) }
        return index == bytes.count
    }

    /// Moves to the value of a member, past its key and the colon.
    ///
    /// The byte before the key is a brace for the first member of an object, and a comma for
    /// others.
    ///
    /// - Returns: the key as a word, its first byte the lowest; 0 for one that is longer than eight
    ///   bytes, or has escapes; nil in front of another byte.
    /// - Throws: the malformed cases of `JSONError`.
    public mutating func nextShortKey(
        behind byte: UInt8, in bytes: Span<UInt8>
    ) throws(JSONError) -> UInt64? {
        guard try skipByte(byte, in: bytes) else { return nil }
        let key = try skipKey(in: bytes)
        guard !key.hasEscapes, key.content.count <= 8 else { return 0 }
        return bytes.word(at: key.content.lowerBound) & .max >> (64 - 8 * key.content.count)
    }

    /// Whether an object ends here, and with it the text.
    ///
    /// - Throws: `unexpectedEnd`.
    public mutating func endsObject(in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        try skipByte(.closeBrace, in: bytes) && isAtEnd(of: bytes)
    }

    /// Skips whitespace and a string without escapes, and returns the range of its characters.
    ///
    /// Nil in front of another value, and behind a string with escapes.
    ///
    /// - Throws: the malformed cases of `JSONError`.
    public mutating func plainString(in bytes: Span<UInt8>) throws(JSONError) -> Range<Int>? {
        guard try nextSignificantByte(in: bytes) == .quote else { return nil }
        let string = try skipString(in: bytes)
        return string.hasEscapes ? nil : string.content
    }

    /// The index behind the value that starts here.
    ///
    /// One loop over a local index, which is written back once: each step of it takes a value that
    /// has no values in it, or opens a container, and then closes the containers that end there.
    private func endOfValue(in bytes: Span<UInt8>, from start: Int) throws(JSONError) -> Int {
        var nesting = JSONNesting(limit: depthLimit)
        var index = start
        while true {
            let byte = try Self.significantByte(in: bytes, at: &index)
            switch byte {
            case .quote:
                index = try Self.endOfString(in: bytes, from: index)
            case .openBrace:
                guard nesting.open(isObject: true) else {
                    index = try endOfDeepValue(in: bytes, from: index)
                    break
                }
                index &+= 1
                guard try Self.significantByte(in: bytes, at: &index) == .closeBrace else {
                    index = try Self.endOfKey(in: bytes, from: index)
                    continue
                }
                index &+= 1
                nesting.close()
            case .openBracket:
                guard nesting.open(isObject: false) else {
                    index = try endOfDeepValue(in: bytes, from: index)
                    break
                }
                index &+= 1
                guard try Self.significantByte(in: bytes, at: &index) == .closeBracket else {
                    continue
                }
                index &+= 1
                nesting.close()
            default:
                index = try Self.endOfNumberOrLiteral(in: bytes, from: index)
            }
            var valueFollows = false
            while nesting.depth > 0, !valueFollows {
                let isObject = nesting.innermostIsObject
                let byte = try Self.significantByte(in: bytes, at: &index)
                if byte == .comma {
                    index &+= 1
                    if isObject { index = try Self.endOfKey(in: bytes, from: index) }
                    valueFollows = true
                } else {
                    guard byte == (isObject ? .closeBrace : .closeBracket) else {
                        throw .unexpectedByte(at: index)
                    }
                    index &+= 1
                    nesting.close()
                }
            }
            if !valueFollows { return index }
        }
    }

    /// The index behind a container for which the nesting of `endOfValue` has no level.
    @inline(never)
    private func endOfDeepValue(
        in bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        let rest = depthLimit - JSONNesting.levelLimit
        guard rest > 0 else { throw .depthLimit(limit: depthLimit, at: start) }
        do throws(JSONError) {
            return try JSONScanner(depthLimit: rest).endOfValue(in: bytes, from: start)
        } catch .depthLimit(_, let offset) {
            throw .depthLimit(limit: depthLimit, at: offset)
        }
    }

    /// The index behind the key of a member, which must start here or behind blanks, and its colon.
    @inline(__always)
    private static func endOfKey(
        in bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        var index = start
        guard try significantByte(in: bytes, at: &index) == .quote else {
            throw .unexpectedByte(at: index)
        }
        index = try endOfString(in: bytes, from: index)
        guard try significantByte(in: bytes, at: &index) == .colon else {
            throw .unexpectedByte(at: index)
        }
        return index &+ 1
    }

    private static func endOfNumberOrLiteral(
        in bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        // "true", "null" as words.
        let word = bytes.word(at: start) & 0xFFFF_FFFF
        if word == 0x6575_7274 || word == 0x6C6C_756E { return start &+ 4 }
        return switch bytes[start] {
        case .minus, .zero ... .nine:
            try number(in: bytes, from: start).end
        case UInt8(ascii: "t"):
            try endOfLiteral([0x74, 0x72, 0x75, 0x65] as [4 of UInt8], in: bytes, from: start)
        case UInt8(ascii: "f"):
            try endOfLiteral(
                [0x66, 0x61, 0x6C, 0x73, 0x65] as [5 of UInt8], in: bytes, from: start)
        case UInt8(ascii: "n"):
            try endOfLiteral([0x6E, 0x75, 0x6C, 0x6C] as [4 of UInt8], in: bytes, from: start)
        default:
            throw .unexpectedByte(at: start)
        }
    }

    private static func endOfLiteral<let count: Int>(
        _ word: [count of UInt8], in bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        for position in word.indices {
            guard start + position < bytes.count else { throw .unexpectedEnd }
            guard bytes[start + position] == word[position] else {
                throw .unexpectedByte(at: start + position)
            }
        }
        return start + count
    }
}

// The steps that the reader shares.
extension JSONScanner {
    mutating func skipWhitespace(in bytes: Span<UInt8>) {
        index = Self.endOfWhitespace(in: bytes, from: index)
    }

    /// Skips whitespace and looks at the byte behind it.
    @inline(__always)
    mutating func nextSignificantByte(in bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
        try Self.significantByte(in: bytes, at: &index)
    }

    /// Moves an index behind whitespace, and looks at the byte there.
    @inline(__always)
    static func significantByte(
        in bytes: Span<UInt8>, at index: inout Int
    ) throws(JSONError) -> UInt8 {
        // Most values follow at once: one comparison finds neither whitespace nor the end.
        let byte = bytes.byte(at: index)
        if byte > .space { return byte }
        index = endOfWhitespace(in: bytes, from: index)
        guard index < bytes.count else { throw .unexpectedEnd }
        return bytes[index]
    }

    @inline(never)
    private static func endOfWhitespace(in bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index].isJSONWhitespace { index += 1 }
        return index
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
