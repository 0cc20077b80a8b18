import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import BelfryWire

/// What an answer is besides its content, which stands in `answerContent`.
struct Answer {
    var status = 200
    var contentType: ContentType
    var fields: [HTTPField] = []
    var sequel = Sequel.none
    /// Whether its content may be sent compressed: it is the same for all, or a listing, and has no
    /// secret beside what somebody else has chosen.
    var isCompressible = false

    static let json = Answer(contentType: .json)
    static let listing = Answer(contentType: .json, isCompressible: true)
    static let empty = Answer(status: 204)

    init(
        status: Int = 200, contentType: ContentType = .none, isCompressible: Bool = false
    ) {
        self.status = status
        self.contentType = contentType
        self.isCompressible = isCompressible
    }

    /// What the content is, as the `Content-Type` field says it.
    enum ContentType: Equatable {
        case none
        case json
        case problem(Problem.Kind)
        case other(String)

        var text: String? {
            switch self {
            case .none: nil
            case .json: "application/json"
            case .problem: "application/problem+json"
            case .other(let type): type
            }
        }
    }
}

// Answers become bytes: here, or on the way to the loop that has the connection.

extension ServerLoop {
    /// Answers a request of this loop with a problem.
    mutating func answer(
        _ problem: Problem, fields: [HTTPField] = [], to id: ConnectionID, _ reply: HTTPReply
    ) {
        answerContent.removeAll(keepingCapacity: true)
        let answer = problemAnswer(problem, fields: fields)
        send(answer, to: id, reply)
    }

    /// Counts a request or a call that is refused.
    mutating func noteRefusal(_ problem: Problem) {
        counters.requestsRefused += 1
        shared.noteRefusal(problem.kind)
        if problem.kind == .storeUnavailable { shared.store?.noteRefusal() }
        if let limit = Self.limits[problem.kind] { meet(limit) }
    }

    /// The limits that are known to be reached by what a client is told.
    private static let limits: [Problem.Kind: ReachableLimit] = [
        .queueFull: .queue, .storeUnavailable: .store, .rateLimited: .rates,
    ]

    /// Writes a problem document as the content of an answer.
    mutating func problemAnswer(_ problem: Problem, fields: [HTTPField] = []) -> Answer {
        noteRefusal(problem)
        problem.append(to: &answerContent)
        var answer = Answer(
            status: problem.kind.status, contentType: .problem(problem.kind))
        answer.fields = fields
        if let challenge = Self.challenge(problem.kind) { answer.fields.append(challenge) }
        if problem.kind.status == 503 || problem.kind.status == 429,
            !fields.contains(where: { $0.name == "Retry-After" })
        {
            answer.fields.append(HTTPField("Retry-After", "1"))
        }
        return answer
    }

    /// The fields that a page may send.
    ///
    /// Cookies are nothing that the broker knows, so there is no `Access-Control-Allow-Credentials`.
    private static let requestFields = """
        Content-Type, Prefer, Authorization, Idempotency-Key, Belfry-Session, Belfry-Token, \
        Last-Event-ID
        """
    /// The fields that a page may read besides those that all pages may.
    private static let exposedFields = """
        Location, Retry-After, Idempotency-Replayed, Preference-Applied, RateLimit, \
        RateLimit-Policy, WWW-Authenticate
        """

    /// Answers OPTIONS, the preflight of a page's request among them (Fetch standard, CORS).
    mutating func answerOptions(_ path: RoutedPath, to id: ConnectionID) {
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
        answerContent.removeAll(keepingCapacity: true)
        send(answer, to: id, exchange.reply)
    }

    /// Sends an answer on a connection of this loop, and does what follows from it.
    mutating func send(_ answer: Answer, to id: ConnectionID, _ reply: HTTPReply) {
        let start = loop.output.count
        var output: [UInt8] = []
        swap(&output, &loop.output)
        appendResponse(answer, reply, to: &output)
        swap(&output, &loop.output)
        loop.send(start..<loop.output.count, to: id, as: .answer)
        follow(answer.sequel, on: id, reply)
    }

    /// Appends the response to an HTTP request; its content stands in `answerContent`.
    mutating func appendResponse(
        _ answer: Answer, _ reply: HTTPReply, to output: inout [UInt8]
    ) {
        if log.level <= .debug { tell(answer, reply) }
        let date = dateText()
        if answer.status == 200, answer.fields.isEmpty, !reply.variesByOrigin,
            !reply.hasSecretTarget, reply.appliedPreference == .none, answer.contentType == .json,
            !answer.isCompressible
        {
            ResponseWriter.appendJSON(answerContent, for: reply.context, jsonHead, to: &output)
            return
        }
        // The content may become another one with them.
        let fields = fields(of: answer, reply)
        ResponseWriter.append(
            status: answer.status, fields: fields, content: answerContent.span,
            for: reply.context, date: date.span, to: &output)
    }

    /// Appends a head alone; the content, so many bytes, follows.
    mutating func appendHead(
        _ answer: Answer, _ reply: HTTPReply, contentByteCount: Int, to output: inout [UInt8]
    ) {
        if log.level <= .debug { tell(answer, reply) }
        let date = dateText()
        let fields = fields(of: answer, reply)
        ResponseWriter.appendHead(
            status: answer.status, fields: fields, contentByteCount: contentByteCount,
            for: reply.context, date: date.span, to: &output)
    }

    /// All fields of an answer but those that every response has.
    private mutating func fields(of answer: Answer, _ reply: HTTPReply) -> [HTTPField] {
        var fields = answer.fields
        if let type = answer.contentType.text { fields.append(HTTPField("Content-Type", type)) }
        if reply.hasSecretTarget { fields += [Self.noStore, Self.noReferrer] }
        if let origin = reply.allowedOrigin {
            fields.append(HTTPField("Access-Control-Allow-Origin", origin))
            fields.append(HTTPField("Access-Control-Expose-Headers", Self.exposedFields))
        }
        if answer.isCompressible {
            fields.append(HTTPField("Vary", "Accept-Encoding"))
            if compressContent(for: reply) { fields.append(HTTPField("Content-Encoding", "gzip")) }
        }
        if reply.variesByOrigin { fields.append(HTTPField("Vary", "Origin")) }
        if reply.appliedPreference != .none, answer.status < 300 {
            fields.append(HTTPField("Preference-Applied", reply.appliedPreference.rawValue))
        }
        return fields
    }

    /// Encodes `answerContent` with gzip where the client takes it and it becomes smaller.
    private mutating func compressContent(for reply: HTTPReply) -> Bool {
        guard reply.acceptsGzip, answerContent.count >= configuration.compressionThreshold,
            let encoded = compression.gzip(answerContent)
        else { return false }
        answerContent = encoded
        return true
    }

    /// Does with the connection what follows from an answer.
    mutating func follow(_ sequel: Sequel, on id: ConnectionID, _ reply: HTTPReply?) {
        switch sequel {
        case .none:
            let closes = reply.map { !$0.context.keepsAlive } ?? false
            if !closes, connections.takesRequests(id) { return }
            if closes || connections[id].closesAfterAnswer { closeSoon(id) }
        case .close:
            closeSoon(id)
        case .client(let client, let session, let transport, let center):
            guard connections.has(id) else { return }
            connections[id].client = client
            connections[id].session = session
            connections[id].center = center
            switch transport {
            case .webSocket:
                connections[id].kind = .webSocket
                setDeadline(id, .ping)
            case .events:
                connections[id].kind = .events
                setDeadline(id, .comment)
            case .mailbox:
                break
            }
        case .stream(let observer, let client, let center):
            guard connections.has(id) else { return }
            connections[id].client = client
            connections[id].mailbox = observer
            connections[id].center = center
            connections[id].kind = .events
            setDeadline(id, .comment)
        }
        goOn(id)
    }

    /// Sends the answer to a submission to wherever it came from.
    mutating func deliver(_ answer: Answer, _ reply: Reply) {
        if promises.awaitedTicket != 0 { return deliverWhenStored(answer, reply) }
        switch reply.form {
        case .none:
            return
        case .http(let http) where reply.loop == number:
            send(answer, to: reply.connection, http)
        case .webSocket where reply.loop == number:
            guard !answerContent.isEmpty else {
                return follow(answer.sequel, on: reply.connection, nil)
            }
            let start = loop.output.count
            let content = answerContent
            FrameWriter.append(.text, payload: content.span, to: &loop.output)
            loop.send(start..<loop.output.count, to: reply.connection, as: .answer)
            follow(answer.sequel, on: reply.connection, nil)
        case .http(let http):
            var bytes: [UInt8] = []
            appendResponse(answer, http, to: &bytes)
            let sequel = http.context.keepsAlive ? answer.sequel : answer.sequel.orClose
            sendElsewhere(bytes, sequel, reply)
        case .webSocket:
            var bytes: [UInt8] = []
            if !answerContent.isEmpty {
                FrameWriter.append(.text, payload: answerContent.span, to: &bytes)
            }
            sendElsewhere(bytes, answer.sequel, reply)
        }
    }

    /// Hands an answer to the loop that has the connection.
    mutating func sendElsewhere(_ bytes: [UInt8], _ sequel: Sequel, _ reply: Reply) {
        outbound[reply.loop].output.add(bytes, to: reply.number.rawValue, .answer(sequel))
    }
}

extension Sequel {
    /// The same, or a close where nothing else follows.
    var orClose: Sequel {
        switch self {
        case .none, .close: .close
        case .client, .stream: self
        }
    }
}
