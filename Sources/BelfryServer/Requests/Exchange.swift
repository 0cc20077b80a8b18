import BelfryBytes
import BelfryAccess
import BelfryHTTP
import BelfryWire

/// One HTTP request on its way in.
///
/// One exchange serves all connections of a loop in turn; a connection takes it along only when its
/// request is unfinished at the end of what was read.
struct Exchange {
    var parser: RequestParser
    /// The content so far, unless all of it lies in what was just read.
    var content: [UInt8] = []
    /// Where the content lies in what was just read.
    var contentRange: Range<Int>?
    /// The segments of its path.
    var segments = PathSegments()
    /// Whether the head was read and the end was not.
    var isInContent = false
    /// What the head of a post says, where nothing in it is unusual.
    var template: PostTemplate?
    /// Whether what was decided of this post, or this ask, holds for one with the same head.
    var canRepeat = false
    /// Whether it came over TLS.
    var isSecure = false
    /// What the request asks for; nil until the head was read, when it is refused, or where the template is enough.
    var path: RoutedPath?
    /// What it asks of a center, until that is done.
    var request: CenterRequest?
    /// Why it is refused, once that is known.
    var refusal: Problem?
    /// The bytes of its content that were dropped, where its refusal was answered with its head;
    /// else nil.
    var droppedByteCount: Int?
    /// The fields that belong to the refusal.
    var refusalFields: [HTTPField] = []
    /// Where it comes from, if that matters.
    var origin: RequestOrigin?
    /// Who asks, if they showed credentials that are good.
    var caller: Caller?
    /// Whether who asks without credentials was found to be local, where that matters.
    var isLocal = false
    /// Credentials that must be verified before it is known who asks.
    var unverified: UnverifiedCredentials?
    /// The form of its answer.
    var reply = HTTPReply(context: .closing)

    init(limits: HTTPLimits) {
        parser = RequestParser(limits: limits)
    }

    /// The bytes that it keeps of an unfinished request.
    var byteCount: Int { content.count + parser.headByteCount }

    /// Forgets the last request; mostly it has left nothing.
    ///
    /// - Returns: Whether it is a post, an ask or a write for which all is decided, as it was for the one before.
    mutating func begin(mayRepeat: Bool) -> Bool {
        let repeats = mayRepeat && canRepeat && parser.repeatsHead
        reply = HTTPReply(context: parser.head.responseContext)
        reply.isRemoval = parser.head.method == .delete
        if !content.isEmpty { content.removeAll(keepingCapacity: content.capacity <= 65_536) }
        contentRange = nil
        if !repeats {
            canRepeat = false
            isLocal = false
            if template != nil { template = nil }
            if path != nil { path = nil }
        }
        if refusal != nil { refusal = nil }
        if droppedByteCount != nil { droppedByteCount = nil }
        if !refusalFields.isEmpty { refusalFields = [] }
        if caller != nil { caller = nil }
        if unverified != nil { unverified = nil }
        if origin != nil { origin = nil }
        return repeats
    }

    /// The bytes of a refused content that are read and dropped, so that the connection can be
    /// kept.
    static let dropByteLimit = 64 << 10

    /// Whether as much of a refused content was dropped as may be.
    var hasDroppedTooMuch: Bool { (droppedByteCount ?? 0) > Self.dropByteLimit }

    /// The form of the answer that ends the connection, however much of the request has come; nil
    /// where its refusal was answered.
    func lastReply(_ origins: OriginPolicy) -> HTTPReply? {
        if droppedByteCount != nil { return nil }
        var last = isInContent ? reply : HTTPReply(context: .closing)
        last.context.keepsAlive = false
        if !isInContent, let origin = parser.head.originOfTorso, origins.isListed(origin: origin) {
            last.variesByOrigin = true
            last.details.allowedOrigin = origin
        }
        return last
    }

    /// The caller: by its credentials, or as an anonymous one.
    @inline(__always)
    func caller(_ anonymous: AnonymousCallers) -> Caller {
        caller ?? anonymous[isLocal: isLocal]
    }

    /// Keeps what the request asked for with its reply, wherever that is made.
    mutating func noteAsked(on connection: String) {
        reply.details.asked = Asked(
            method: parser.head.method.name ?? "other", route: path?.place.pattern ?? "none",
            connection: connection)
    }

    /// Forgets what is left of the last request, which may have been that of another connection.
    mutating func forgetLast() {
        parser.forgetLastHead()
        if !isInContent { content = [] }
    }

    static let channelPrefix = Array("/v1/channels/".utf8)
    static let notificationsPath = Array("/v1/notifications".utf8)

    /// Finds the template of a post of one of the forms that nearly all have: to `/v1/channels/{name}` with nothing
    /// to decode or to `/v1/notifications`, without a query, of JSON, and from no page.
    ///
    /// It changes nothing, but a call that only borrows the exchange would copy it.
    /// Everything else takes the way of `findPath`, and with the same result this could too.
    mutating func findTemplate(limits: WireLimits) -> PostTemplate? {
        guard parser.head.method == .post, parser.head.uncommonFields.isEmpty,
            !parser.head.hasQuery, parser.head.targetForm == .origin, parser.head.isJSON
        else { return nil }
        let path = parser.head.path
        if bytesAreEqual(path, Self.notificationsPath.span) { return PostTemplate() }
        let start = Self.channelPrefix.count
        guard path.count > start,
            bytesAreEqual(path.extracting(first: start), Self.channelPrefix.span)
        else { return nil }
        let name = path.extracting(droppingFirst: start)
        if name.count < 3, name[0] == UInt8(ascii: ".") { return nil }
        for index in name.indices
        where name[index] == UInt8(ascii: "/") || name[index] == UInt8(ascii: "%") {
            return nil
        }
        return PostTemplate(name: name, limits: limits)
    }

    /// Finds what the path of the head names.
    mutating func findPath(hasDebugEndpoints: Bool) throws(Problem) -> RoutePath {
        if parser.head.targetForm == .asterisk {
            path = .server
            return .server
        }
        // The path is borrowed from the parser, and with it all of the exchange.
        var read = PathSegments()
        swap(&read, &segments)
        defer { swap(&read, &segments) }
        do throws(HTTPError) {
            try read.read(parser.head.path)
        } catch {
            throw Problem(error)
        }
        if read.hasDots { throw .hasDotSegments }
        path = RoutedPath(read, parser.head.method, hasDebugEndpoints: hasDebugEndpoints)
        guard let place = path?.place else { throw Problem.unknownPath }
        return place
    }

    /// Notes a piece of content; the first one is only pointed at.
    mutating func addContent(_ range: Range<Int>, of bytes: Span<UInt8>) {
        if content.isEmpty, contentRange == nil {
            contentRange = range
        } else {
            keepContent(of: bytes)
            content.append(bytes.extracting(range))
        }
    }

    /// Copies what was only pointed at, before the bytes go.
    mutating func keepContent(of bytes: Span<UInt8>) {
        guard let range = contentRange else { return }
        contentRange = nil
        content.append(bytes.extracting(range))
    }
}
