import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import BelfryWire

// Answers become bytes: here, or on the way to the loop of the connection.

extension Outbox {
    /// Counts a request or a call that is refused.
    mutating func noteRefusal(_ problem: Problem) {
        counters.requestsRefused += 1
        shared.figures.noteRefusal(problem.kind)
        if problem.kind == .storeUnavailable {
            // Without a store the log of a cluster refuses: no option of this broker changes that.
            guard let store = shared.store else { return }
            store.noteRefusal()
        }
        if let limit = Self.limits[problem.kind] { meet(limit) }
    }

    /// The limits that a problem shows to be reached.
    private static let limits: [Problem.Kind: ReachableLimit] = [
        .queueFull: .queue, .storeUnavailable: .store, .rateLimited: .rates,
    ]

    /// Writes a problem document as the content of an answer.
    mutating func problemAnswer(_ problem: Problem, fields: [HTTPField] = []) -> Answer {
        noteRefusal(problem)
        problem.append(to: &content)
        var answer = Answer(
            status: problem.kind.status, contentType: .problem(problem.kind))
        answer.fields = fields
        if let challenge = Problem.challenge(problem.kind) { answer.fields.append(challenge) }
        if let tag = problem.entityTag { answer.fields.append(HTTPField("ETag", tag)) }
        let mayRepeat = problem.kind.status == 503 || problem.kind.status == 429
        if mayRepeat || problem.kind == .outcomeUnknown,
            !fields.contains(where: { $0.name == "Retry-After" })
        {
            answer.fields.append(HTTPField("Retry-After", "1"))
        }
        return answer
    }

    /// The fields that a page may read, besides those that all pages may.
    private static let exposedFields = """
        Location, Retry-After, Idempotency-Replayed, Preference-Applied, RateLimit, \
        RateLimit-Policy, WWW-Authenticate, ETag, Belfry-Position
        """

    /// Appends the response to an HTTP request, with the content in `content`.
    mutating func appendResponse(
        _ answer: Answer, _ reply: HTTPReply, to output: inout [UInt8]
    ) {
        if log.level <= .debug { tell(answer, reply) }
        heads.renew(at: loop.wallNow)
        if answer.status == 200, !reply.variesByOrigin,
            !reply.hasSecretTarget, reply.appliedPreference == .none, answer.contentType == .json,
            !answer.isCompressible
        {
            ResponseWriter.appendJSON(
                content, fields: answer.fields, for: reply.context, heads.json, to: &output)
            return
        }
        // Making the fields may change the content.
        let fields = fields(of: answer, reply)
        ResponseWriter.append(
            status: answer.status, fields: fields, content: content.span,
            for: reply.context, date: heads.date.span, to: &output)
    }

    /// Appends a head alone; `contentByteCount` bytes of content follow.
    mutating func appendHead(
        _ answer: Answer, _ reply: HTTPReply, contentByteCount: Int, to output: inout [UInt8]
    ) {
        if log.level <= .debug { tell(answer, reply) }
        heads.renew(at: loop.wallNow)
        let fields = fields(of: answer, reply)
        ResponseWriter.appendHead(
            status: answer.status, fields: fields, contentByteCount: contentByteCount,
            for: reply.context, date: heads.date.span, to: &output)
    }

    /// The fields of an answer, besides those of every response.
    private mutating func fields(of answer: Answer, _ reply: HTTPReply) -> [HTTPField] {
        var fields = answer.fields
        if let type = answer.contentType.text { fields.append(HTTPField("Content-Type", type)) }
        if reply.hasSecretTarget { fields += [.noStore, .noReferrer] }
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

    /// Encodes `content` with gzip where the client accepts it and it becomes smaller.
    private mutating func compressContent(for reply: HTTPReply) -> Bool {
        guard reply.acceptsGzip, content.count >= configuration.compressionThreshold,
            let encoded = compression.gzip(content)
        else { return false }
        content = encoded
        return true
    }

    /// The answer on a connection that is one too many.
    mutating func refusalBytes() -> [UInt8] {
        closingBytes(
            Problem(.overloaded, "The broker has no room for more connections (--max-connections).")
        )
    }

    /// A problem as the only and last answer on a connection.
    mutating func closingBytes(_ problem: Problem) -> [UInt8] {
        var content: [UInt8] = []
        problem.append(to: &content)
        var bytes: [UInt8] = []
        heads.renew(at: loop.wallNow)
        ResponseWriter.append(
            status: problem.kind.status,
            fields: [
                HTTPField("Content-Type", "application/problem+json"),
                HTTPField("Retry-After", "5"),
            ], content: content.span, for: .closing, date: heads.date.span, to: &bytes)
        return bytes
    }

    // MARK: Sending

    /// Writes an answer on a connection of this loop.
    mutating func write(_ answer: Answer, to id: ConnectionID, _ reply: HTTPReply) {
        let start = loop.output.count
        var output: [UInt8] = []
        swap(&output, &loop.output)
        appendResponse(answer, reply, to: &output)
        swap(&output, &loop.output)
        loop.send(start..<loop.output.count, to: id, as: .answer)
    }

    /// Writes the usual answer to a post directly into the output.
    mutating func write(_ receipt: Receipt, for context: ResponseContext, to id: ConnectionID) {
        let start = loop.output.count
        heads.renew(at: loop.wallNow)
        let contentStart = ResponseWriter.appendJSONHead(
            heads.json, for: context, to: &loop.output)
        Shape.append(receipt: receipt, to: &loop.output)
        ResponseWriter.setLength(
            loop.output.count - contentStart, heads.json, at: start, in: &loop.output)
        loop.send(start..<loop.output.count, to: id, as: .answer)
    }

    /// Writes the usual answer to a post that waits in the queue, or has coalesced.
    mutating func write(
        _ receipt: Receipt, location: [UInt8], for context: ResponseContext, to id: ConnectionID
    ) {
        let start = loop.output.count
        heads.renew(at: loop.wallNow)
        content.removeAll(keepingCapacity: true)
        Shape.append(receipt: receipt, to: &content)
        ResponseWriter.appendJSON(
            content, location: location, for: context, heads.accepted, to: &loop.output)
        loop.send(start..<loop.output.count, to: id, as: .answer)
    }

    /// Sends the answer to a submission to its source.
    mutating func deliver(_ answer: Answer, _ reply: Reply) {
        switch reply.form {
        case .none:
            return
        case .http(let http):
            let sequel = http.context.keepsAlive ? answer.sequel : answer.sequel.orClose
            guard reply.loop == number else {
                return send(encoded(answer, http), .answer(sequel), to: reply.number)
            }
            write(answer, to: reply.connection, http)
            add(.answer(sequel), to: reply.number)
        case .calls:
            guard reply.loop == number else {
                return send(contentFrame(), .answer(answer.sequel), to: reply.number)
            }
            writeFrame(to: reply.connection)
            add(.answer(answer.sequel), to: reply.number)
        }
    }

    /// Writes the content as a text frame on a connection of this loop; nothing for no content.
    private mutating func writeFrame(to id: ConnectionID) {
        if content.isEmpty { return }
        let content = content
        let start = loop.output.count
        FrameWriter.append(.text, payload: content.span, to: &loop.output)
        loop.send(start..<loop.output.count, to: id, as: .answer)
    }

    /// Writes the answer to a request of this loop; it leaves when a ticket is committed.
    mutating func promise(_ answer: Answer, _ reply: Reply, _ http: HTTPReply, until ticket: UInt64)
    {
        loop.cork(reply.connection)
        write(answer, to: reply.connection, http)
        let sequel = http.context.keepsAlive ? answer.sequel : answer.sequel.orClose
        add(.promise(sequel, until: ticket), to: reply.number)
    }

    /// Lets a connection continue though its call is not answered.
    mutating func letGoOn(_ reply: Reply) {
        send([], .answer(.none), to: reply.number)
    }

    /// Sends an answer that was kept until its promise was stored.
    mutating func send(_ answer: ParkedAnswer) {
        let content: OutboxItem.Content
        switch answer.reply.form {
        case .http where answer.reply.loop != number: content = .answer(answer.sequel)
        case .http, .calls, .none: content = .lateAnswer
        }
        send(answer.bytes, content, to: answer.reply.number)
    }

    /// An answer as bytes.
    mutating func encoded(_ answer: Answer, _ reply: HTTPReply) -> [UInt8] {
        var bytes: [UInt8] = []
        appendResponse(answer, reply, to: &bytes)
        return bytes
    }

    /// The content as a text frame; empty for no content.
    func contentFrame() -> [UInt8] {
        var bytes: [UInt8] = []
        if !content.isEmpty { FrameWriter.append(.text, payload: content.span, to: &bytes) }
        return bytes
    }
}

extension HTTPField {
    /// The field that keeps answers with a secret out of every cache.
    static var noStore: HTTPField { HTTPField("Cache-Control", "no-store") }

    /// The field that keeps paths with a secret from other sites.
    static var noReferrer: HTTPField { HTTPField("Referrer-Policy", "no-referrer") }
}
