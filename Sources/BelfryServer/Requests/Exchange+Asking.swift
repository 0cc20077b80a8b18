import BelfryBytes
import BelfryCenter
import BelfryHTTP
import BelfryWire

// Asks over HTTP: the request, the asker's wait, and the responder's answer.

extension Exchange {
    /// An ask in the form of `curl`.
    mutating func ask(
        _ path: RoutedPath, _ query: inout Query, content: Span<UInt8>, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        try checkContentType(allowsForm: true)
        reply.details.pathPrefix = path.prefix
        if try query.takeFlag("bare") { reply.details.isBare = true }
        let request = try reader.ask(
            object: path.argument, selector: path.secondArgument, query: query.takeRest(),
            content: content)
        let preferences = Preferences(of: parser.head)
        if request.timeToLive != nil, !preferences.respondsAsync {
            throw Problem.invalidParameter("ttl", "requires the header field Prefer: respond-async")
        }
        if request.options.waitsForAnybody, !preferences.respondsAsync {
            throw Problem.invalidParameter(
                "ifNobody", "requires the header field Prefer: respond-async")
        }
        // As with a post: with both it waits first.
        if preferences.respondsAsync, preferences.waitSeconds == nil {
            reply.appliedPreference = .asynchronous
        }
        var wishes = AskWishes()
        wishes.wait = preferences.waitSeconds.map { Self.nanoseconds(seconds: $0) }
        wishes.outlivesAsker = preferences.respondsAsync
        if parser.head.uncommonFields.contains(.idempotencyKey) {
            wishes.key = try readKey(content: content, reader)
        }
        return .ask(request, wishes)
    }

    /// The answer of a responder to an ask.
    mutating func answer(
        _ id: NotificationID, _ query: inout Query, content: Span<UInt8>, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        try checkContentType(allowsForm: true)
        let response = try reader.response(query: query.takeRest(), content: content)
        guard let text = parser.head.copy(of: "belfry-token"),
            let token = IdentifierText(observer: text.span), let secret = token.secret
        else { throw Problem.noObserver }
        return .answer(id, Secret(number: token.number, secret: secret), response)
    }
}
