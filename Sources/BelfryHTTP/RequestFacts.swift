/// The meaning of a finished head: its target, its host and the framing of its content.
struct RequestFacts: Sendable {
    private(set) var method = HTTPMethod.get
    private(set) var targetForm = TargetForm.origin
    private(set) var minorVersion: UInt8 = 1
    private(set) var contentLength: Int?
    private(set) var isChunked = false
    private(set) var expectation = RequestExpectation.none
    private(set) var targetRange = 0..<0
    private(set) var pathRange = 0..<0
    private(set) var queryRange: Range<Int>?
    private(set) var hostRange: Range<Int>?
    private(set) var hostNameEnd = 0
    private(set) var contentTypeRange: Range<Int>?
    private(set) var connectionCloses = false
    private(set) var connectionKeepsAlive = false
    private(set) var uncommonFields: UncommonFields = []
    private(set) var forwardingField: ForwardingField?

    /// Reads the fields and the target once all bytes are there.
    mutating func read(_ line: RequestLine, _ head: HeadBytes) throws(HTTPError) {
        let text = head.span
        minorVersion = line.minorVersion
        targetRange = line.target
        method = line.method ?? HTTPMethod(text.extracting(0..<line.methodEnd))
        for index in 0..<head.fields.count {
            try readField(head.fields[index], in: text)
        }
        if isChunked {
            guard contentLength == nil else { throw .contentLengthWithTransferEncoding }
            guard minorVersion >= 1 else { throw .transferEncodingInHTTP10 }
        }
        if minorVersion == 0, expectation == .continue { expectation = .none }
        try readHost(in: text)
        try readTarget(line, in: text)
    }

    private mutating func readField(
        _ field: FieldRange, in text: Span<UInt8>
    ) throws(HTTPError) {
        switch field.known ?? KnownName(field.name, in: text) {
        case .host:
            guard hostRange == nil else { throw .repeatedHost }
            hostRange = field.value
        case .expect:
            let isContinue = text.extracting(field.value).equalsIgnoringCase("100-continue")
            expectation = isContinue && expectation == .none ? .continue : .unknown
        case .connection:
            readConnection(text.extracting(field.value))
        case .contentType:
            if contentTypeRange == nil { contentTypeRange = field.value }
        case .contentLength:
            guard contentLength == nil else { throw .repeatedContentLength }
            contentLength = try Framing.contentLength(text.extracting(field.value))
        case .transferEncoding:
            guard !isChunked else { throw .repeatedTransferEncoding }
            isChunked = try Framing.isChunked(text.extracting(field.value))
        case .origin:
            // With two of them, this check could use one, and another program the other.
            guard !uncommonFields.contains(.origin) else { throw .repeatedOrigin }
            uncommonFields.insert(.origin)
        case .fetchSite: uncommonFields.insert(.fetchSite)
        case .prefer: uncommonFields.insert(.prefer)
        case .idempotencyKey: uncommonFields.insert(.idempotencyKey)
        case .authorization: uncommonFields.insert(.authorization)
        case .contentEncoding:
            // It is no coding, and should not be said (RFC 9110 §8.4.1).
            let coding = text.extracting(field.value)
            if coding.count > 0, !coding.equalsIgnoringCase("identity") {
                uncommonFields.insert(.contentEncoding)
            }
        case .forwarding(let field):
            if forwardingField == nil { forwardingField = field }
        case .other: break
        }
    }

    /// Adds up the options of all Connection lines (RFC 9110 §7.6.1).
    private mutating func readConnection(_ value: Span<UInt8>) {
        var cursor = 0
        while let element = FieldList.nextElement(in: value, at: &cursor) {
            let option = value.extracting(element)
            if option.equalsIgnoringCase("close") { connectionCloses = true }
            if option.equalsIgnoringCase("keep-alive") { connectionKeepsAlive = true }
        }
    }

    /// Host is demanded and checked even if the target has an authority (RFC 9112 §3.2).
    private mutating func readHost(in text: Span<UInt8>) throws(HTTPError) {
        guard let range = hostRange else {
            guard minorVersion == 0 else { throw .missingHost }
            return
        }
        let parts = try HostField.parts(of: text.extracting(range))
        hostNameEnd = range.lowerBound + parts.hostEnd
    }

    private mutating func readTarget(
        _ line: RequestLine, in text: Span<UInt8>
    ) throws(HTTPError) {
        let target = text.extracting(targetRange)
        if method == .connect {
            // The authority form needs its port (RFC 9112 §3.2.3).
            guard let port = try setHost(targetRange, in: text), port > 0 else {
                throw .invalidTarget
            }
            targetForm = .authority
        } else if target[0] == ASCII.slash {
            guard !line.hasBracket else { throw .invalidTarget }
            setPath(from: targetRange.lowerBound, queryMark: line.queryMark)
        } else if target.equals("*") {
            guard method == .options else { throw .invalidTarget }
            targetForm = .asterisk
        } else {
            try readAbsoluteForm(line, in: text)
        }
    }

    /// `scheme "://" authority path-abempty [ "?" query ]`; user information is refused
    /// (RFC 9110 §4.2.4).
    private mutating func readAbsoluteForm(
        _ line: RequestLine, in text: Span<UInt8>
    ) throws(HTTPError) {
        let limit = line.queryMark ?? targetRange.upperBound
        let colon = text.firstIndex(of: ASCII.colon, in: targetRange.lowerBound..<limit)
        let start = colon + 3
        guard start < limit, text.extracting(colon..<start).equals("://") else {
            throw .invalidTarget
        }
        let scheme = text.extracting(targetRange.lowerBound..<colon)
        guard scheme.equalsIgnoringCase("http") || scheme.equalsIgnoringCase("https") else {
            throw .invalidTarget
        }
        let end = text.firstIndex(of: ASCII.slash, in: start..<limit)
        _ = try setHost(start..<end, in: text)
        for index in end..<targetRange.upperBound
        where text[index] == ASCII.leftBracket || text[index] == ASCII.rightBracket {
            throw .invalidTarget
        }
        guard end < targetRange.upperBound || method != .options else {
            // OPTIONS without path and query means the server, as `*` does (RFC 9112 §3.2.4).
            targetForm = .asterisk
            return
        }
        targetForm = .absolute
        setPath(from: end, queryMark: line.queryMark)
        // An empty path is `/`, which the scheme's own slash lends.
        if pathRange.isEmpty { pathRange = start - 1..<start }
    }

    /// Takes the authority of the target, which wins over Host, and returns its port.
    private mutating func setHost(
        _ range: Range<Int>, in text: Span<UInt8>
    ) throws(HTTPError) -> Int? {
        do {
            let parts = try HostField.parts(of: text.extracting(range))
            hostRange = range
            hostNameEnd = range.lowerBound + parts.hostEnd
            return parts.port
        } catch {
            throw .invalidTarget
        }
    }

    private mutating func setPath(from start: Int, queryMark: Int?) {
        pathRange = start..<(queryMark ?? targetRange.upperBound)
        queryRange = queryMark.map { $0 + 1..<targetRange.upperBound }
    }
}
