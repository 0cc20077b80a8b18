import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire

// The calls of one frame are performed in order, in one callout (rule Q10), and answered in one
// frame.

extension CallFrame {
    /// Performs all calls.
    ///
    /// - Returns: whether the next frame of the client can be read.
    mutating func perform(_ host: inout CenterHost, _ context: inout LoopContext) -> Bool {
        let message = host.rpcReader.message(in: text.span)
        isAlone = message.calls.count == 1
        guard message.isBatch else {
            if let call = message.calls.first {
                if mustWait(for: call, context), host.postponed.add(self, from: 0, &context) {
                    return false
                }
                var answer = context.outbox.answers.make()
                switch perform(call, &answer, &host, &context) {
                case .done(let sequel):
                    answer.sequel = sequel
                    host.promises.deliver(answer, submission.reply, &context)
                case .later: context.outbox.answers.reclaim(answer)
                case .begun:
                    context.outbox.answers.reclaim(answer)
                    return false
                }
            }
            // The replay for a new observer, and held deliveries of a resumed client, follow the
            // answer.
            host.fanOut(&context)
            return true
        }
        batch = CallBatch(reply: submission.reply)
        return perform(message.calls, from: 0, &host, &context)
    }

    /// Continues the calls of a batch that was left to this turn.
    mutating func goOn(from place: Int, _ host: inout CenterHost, _ context: inout LoopContext) {
        host.deliveryBound = deliveryBound
        hasWaited = true
        guard batch != nil else {
            _ = perform(&host, &context)
            return
        }
        _ = perform(host.rpcReader.message(in: text.span).calls, from: place, &host, &context)
    }

    /// Performs the calls of a batch from one on.
    ///
    /// The rest is left to another turn when the time of this one is over. Where there is no room
    /// for it, it is performed at once; behind a replay it is refused.
    ///
    /// - Returns: whether the next frame of the client can be read.
    private mutating func perform(
        _ calls: [RPCCall], from start: Int, _ host: inout CenterHost, _ context: inout LoopContext
    ) -> Bool {
        guard let batch else { return true }
        host.promises.batch = batch
        defer { host.promises.batch = nil }
        var sequel = Sequel.none
        var isBegun = false
        for place in start..<calls.count {  // Share: calls
            if place > start { host.fanOut(&context) }
            let mustWait =
                place > start
                ? context.turnIsFull && !context.life.isStopping
                : mustWait(for: calls[place], context)
            if mustWait, !isCut {
                deliveryBound = host.deliveryBound
                if host.postponed.add(self, from: place, &context) { return false }
                isCut = hasReplayed
            }
            var answer = context.outbox.answers.make()
            switch perform(calls[place], &answer, &host, &context) {
            case .done(let next):
                if case .client = next { sequel = next }
                batch.append(answer)
            case .later: batch.noteWaiting()
            case .begun: isBegun = true
            }
            context.outbox.answers.reclaim(answer)
        }
        batch.end()
        if !batch.isComplete, !isBegun { context.letGoOn(batch.reply) }
        host.promises.deliver(batch, sequel, &context)
        host.fanOut(&context)
        return !isBegun
    }

    /// Whether the first call of a frame waits for a turn with room for its answer.
    private func mustWait(for call: RPCCall, _ context: borrowing LoopContext) -> Bool {
        if hasWaited { return false }
        guard case .request(_, let name, _) = call, let method = CallMethod(name),
            method.mayAnswerMuch
        else { return false }
        return context.largeAnswersMustWait
    }

    /// Performs one call, and fills its answer, if it has one.
    private mutating func perform(
        _ call: RPCCall, _ answer: inout Answer, _ host: inout CenterHost,
        _ context: inout LoopContext
    ) -> CallStep {
        switch call {
        case .response(let id, let content, let isError, let dataStart):
            acknowledge(id, content, isError: isError, dataStart: dataStart, &host, &context)
        case .invalid(let id, let code, let detail):
            if let id { RPC.append(error: code, detail: detail, id: id, to: &answer.content) }
        case .notification(let method, let params):
            guard let method = CallMethod(method) else { break }
            self.call = nil
            return perform(method, params, &answer, &host, &context)
        case .request(let id, let method, let params):
            guard let method = CallMethod(method) else {
                RPC.append(error: .methodNotFound, id: id, to: &answer.content)
                break
            }
            self.call = id
            return perform(method, params, &answer, &host, &context)
        }
        return .done(.none)
    }

    /// Performs a method, and appends its result or its problem.
    private mutating func perform(
        _ method: CallMethod, _ params: Range<Int>?, _ answer: inout Answer,
        _ host: inout CenterHost, _ context: inout LoopContext
    ) -> CallStep {
        self.method = method
        do throws(Problem) {
            if context.life.isSealed { throw Problem.isStopping }
            if let problem = host.logProblem { throw problem }
            if isCut { throw Problem.tooManyReplays }
            if context.configuration.hasRates { try charge(&context) }
            if context.log.level == .trace { tell(nil, context.log) }
            beginResult(in: &answer)
            guard let ending = try carryOut(method, params, &answer, &host, &context) else {
                return .begun
            }
            let batch = batch
            return endResult(ending, &answer, batch?.appendMissing(), &host, &context)
        } catch {
            refuse(error, in: &answer, &context)
            return .done(.none)
        }
    }

    @inline(__always)
    func beginResult(in answer: inout Answer) {
        if let id = call { RPC.beginResult(id: id, to: &answer.content) }
    }

    @inline(__always)
    private mutating func endResult(
        _ ending: Ending, _ answer: inout Answer, _ place: @autoclosure () -> CallPlace?,
        _ host: inout CenterHost, _ context: inout LoopContext
    ) -> CallStep {
        switch ending {
        case .answered:
            if call == nil {
                // A JSON-RPC notification has no answer (JSON-RPC 2.0 §4.1).
                answer.content.removeAll(keepingCapacity: true)
            } else {
                RPC.endResult(to: &answer.content)
            }
            guard case .client(let id, let session, _, _) = answer.sequel else {
                return .done(.none)
            }
            client = CallingClient(number: id, session: session)
            return .done(answer.sequel)
        case .written: return .done(.none)
        case .waiting(let form):
            // A repetition waits with the first call, even if it has no answer.
            guard let id = call else { return .done(.none) }
            host.park(
                submission.reply, form, submission.sight, after: answer.ticket, call: id,
                place: place(), &context)
            return .later
        case .later: return .later
        }
    }

    /// Appends the problem of a call, if the call is answered.
    func refuse(_ problem: Problem, in answer: inout Answer, _ context: inout LoopContext) {
        context.noteRefusal(problem)
        if context.log.level <= .debug { tell(problem, context.log) }
        answer.content.removeAll(keepingCapacity: true)
        if let id = call { RPC.append(problem: problem, id: id, to: &answer.content) }
    }

    /// Finishes a call that has ended some turns after it began.
    mutating func finish(
        _ ending: Ending, _ answer: consuming Answer, _ place: CallPlace?,
        _ host: inout CenterHost, _ context: inout LoopContext
    ) {
        guard case .done(let sequel) = endResult(ending, &answer, place, &host, &context) else {
            context.outbox.answers.reclaim(answer)
            context.letGoOn(submission.reply)
            guard let batch else { return }
            batch.noteWaiting()
            return host.promises.deliver(batch, .none, &context)
        }
        guard let place else {
            answer.sequel = sequel
            return host.promises.deliver(answer, submission.reply, &context)
        }
        place.batch.fill(place.number, with: answer)
        context.outbox.answers.reclaim(answer)
        host.promises.deliver(place.batch, sequel, &context)
    }

    /// Counts a call for its address and its caller.
    private func charge(_ context: inout LoopContext) throws(Problem) {
        guard let address = submission.address else { return }
        let rates = context.shared.askers.rates
        do throws(RateTables.Refusal) {
            try rates.take(of: address, at: context.loop.now.nanoseconds)
            try rates.take(1, of: submission.caller, at: address, context.loop.now.nanoseconds)
        } catch {
            context.counters.rateRefused += 1
            throw error.problem
        }
    }

    /// Logs a call: at `trace` before it is performed, and at `debug` when it is refused.
    private func tell(_ problem: Problem?, _ log: ServerLog) {
        let client = "c\(client.number)"
        if let problem {
            log.write(
                .debug, "a call was refused", ("method", method.rawValue),
                ("type", problem.kind.slug), ("client", client))
        } else {
            log.write(.trace, "a call", ("method", method.rawValue), ("client", client))
        }
    }
}

extension Problem {
    /// The problem for the rest of a batch when too many batches wait behind a replay.
    static let tooManyReplays = Problem(
        .overloaded,
        "Too many batches wait for a replay; send this call again, in a smaller batch.")
    /// The problem of every request while the broker is stopping.
    static let isStopping = Problem(.draining, "The broker is shutting down; try again later.")
}
