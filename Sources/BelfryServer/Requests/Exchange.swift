import BelfryBytes
import BelfryAccess
import BelfryHTTP
import BelfryWire

/// One HTTP request that is being read.
///
/// One exchange serves all connections of a loop in turn; a connection keeps it only when its
/// request is unfinished at the end of the input.
struct Exchange {
    var parser: RequestParser
    /// The content so far, unless all of it is in the present input.
    var content: [UInt8] = []
    /// The range of the content in the present input.
    var contentRange: Range<Int>?
    /// The segments of the path.
    var segments = PathSegments()
    /// Whether the head was read and the end of the content was not.
    var isInContent = false
    /// The post as far as its head determines it, for a usual head.
    var template: PostTemplate?
    /// Whether the decisions on this post, or ask, hold for the next one with the same head.
    var canRepeat = false
    /// Whether the request came over TLS.
    var isSecure = false
    /// The path; nil before the head was read, for a refused head, or where the template is enough.
    var path: RoutedPath?
    /// The request of a center, until it is performed.
    var request: CenterRequest?
    /// The reason for its refusal, once that is known.
    var refusal: Problem?
    /// The dropped bytes of the content of a request that was refused by its head; else nil.
    var droppedByteCount: Int?
    /// The fields of the refusal.
    var refusalFields: [HTTPField] = []
    /// The source of the request, if that matters.
    var origin: RequestOrigin?
    /// The caller, if valid credentials were shown.
    var caller: Caller?
    /// Whether a caller without credentials was found to be local, where that matters.
    var isLocal = false
    /// Credentials that must be verified before the caller is known.
    var unverified: UnverifiedCredentials?
    /// The form of the answer.
    var reply = HTTPReply(context: .closing)

    init(limits: HTTPLimits) {
        parser = RequestParser(limits: limits)
    }

    /// The bytes that an unfinished request keeps.
    var byteCount: Int { content.count + parser.headByteCount }

    /// Forgets the last request, which mostly has left nothing.
    ///
    /// - Returns: Whether this is a post, an ask or a write to which the decisions on the last one
    ///   apply.
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

    /// The most bytes of a refused content that are dropped to keep the connection.
    static let dropByteLimit = 64 << 10

    /// Whether more of a refused content was dropped than allowed.
    var hasDroppedTooMuch: Bool { (droppedByteCount ?? 0) > Self.dropByteLimit }

    /// The form of the last answer on the connection; nil where the refusal was answered before.
    ///
    /// It does not matter how much of the request has come.
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

    /// The caller: by its credentials, or an anonymous one.
    @inline(__always)
    func caller(_ anonymous: AnonymousCallers) -> Caller {
        caller ?? anonymous[isLocal: isLocal]
    }

    /// Keeps a summary of the request with its reply, wherever that is made.
    mutating func noteAsked(on connection: String) {
        reply.details.asked = Asked(
            method: parser.head.method.name ?? "other", route: path?.place.pattern ?? "none",
            connection: connection)
    }

    /// Forgets the rest of the last request, which may have been of another connection.
    mutating func forgetLast() {
        parser.forgetLastHead()
        if !isInContent { content = [] }
    }

    static let channelPrefix = Array("/v1/channels/".utf8)
    static let notificationsPath = Array("/v1/notifications".utf8)

    /// Finds the template of a post in one of the usual forms.
    ///
    /// These are posts to `/v1/channels/{name}` with nothing to decode or to `/v1/notifications`,
    /// without a query, of JSON, and from no page. It changes nothing, but a call that only borrows
    /// the exchange would copy it. All other requests use `findPath`, which would have the same
    /// result for these.
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

    /// Finds the path that the head names.
    mutating func findPath(hasDebugEndpoints: Bool) throws(Problem) -> RoutePath {
        if parser.head.targetForm == .asterisk {
            path = .server
            return .server
        }
        // The path is borrowed from the parser, and so is all of the exchange.
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

    /// Adds a piece of content; the first one is only referenced.
    mutating func addContent(_ range: Range<Int>, of bytes: Span<UInt8>) {
        if content.isEmpty, contentRange == nil {
            contentRange = range
        } else {
            keepContent(of: bytes)
            content.append(bytes.extracting(range))
        }
    }

    /// Copies referenced content before the input goes.
    mutating func keepContent(of bytes: Span<UInt8>) {
        guard let range = contentRange else { return }
        contentRange = nil
        content.append(bytes.extracting(range))
    }
}
