/// The head of a response, with the facts that a client asks for.
public struct ResponseHead: Sendable {
    /// The status.
    public internal(set) var status = 0
    /// The minor version: 0, or 1 for all later ones.
    public internal(set) var minorVersion: UInt8 = 1
    /// The number that Content-Length gives, or `nil`.
    public internal(set) var contentLength: Int?
    /// True when the content comes in chunks.
    public internal(set) var isChunked = false
    /// True when the connection can be used again after this response (RFC 9112 §9.3).
    public internal(set) var keepsAlive = true

    var bytes = HeadBytes()

    /// A head that holds nothing yet.
    public init() {}

    /// The value of the first field of this name, which is given in lower case.
    @_lifetime(borrow self)
    public func field(_ name: String) -> Span<UInt8>? {
        guard let range = bytes.firstRange(of: name) else { return nil }
        return bytes.span.extracting(range)
    }

    /// The places of the values of all fields of this name, in their order; see `value(in:)`.
    public func values(of name: String) -> [Range<Int>] {
        bytes.ranges(of: name)
    }

    /// The bytes at a place in the head.
    @_lifetime(borrow self)
    public func value(in range: Range<Int>) -> Span<UInt8> {
        bytes.span.extracting(range)
    }

    /// Whether a list of tokens, possibly on several lines, has this one.
    ///
    /// Both are given in lower case.
    public func hasToken(_ token: String, in name: String) -> Bool {
        for range in bytes.ranges(of: name)
        where FieldList.contains(token, in: bytes.span.extracting(range)) {
            return true
        }
        return false
    }

    /// Reads the framing once all bytes are there (RFC 9112 §6.3).
    mutating func finish(_ line: StatusLine) throws(HTTPError) {
        status = line.status
        minorVersion = line.minorVersion
        let lengths = bytes.ranges(of: "content-length")
        guard lengths.count <= 1 else { throw .repeatedContentLength }
        if let range = lengths.first {
            let length = try Framing.contentLength(value(in: range))
            contentLength = length
        }
        let codings = bytes.ranges(of: "transfer-encoding")
        guard codings.count <= 1 else { throw .repeatedTransferEncoding }
        if let range = codings.first {
            guard contentLength == nil else { throw .contentLengthWithTransferEncoding }
            guard minorVersion >= 1 else { throw .transferEncodingInHTTP10 }
            let isChunked = try Framing.isChunked(value(in: range))
            self.isChunked = isChunked
        }
        let closes = hasToken("close", in: "connection")
        let stays = minorVersion >= 1 || hasToken("keep-alive", in: "connection")
        keepsAlive = !closes && stays
    }
}
