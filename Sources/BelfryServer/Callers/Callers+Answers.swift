import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

extension Callers {
    /// The fields that a page may send.
    ///
    /// The broker uses no cookies, so there is no `Access-Control-Allow-Credentials`.
    private static let requestFields = """
        Content-Type, Prefer, Authorization, Idempotency-Key, Belfry-Session, Belfry-Token, \
        Last-Event-ID, If-Match, If-None-Match
        """

    /// Answers OPTIONS, the preflight of a page's request among them (Fetch standard, CORS).
    mutating func answerOptions(_ path: RoutePath, to id: ConnectionID, _ outbox: inout Outbox) {
        var answer = Answer.empty
        let allowed = path.facts.methods.text
        answer.fields = [HTTPField("Allow", allowed)]
        if exchange.reply.allowedOrigin != nil,
            exchange.parser.head.field("access-control-request-method") != nil
        {
            answer.fields += [
                HTTPField("Access-Control-Allow-Methods", allowed),
                HTTPField("Access-Control-Allow-Headers", Self.requestFields),
                HTTPField("Access-Control-Max-Age", "600"),
            ]
            if exchange.parser.head.field("access-control-request-private-network") != nil {
                answer.fields.append(HTTPField("Access-Control-Allow-Private-Network", "true"))
            }
        }
        outbox.content.removeAll(keepingCapacity: true)
        connections.send(answer, to: id, exchange.reply, &outbox)
    }

    // MARK: Items
}
