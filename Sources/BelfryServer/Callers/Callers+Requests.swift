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
        _ pass: inout ReadingPass, _ bytes: Span<UInt8>, _ context: inout LoopContext
    ) -> CallerStep? {
        let id = pass.id
        do throws(HTTPError) {
            while true {
                if pass.hasAsked {
                    pass.hasAsked = false
                    exchange.contentRange = nil
                    guard readsOn(pass, bytes, &context) else { return nil }
                }
                guard let event = try exchange.parser.nextEvent(in: bytes, at: &pass.cursor)
                else { break }
                switch event {
                case .head:
                    exchange.isInContent = true
                    beginRequest(id, restByteCount: bytes.count - pass.cursor, &context)
                    if exchange.droppedByteCount != nil, connections.kind(of: id) == nil {
                        exchange.restart(limits: context.configuration.httpLimits)
                        return nil
                    }
                case .body(let range) where exchange.droppedByteCount != nil:
                    exchange.droppedByteCount? += range.count
                    if exchange.hasDroppedTooMuch {
                        connections.closeSoon(id, &context)
                        exchange.restart(limits: context.configuration.httpLimits)
                        return nil
                    }
                case .body(let range):
                    exchange.addContent(range, of: bytes)
                case .end:
                    exchange.isInContent = false
                    pass.beginsRequest = true
                    pass.hasAsked = true
                    if exchange.droppedByteCount != nil { continue }
                    if let step = finishRequest(id, bytes, &context) { return step }
                }
            }
        } catch {
            context.counters.requests += 1
            refuseRequest(id, Problem(error), of: exchange, &context)
            return nil
        }
        keepUnfinished(id, bytes, beginsRequest: pass.beginsRequest, &context)
        return nil
    }

    /// Whether the bytes behind a request are read in this pass.
    @inline(__always)
    private mutating func readsOn(
        _ pass: ReadingPass, _ bytes: Span<UInt8>, _ context: inout LoopContext
    ) -> Bool {
        let id = pass.id
        if pass.hasEnough(of: bytes.count, &context) {
            connections.throttle(id, &context)
        }
        guard connections.takesRequests(id) || maySpeakOn(id, bytes, pass.cursor, &context) else {
            return false
        }
        if pass.cursor < bytes.count { return true }
        awaitRequest(id, &context)
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
    private mutating func awaitRequest(_ id: ConnectionID, _ context: inout LoopContext) {
        connections.dropUnfinished(id)
        connections.setDeadline(id, .idle, &context)
    }

    /// Whether the next request can be read; if not, the rest of the bytes is kept or passed on.
    private mutating func maySpeakOn(
        _ id: ConnectionID, _ bytes: Span<UInt8>, _ cursor: Int, _ context: inout LoopContext
    ) -> Bool {
        guard let kind = connections.kind(of: id) else {
            exchange.restart(limits: context.configuration.httpLimits)
            return false
        }
        let rest = bytes.extracting(cursor..<bytes.count)
        if connections[id].reading.state != .open, kind == .http {
            exchange.restart(limits: context.configuration.httpLimits)
            if !rest.isEmpty { keepWaiting(id, rest, &context) }
            return false
        }
        if kind != .http {
            exchange.restart(limits: context.configuration.httpLimits)
            connections.dropUnfinished(id)
            if !rest.isEmpty {
                keepWaiting(id, rest, &context)
                connections.readOn(id, &context)
            }
            return false
        }
        return true
    }

    /// Keeps a request that has not fully arrived in its connection.
    private mutating func keepUnfinished(
        _ id: ConnectionID, _ bytes: Span<UInt8>, beginsRequest: Bool, _ context: inout LoopContext
    ) {
        guard connections.has(id) else {
            return exchange.restart(limits: context.configuration.httpLimits)
        }
        if exchange.parser.isBetweenRequests { return awaitRequest(id, &context) }
        // The head's time runs from its first byte, or from the empty lines before it: more bytes
        // do not lengthen it. The time of the content was set with the end of the head.
        let hasHeadTime = connections[id].deadline == .head && !exchange.parser.hasBegunRequest
        if beginsRequest, !exchange.isInContent, !hasHeadTime {
            connections.setDeadline(id, .head, &context)
        }
        exchange.keepContent(of: bytes)
        exchange.forgetLast()
        connections.unfinished(of: id).exchange = exchange
        exchange = Exchange(limits: context.configuration.httpLimits)
        countUnfinished(of: id, &context)
    }

    /// Begins a request whose head is read: checks its route and permission, and asks for content.
    private mutating func beginRequest(
        _ id: ConnectionID, restByteCount: Int, _ context: inout LoopContext
    ) {
        context.counters.requests += 1
        // Another connection may have sent this head: locality is decided for each.
        let isJudged = !context.anonymous.differ || connections.hasOwnNeighbor(id)
        let isDecided = exchange.begin(mayRepeat: isJudged && !context.life.takesNothing)
        exchange.isSecure = entrance.isSecure(id)
        if context.life.takesNothing { exchange.reply.context.keepsAlive = false }
        if isDecided {
            exchange.parser.bodyByteLimit = context.configuration.bodyByteLimit
        } else {
            if gate.policies.needsOrigin { findOrigin(of: id, &context) }
            do throws(Problem) {
                try gate.check(&exchange, from: id, &connections[id].neighbor, &context)
            } catch {
                exchange.refusal = error
            }
            if exchange.caller != nil { seatCaller(on: id, &context) }
        }
        if context.log.level <= .debug { exchange.noteAsked(on: context.connectionText(id)) }
        guard exchange.parser.head.hasContent else { return }
        let byteCount = exchange.parser.head.contentLength ?? .max
        let isTooLarge = byteCount < .max && byteCount > exchange.parser.bodyByteLimit
        if isTooLarge, exchange.refusal == nil {
            exchange.refusal = Problem(.bodyTooLarge(limit: exchange.parser.bodyByteLimit))
        }
        // Content that is complete needs no deadline.
        let isMissing = byteCount > restByteCount
        if isMissing { connections.setDeadline(id, .body, &context) }
        let isExpecting = exchange.parser.head.expectation == .continue
        if exchange.refusal != nil {
            if isMissing || isExpecting || isTooLarge {
                refuseAhead(id, mayGoOn: !isExpecting && !isTooLarge, &context)
            }
        } else if isExpecting {
            let start = context.loop.output.count
            ResponseWriter.appendContinue(to: &context.loop.output)
            context.loop.send(start..<context.loop.output.count, to: id, as: .answer)
        }
    }

    /// Answers a refusal by the head before the content has come (RFC 9110 §10.1.1, RFC 9112 §9.6).
    ///
    /// The connection continues behind content that is small, or may be. Otherwise it closes: a
    /// client that waits for 100 may or may not send its content, and much of it would be read for
    /// nothing.
    private mutating func refuseAhead(
        _ id: ConnectionID, mayGoOn: Bool, _ context: inout LoopContext
    ) {
        guard let refusal = exchange.refusal else { return }
        let byteCount = exchange.parser.head.contentLength ?? 0
        if !mayGoOn || byteCount > Exchange.dropByteLimit {
            exchange.reply.context.keepsAlive = false
        }
        connections.answer(
            refusal, fields: exchange.refusalFields, to: id, exchange.reply, &context)
        exchange.droppedByteCount = 0
    }

    /// Finds the source of a request, and notes it for its connection.
    private mutating func findOrigin(of id: ConnectionID, _ context: inout LoopContext) {
        gate.findOrigin(of: id, &exchange, &context)
        if let origin = exchange.origin { connections[id].address = origin.address }
    }

    /// Counts the connection for the principal; one without a free seat is refused.
    mutating func seatCaller(on id: ConnectionID, _ context: inout LoopContext) {
        guard exchange.refusal == nil, let caller = exchange.caller else { return }
        do throws(Problem) {
            try takeSeat(of: caller, on: id, &context)
        } catch {
            exchange.refusal = error
        }
    }

    /// Finishes a request whose content is read: answers it, or hands it out.
    mutating func finishRequest(
        _ id: ConnectionID, _ bytes: Span<UInt8>, _ context: inout LoopContext
    ) -> CallerStep? {
        if context.life.takesNothing { exchange.reply.context.keepsAlive = false }
        if let refusal = exchange.refusal {
            connections.answer(
                refusal, fields: exchange.refusalFields, to: id, exchange.reply, &context)
            return nil
        }
        if exchange.unverified != nil { return awaitVerdict(id, bytes, &context) }
        if let range = exchange.contentRange {
            return handleRequest(content: bytes.extracting(range), from: id, &context)
        }
        var content: [UInt8] = []
        swap(&content, &exchange.content)
        defer { swap(&content, &exchange.content) }
        return handleRequest(content: content.span, from: id, &context)
    }

    private mutating func handleRequest(
        content: Span<UInt8>, from id: ConnectionID, _ context: inout LoopContext
    ) -> CallerStep? {
        if let template = exchange.template {
            if !gate.policies.hasRates, isUsual(template.options, &context),
                let post = requestReader.content(of: template, body: content)
            {
                return .post(post, template.options)
            }
            // Something about it is unusual, or wrong: the long path finds out what.
            exchange.findPathLate(hasDebugEndpoints: context.configuration.hasDebugEndpoints)
        }
        guard let path = exchange.path else {
            preconditionFailure("a request that is not refused has a path")
        }
        // Among methods without a route, only OPTIONS is not refused.
        guard let entry = path.entry else {
            answerOptions(path.place, to: id, &context)
            return nil
        }
        return handle(entry, path, content: content, from: id, &context)
    }

    /// Refuses a request that cannot be read on, and closes its connection.
    ///
    /// A request that was answered gets no other answer.
    ///
    /// - Parameter begun: the part of it that was read; nil without one.
    mutating func refuseRequest(
        _ id: ConnectionID, _ problem: Problem, of begun: Exchange?, _ context: inout LoopContext
    ) {
        if let begun, begun.droppedByteCount != nil {
            connections.closeSoon(id, &context)
        } else {
            var reply =
                begun?.lastReply(gate.policies.origin) ?? HTTPReply(context: .closing)
            if context.log.level <= .debug, reply.details.asked == nil {
                reply.details.asked = Asked(connection: context.connectionText(id))
            }
            connections.answer(problem, to: id, reply, &context)
        }
        connections[id].unfinished = nil
        exchange = Exchange(limits: context.configuration.httpLimits)
    }
}
