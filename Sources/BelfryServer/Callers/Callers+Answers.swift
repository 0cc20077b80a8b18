import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

extension Callers {
    /// Answers a request of this loop with a problem.
    mutating func answer(
        _ problem: Problem, fields: [HTTPField] = [], to id: ConnectionID, _ reply: HTTPReply,
        _ outbox: inout Outbox
    ) {
        outbox.content.removeAll(keepingCapacity: true)
        let answer = outbox.problemAnswer(problem, fields: fields)
        send(answer, to: id, reply, &outbox)
    }

    /// The fields that a page may send.
    ///
    /// Cookies are nothing that the broker knows, so there is no `Access-Control-Allow-Credentials`.
    private static let requestFields = """
        Content-Type, Prefer, Authorization, Idempotency-Key, Belfry-Session, Belfry-Token, \
        Last-Event-ID
        """

    /// Answers OPTIONS, the preflight of a page's request among them (Fetch standard, CORS).
    mutating func answerOptions(_ path: RoutedPath, to id: ConnectionID, _ outbox: inout Outbox) {
        var answer = Answer.empty
        let allowed =
            path.isServer
            ? "GET, HEAD, POST, DELETE, PATCH, OPTIONS" : path.route.allowedMethods.text
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
        send(answer, to: id, exchange.reply, &outbox)
    }

    /// Sends an answer that callers make themselves, and does what follows from it.
    mutating func send(
        _ answer: Answer, to id: ConnectionID, _ reply: HTTPReply, _ outbox: inout Outbox
    ) {
        outbox.write(answer, to: id, reply)
        follow(reply.context.keepsAlive ? answer.sequel : answer.sequel.orClose, on: id, &outbox)
    }

    // MARK: Items

    /// Does with a connection what was written for it says.
    mutating func apply(_ item: OutboxItem, _ outbox: inout Outbox) {
        let id = item.connection.connection
        guard connections.kind(of: id) != nil else { return abandon(item, &outbox) }
        switch item.content {
        case .deliveries, .notice, .lateAnswer:
            break
        case .lastFrames:
            connections[id].client = 0
            connections[id].mailbox = 0
            closeSoon(id, &outbox)
        case .answer(let sequel):
            follow(sequel, on: id, &outbox)
        case .promise(let sequel, let ticket):
            move(id, .corked(until: ticket), &outbox)
            follow(sequel, on: id, &outbox)
        case .flushGoesOn(let client):
            awaitRoom(client, on: id, &outbox)
        }
    }

    /// The connection has gone while its answer was under way: what it became must go too.
    private mutating func abandon(_ item: OutboxItem, _ outbox: inout Outbox) {
        guard case .answer(let sequel) = item.content else { return }
        let (id, encoding) = (item.connection.connection, item.connection.encoding)
        switch sequel {
        case .none, .close: return
        case .client(let client, _, _, let center):
            tell(center, .disconnect(client: client), by: id, encoding, &outbox)
        case .stream(let observer, _, let center):
            tell(center, .detachReader(observer: observer), by: id, encoding, &outbox)
        }
    }

    /// Does with the connection what follows from an answer.
    mutating func follow(_ sequel: Sequel, on id: ConnectionID, _ outbox: inout Outbox) {
        switch sequel {
        case .none:
            if !connections.takesRequests(id) { noteAnswer(on: id, &outbox) }
        case .close:
            closeSoon(id, &outbox)
        case .client(let client, let session, let transport, let center):
            guard connections.has(id) else { return }
            let isWebSocket = transport == .webSocket
            connections.change(id) { connection in
                connection.client = client
                connection.session = session
                connection.center = center
                connection.kind = isWebSocket ? .webSocket : .events
            }
            setDeadline(id, isWebSocket ? .ping : .comment, &outbox)
            move(id, .upgraded, &outbox)
        case .stream(let observer, let client, let center):
            guard connections.has(id) else { return }
            connections[id].client = client
            connections[id].mailbox = observer
            connections[id].center = center
            connections[id].kind = .events
            setDeadline(id, .comment, &outbox)
            move(id, .upgraded, &outbox)
        }
    }
}
