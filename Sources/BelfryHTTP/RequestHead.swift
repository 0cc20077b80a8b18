import BelfryBytes

/// The form of a request target (RFC 9112 §3.2).
public enum TargetForm: Sendable, Equatable {
    /// A path with an optional query: the usual one.
    case origin
    /// A whole URI, as a proxy gets it; its authority wins over Host.
    case absolute
    /// A host and a port, for CONNECT alone.
    case authority
    /// `*`, for OPTIONS alone.
    case asterisk
}

/// The expectation of a request before it sends its content (RFC 9110 §10.1.1).
public enum RequestExpectation: Sendable, Equatable {
    /// Nothing.
    case none
    /// An interim 100 response; one of HTTP/1.0 never expects it.
    case `continue`
    /// Something that is not known here, to be answered with 417.
    case unknown
}

/// Fields that few requests have, found while the head was read.
public struct UncommonFields: OptionSet, Sendable {
    /// One bit a field.
    public let rawValue: UInt8

    /// Makes a set out of its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Origin (RFC 6454 §7).
    public static let origin = UncommonFields(rawValue: 1)
    /// Prefer (RFC 7240 §2).
    public static let prefer = UncommonFields(rawValue: 2)
    /// Idempotency-Key.
    public static let idempotencyKey = UncommonFields(rawValue: 4)
    /// Authorization (RFC 9110 §11.6.2).
    public static let authorization = UncommonFields(rawValue: 8)
    /// Sec-Fetch-Site (W3C Fetch Metadata §2.3).
    public static let fetchSite = UncommonFields(rawValue: 16)
    /// Content-Encoding with a coding (RFC 9110 §8.4).
    public static let contentEncoding = UncommonFields(rawValue: 32)
}

/// The head of a request: its bytes, and what nearly each request is asked, found beforehand.
///
/// Spans lie in the head's own memory, which the next request takes over.
public struct RequestHead: Sendable {
    var bytes = HeadBytes()
    var facts = RequestFacts()

    /// The method.
    public var method: HTTPMethod { facts.method }
    /// The form of the target.
    public var targetForm: TargetForm { facts.targetForm }
    /// The minor version: 0, or 1 for all later ones (RFC 9110 §2.5).
    public var minorVersion: UInt8 { facts.minorVersion }
    /// The number that Content-Length gives, or `nil`; what fits no `Int` is `Int.max`.
    public var contentLength: Int? { facts.contentLength }
    /// True when the content comes in chunks.
    public var isChunked: Bool { facts.isChunked }
    /// The expectation in the field Expect.
    public var expectation: RequestExpectation { facts.expectation }
    /// True when Content-Type is present.
    public var hasContentType: Bool { facts.contentTypeRange != nil }
    /// The uncommon fields that are there; an absent one needs no look-up.
    public var uncommonFields: UncommonFields { facts.uncommonFields }
    /// The first field that a proxy writes, or `nil`.
    public var forwardingField: ForwardingField? { facts.forwardingField }
    /// True when content follows the head, even if it may turn out to be empty.
    public var hasContent: Bool { isChunked || (contentLength ?? 0) > 0 }
    /// True when the client wants to use the connection again (RFC 9112 §9.3).
    public var keepsAlive: Bool {
        !facts.connectionCloses && (minorVersion >= 1 || facts.connectionKeepsAlive)
    }

    /// A head that holds nothing yet.
    public init() {}

    /// The origin of the page whose request this is, as far as the bytes of a head show it that
    /// could not be read, or has not come whole; `nil` where they do not, or show two.
    public var originOfTorso: [UInt8]? {
        var origins: [[UInt8]] = []
        let text = (0..<bytes.count).map { bytes.span[$0] }
        for line in text.split(separator: ASCII.lineFeed).dropFirst() {
            if line.first == ASCII.carriageReturn { break }
            guard let mark = line.firstIndex(of: ASCII.colon), line.last == ASCII.carriageReturn
            else { continue }
            let name = Array(line[..<mark])
            guard name.span.equalsIgnoringCase("origin") else { continue }
            let value = line[(mark + 1)...].dropLast()
            origins.append(Array(value.drop { $0 == 0x20 || $0 == 0x09 }))
        }
        return origins.count == 1 ? origins[0] : nil
    }

    /// The whole target as it was sent.
    public var target: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(facts.targetRange) }
    }

    /// The path as it was sent, still percent-encoded; it begins with `/`.
    ///
    /// Empty for the authority form and the asterisk form.
    public var path: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(facts.pathRange) }
    }

    /// True when the target has a `?`.
    public var hasQuery: Bool { facts.queryRange != nil }

    /// The query as it was sent, without its `?`; empty when there is none.
    public var query: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(facts.queryRange ?? 0..<0) }
    }

    /// The host and port that the request is for, as sent; empty when HTTP/1.0 gave none.
    public var authority: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(facts.hostRange ?? 0..<0) }
    }

    /// The host of `authority` without its port, as sent.
    public var hostName: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting((facts.hostRange?.lowerBound ?? 0)..<facts.hostNameEnd) }
    }

    /// The host in lower case and the port, or `nil` when HTTP/1.0 gave none.
    public var host: HostField? {
        facts.hostRange == nil ? nil : try? HostField(parsing: authority)
    }

    /// The value of Content-Type; empty when it is absent.
    public var contentType: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(facts.contentTypeRange ?? 0..<0) }
    }

    /// Whether the content is JSON, as Content-Type says or as is taken for granted without it.
    public var isJSON: Bool {
        guard let range = facts.contentTypeRange else { return true }
        let type = bytes.span.extracting(range)
        // "applicat", "ion/json": the usual spelling.
        if type.count == 16, type.word(at: 0) == 0x7461_6369_6C70_7061,
            type.word(at: 8) == 0x6E6F_736A_2F6E_6F69
        {
            return true
        }
        return MediaType.matches(type, "application/json")
    }

    /// The number of field lines.
    public var fieldCount: Int { bytes.fields.count }

    /// The name of a field line as it was sent.
    @_lifetime(borrow self)
    public func name(at index: Int) -> Span<UInt8> {
        bytes.span.extracting(bytes.fields[index].name)
    }

    /// The value of a field line.
    @_lifetime(borrow self)
    public func value(at index: Int) -> Span<UInt8> {
        bytes.span.extracting(bytes.fields[index].value)
    }

    /// The value of the first field of this name, which is given in lower case.
    ///
    /// - Complexity: One comparison of lengths for each field line, without taking memory.
    @_lifetime(borrow self)
    public func field(_ name: String) -> Span<UInt8>? {
        guard let range = bytes.firstRange(of: name) else { return nil }
        return bytes.span.extracting(range)
    }

    /// Whether a field of this name may have a value of so many bytes: only lengths are compared.
    public func mayHave(_ name: String, ofAtLeast byteCount: Int) -> Bool {
        let length = name.utf8.count
        for index in 0..<bytes.fields.count {
            let field = bytes.fields[index]
            if field.name.count == length, field.value.count >= byteCount { return true }
        }
        return false
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

    /// The facts about this request that its response needs.
    public var responseContext: ResponseContext {
        ResponseContext(
            minorVersion: minorVersion, keepsAlive: keepsAlive, isHead: method == .head)
    }
}
