import BelfryAccess
import BelfryBytes
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

// HTTP requests: from bytes to a whole exchange, which the gate has admitted or refused.

extension Callers {
    /// Reads on to the next whole request that callers do not answer alone.
    ///
    /// Pipelined requests are answered in one write.
    mutating func nextRequest(
        _ pass: inout ReadingPass, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> CallerStep? {
        let id = pass.id
        do throws(HTTPError) {
            while true {
                if pass.hasAsked {
                    pass.hasAsked = false
                    exchange.contentRange = nil
                    guard readsOn(pass, bytes, &outbox) else { return nil }
                }
                guard let event = try exchange.parser.nextEvent(in: bytes, at: &pass.cursor)
                else { break }
                switch event {
                case .head:
                    exchange.isInContent = true
                    beginRequest(id, restByteCount: bytes.count - pass.cursor, &outbox)
                    if exchange.droppedByteCount != nil, connections.kind(of: id) == nil {
                        renewExchange(&outbox)
                        return nil
                    }
                case .body(let range) where exchange.droppedByteCount != nil:
                    exchange.droppedByteCount? += range.count
                    if exchange.hasDroppedTooMuch {
                        connections.closeSoon(id, &outbox)
                        renewExchange(&outbox)
                        return nil
                    }
                case .body(let range):
                    exchange.addContent(range, of: bytes)
                case .end:
                    exchange.isInContent = false
                    pass.beginsRequest = true
                    pass.hasAsked = true
                    if exchange.droppedByteCount != nil { continue }
                    if let step = finishRequest(id, bytes, &outbox) { return step }
                }
            }
        } catch {
            outbox.counters.requests += 1
            refuseRequest(id, Problem(error), of: exchange, &outbox)
            return nil
        }
        keepUnfinished(id, bytes, beginsRequest: pass.beginsRequest, &outbox)
        return nil
    }

    /// Whether the bytes behind a request are read in this pass.
    @inline(__always)
    private mutating func readsOn(
        _ pass: ReadingPass, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> Bool {
        let id = pass.id
        if pass.hasEnough(of: bytes.count, &outbox) {
            connections.throttle(id, &outbox)
        }
        guard connections.takesRequests(id) || maySpeakOn(id, bytes, pass.cursor, &outbox) else {
            return false
        }
        if pass.cursor < bytes.count { return true }
        awaitRequest(id, &outbox)
        return false
    }

    /// Continues a request that did not arrive as a whole; false when there is none.
    mutating func takeUpExchange(of id: ConnectionID) -> Bool {
        guard let unfinished = connections[id].unfinished,
            let begun = unfinished.exchange
        else { return false }
        exchange = begun
        // The configuration may have changed since.
        exchange.canRepeat = false
        unfinished.exchange = nil
        unfinished.recount()
        return true
    }

    /// Waits for a request, when all input was read and each request is answered or under way.
    private mutating func awaitRequest(_ id: ConnectionID, _ outbox: inout Outbox) {
        connections.dropUnfinished(id)
        connections.setDeadline(id, .idle, &outbox)
    }

    /// Whether the next request can be read; if not, the rest of the bytes is kept or passed on.
    private mutating func maySpeakOn(
        _ id: ConnectionID, _ bytes: Span<UInt8>, _ cursor: Int, _ outbox: inout Outbox
    ) -> Bool {
        guard let kind = connections.kind(of: id) else {
            renewExchange(&outbox)
            return false
        }
        let rest = bytes.extracting(cursor..<bytes.count)
        if connections[id].reading.state != .open, kind == .http {
            renewExchange(&outbox)
            if !rest.isEmpty { keepWaiting(id, rest, &outbox) }
            return false
        }
        if kind != .http {
            renewExchange(&outbox)
            connections.dropUnfinished(id)
            if !rest.isEmpty {
                keepWaiting(id, rest, &outbox)
                connections.readOn(id, &outbox)
            }
            return false
        }
        return true
    }

    /// Makes a fresh exchange for the next connection, where the last one was left in the middle.
    private mutating func renewExchange(_ outbox: inout Outbox) {
        if !exchange.parser.isBetweenRequests {
            exchange = Exchange(limits: outbox.configuration.httpLimits)
        }
    }

    /// Keeps a request that has not fully arrived in its connection.
    private mutating func keepUnfinished(
        _ id: ConnectionID, _ bytes: Span<UInt8>, beginsRequest: Bool, _ outbox: inout Outbox
    ) {
        guard connections.has(id) else { return renewExchange(&outbox) }
        if exchange.parser.isBetweenRequests { return awaitRequest(id, &outbox) }
        // The head's time runs from its first byte, or from the empty lines before it: more bytes
        // do not lengthen it. The time of the content was set with the end of the head.
        let hasHeadTime = connections[id].deadline == .head && !exchange.parser.hasBegunRequest
        if beginsRequest, !exchange.isInContent, !hasHeadTime {
            connections.setDeadline(id, .head, &outbox)
        }
        exchange.keepContent(of: bytes)
        exchange.forgetLast()
        connections.unfinished(of: id).exchange = exchange
        exchange = Exchange(limits: outbox.configuration.httpLimits)
        countUnfinished(of: id, &outbox)
    }

    /// Begins a request whose head is read: checks its route and permission, and asks for content.
    private mutating func beginRequest(
        _ id: ConnectionID, restByteCount: Int, _ outbox: inout Outbox
    ) {
        outbox.counters.requests += 1
        // Another connection may have sent this head: locality is decided for each.
        let isJudged = !outbox.anonymous.differ || connections.hasOwnNeighbor(id)
        let isDecided = exchange.begin(mayRepeat: isJudged && !outbox.life.takesNothing)
        exchange.isSecure = entrance.isSecure(id)
        if outbox.life.takesNothing { exchange.reply.context.keepsAlive = false }
        if isDecided {
            exchange.parser.bodyByteLimit = outbox.configuration.bodyByteLimit
        } else {
            if gate.policies.needsOrigin { findOrigin(of: id, &outbox) }
            do throws(Problem) {
                try gate.check(&exchange, from: id, &connections[id].neighbor, &outbox)
            } catch {
                exchange.refusal = error
            }
            if exchange.caller != nil { seatCaller(on: id, &outbox) }
        }
        if outbox.log.level <= .debug { exchange.noteAsked(on: outbox.connectionText(id)) }
        guard exchange.parser.head.hasContent else { return }
        let byteCount = exchange.parser.head.contentLength ?? .max
        let isTooLarge = byteCount < .max && byteCount > exchange.parser.bodyByteLimit
        if isTooLarge, exchange.refusal == nil {
            exchange.refusal = Problem(.bodyTooLarge(limit: exchange.parser.bodyByteLimit))
        }
        // Content that is complete needs no deadline.
        let isMissing = byteCount > restByteCount
        if isMissing { connections.setDeadline(id, .body, &outbox) }
        let isExpecting = exchange.parser.head.expectation == .continue
        if exchange.refusal != nil {
            if isMissing || isExpecting || isTooLarge {
                refuseAhead(id, mayGoOn: !isExpecting && !isTooLarge, &outbox)
            }
        } else if isExpecting {
            let start = outbox.loop.output.count
            ResponseWriter.appendContinue(to: &outbox.loop.output)
            outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        }
    }

    /// Answers a refusal by the head before the content has come (RFC 9110 §10.1.1, RFC 9112 §9.6).
    ///
    /// The connection continues behind content that is small, or may be. Otherwise it closes: a
    /// client that waits for 100 may or may not send its content, and much of it would be read for
    /// nothing.
    private mutating func refuseAhead(
        _ id: ConnectionID, mayGoOn: Bool, _ outbox: inout Outbox
    ) {
        guard let refusal = exchange.refusal else { return }
        let byteCount = exchange.parser.head.contentLength ?? 0
        if !mayGoOn || byteCount > Exchange.dropByteLimit {
            exchange.reply.context.keepsAlive = false
        }
        connections.answer(
            refusal, fields: exchange.refusalFields, to: id, exchange.reply, &outbox)
        exchange.droppedByteCount = 0
    }

    /// Finds the source of a request, and notes it for its connection.
    private mutating func findOrigin(of id: ConnectionID, _ outbox: inout Outbox) {
        gate.findOrigin(of: id, &exchange, &outbox)
        if let origin = exchange.origin { connections[id].address = origin.address }
    }

    /// Counts the connection for the principal; one without a free seat is refused.
    mutating func seatCaller(on id: ConnectionID, _ outbox: inout Outbox) {
        guard exchange.refusal == nil, let caller = exchange.caller else { return }
        do throws(Problem) {
            try takeSeat(of: caller, on: id, &outbox)
        } catch {
            exchange.refusal = error
        }
    }

    /// Finishes a request whose content is read: answers it, or hands it out.
    mutating func finishRequest(
        _ id: ConnectionID, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> CallerStep? {
        if outbox.life.takesNothing { exchange.reply.context.keepsAlive = false }
        if let refusal = exchange.refusal {
            connections.answer(
                refusal, fields: exchange.refusalFields, to: id, exchange.reply, &outbox)
            return nil
        }
        if exchange.unverified != nil { return awaitVerdict(id, bytes, &outbox) }
        if let range = exchange.contentRange {
            return handleRequest(content: bytes.extracting(range), from: id, &outbox)
        }
        var content: [UInt8] = []
        swap(&content, &exchange.content)
        defer { swap(&content, &exchange.content) }
        return handleRequest(content: content.span, from: id, &outbox)
    }

    private mutating func handleRequest(
        content: Span<UInt8>, from id: ConnectionID, _ outbox: inout Outbox
    ) -> CallerStep? {
        if let template = exchange.template {
            if !gate.policies.hasRates, isUsual(template.options, &outbox),
                let post = requestReader.content(of: template, body: content)
            {
                return .post(post, template.options)
            }
            // Something about it is unusual, or wrong: the long path finds out what.
            findPath(&outbox)
        }
        guard let path = exchange.path else {
            preconditionFailure("a request that is not refused has a path")
        }
        // Among methods without a route, only OPTIONS is not refused.
        guard let entry = path.entry else {
            answerOptions(path.place, to: id, &outbox)
            return nil
        }
        return handle(entry, path, content: content, from: id, &outbox)
    }

    /// Finds the path of a request that so far needed only the template.
    @inline(never)
    private mutating func findPath(_ outbox: inout Outbox) {
        guard exchange.path == nil else { return }
        _ = try? exchange.findPath(hasDebugEndpoints: outbox.configuration.hasDebugEndpoints)
    }

    /// Refuses a request that cannot be read on, and closes its connection.
    ///
    /// A request that was answered gets no other answer.
    ///
    /// - Parameter begun: the part of it that was read; nil without one.
    mutating func refuseRequest(
        _ id: ConnectionID, _ problem: Problem, of begun: Exchange?, _ outbox: inout Outbox
    ) {
        if let begun, begun.droppedByteCount != nil {
            connections.closeSoon(id, &outbox)
        } else {
            var reply =
                begun?.lastReply(gate.policies.origin) ?? HTTPReply(context: .closing)
            if outbox.log.level <= .debug, reply.details.asked == nil {
                reply.details.asked = Asked(connection: outbox.connectionText(id))
            }
            connections.answer(problem, to: id, reply, &outbox)
        }
        connections[id].unfinished = nil
        exchange = Exchange(limits: outbox.configuration.httpLimits)
    }
}
