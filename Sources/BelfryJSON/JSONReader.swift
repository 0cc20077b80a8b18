/// A pull reader for JSON of a known shape; it validates skipped values too (RFC 8259).
///
/// ```
/// try reader.beginObject(in: bytes)
/// while try reader.nextMember(in: bytes) {
///     switch fields.ordinal(of: reader.key) { … }  // reads or skips the value
/// }
/// try reader.finish(in: bytes)
/// ```
///
/// The text is handed to each method and must be the same each time. After `nextMember` or
/// `nextElement` has said `true`, exactly one value is read, entered or skipped. An error that is
/// not malformed leaves the reader behind what it refused, so that a caller can collect several;
/// after a malformed one or `depthLimit` the reader is of no further use.
public struct JSONReader {
    /// The key of the member that `nextMember` found, unescaped, as UTF-8, until the next one.
    public private(set) var key: [UInt8] = []

    /// The index of the quotation mark that opens the key of the last member.
    public private(set) var keyOffset = 0

    var scanner: JSONScanner
    /// Whether a container was entered and nothing in it read, so that no comma is due.
    ///
    /// One flag is enough: behind a container that ends, its parent is past its first value.
    private var isAtStart = false

    /// A reader that starts at `index` of its text.
    ///
    /// `depthLimit` is for each skipped value by itself: what the caller enters does not count.
    public init(depthLimit: Int = JSONScanner.defaultDepthLimit, startingAt index: Int = 0) {
        scanner = JSONScanner(depthLimit: depthLimit, startingAt: index)
    }

    /// The index of the next byte to read.
    public var index: Int { scanner.index }

    /// The kind of the value that comes next, by its first byte.
    ///
    /// - Throws: `unexpectedEnd` or `unexpectedByte`.
    public mutating func peekKind(in bytes: Span<UInt8>) throws(JSONError) -> JSONKind {
        try scanner.peekKind(in: bytes)
    }

    /// Skips the next value, which it validates, and returns the range of its bytes.
    ///
    /// - Throws: the malformed cases of `JSONError`, or `depthLimit`, counted from this value.
    public mutating func skipValue(in bytes: Span<UInt8>) throws(JSONError) -> Range<Int> {
        try scanner.skipValue(in: bytes)
    }

    /// Enters an object; `nextMember` goes through it.
    ///
    /// - Throws: `wrongKind` behind a value of another kind, or as `skipValue`.
    public mutating func beginObject(in bytes: Span<UInt8>) throws(JSONError) {
        try expect(.object, in: bytes)
        scanner.index += 1
        isAtStart = true
    }

    /// Moves to the value of the next member and keeps its `key`, or leaves the object.
    ///
    /// A key may come twice: `JSONKeySet` finds it.
    /// - Returns: `false` when the object has ended and the reader is behind it.
    /// - Throws: the malformed cases, or `loneSurrogate` in a key, in front of the value to skip.
    public mutating func nextMember(in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        guard try advance(in: bytes, closing: .closeBrace) else { return false }
        scanner.skipWhitespace(in: bytes)
        keyOffset = scanner.index
        let range = try scanner.skipKey(in: bytes)
        key.removeAll(keepingCapacity: true)
        try Self.unescape(range, of: bytes, into: &key)
        return true
    }

    /// Enters an array; `nextElement` goes through it.
    ///
    /// - Throws: `wrongKind` behind a value of another kind, or as `skipValue`.
    public mutating func beginArray(in bytes: Span<UInt8>) throws(JSONError) {
        try expect(.array, in: bytes)
        scanner.index += 1
        isAtStart = true
    }

    /// Moves to the next element, or leaves the array.
    ///
    /// - Returns: `false` when the array has ended and the reader is behind it.
    /// - Throws: the malformed cases of `JSONError`.
    public mutating func nextElement(in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        try advance(in: bytes, closing: .closeBracket)
    }

    /// Checks that only whitespace follows.
    ///
    /// - Throws: `trailingBytes`.
    public mutating func finish(in bytes: Span<UInt8>) throws(JSONError) {
        try scanner.finish(in: bytes)
    }

    /// Moves to the first byte of a value of `kind`, or throws behind a value of another kind.
    mutating func expect(_ kind: JSONKind, in bytes: Span<UInt8>) throws(JSONError) {
        let found = try scanner.peekKind(in: bytes)
        if found == kind { return }
        let range = try scanner.skipValue(in: bytes)
        throw .wrongKind(expected: kind, found: found, at: range.lowerBound)
    }

    /// Skips the comma in front of the next member or element, or the end of its container.
    private mutating func advance(
        in bytes: Span<UInt8>, closing closer: UInt8
    ) throws(JSONError) -> Bool {
        let wasAtStart = isAtStart
        isAtStart = false
        if try scanner.skipByte(closer, in: bytes) { return false }
        if wasAtStart { return true }
        guard try scanner.skipByte(.comma, in: bytes) else {
            throw .unexpectedByte(at: scanner.index)
        }
        return true
    }
}
