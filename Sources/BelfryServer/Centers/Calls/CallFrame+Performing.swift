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
    mutating func perform(_ host: inout CenterHost, _ outbox: inout Outbox) -> Bool {
        let message = host.rpcReader.message(in: text.span)
        isAlone = message.calls.count == 1
        guard message.isBatch else {
            if let call = message.calls.first {
                if mustWait(for: call, outbox), host.postponed.add(self, from: 0, &outbox) {
                    return false
                }
                switch perform(call, &host, &outbox) {
                case .done(let sequel):
                    host.promises.deliver(
                        Answer(contentType: .json, sequel: sequel), submission.reply, &outbox)
                case .later: break
                case .begun: return false
                }
            }
            // The replay for a new observer, and held deliveries of a resumed client, follow the
            // answer.
            host.fanOut(&outbox)
            return true
        }
        batch = CallBatch(reply: submission.reply)
        return perform(message.calls, from: 0, &host, &outbox)
    }

    /// Continues the calls of a batch that was left to this turn.
    mutating func goOn(from place: Int, _ host: inout CenterHost, _ outbox: inout Outbox) {
        host.deliveryBound = deliveryBound
        hasWaited = true
        guard batch != nil else {
            _ = perform(&host, &outbox)
            return
        }
        _ = perform(host.rpcReader.message(in: text.span).calls, from: place, &host, &outbox)
    }

    /// Performs the calls of a batch from one on.
    ///
    /// The rest is left to another turn when the time of this one is over. Where there is no room
    /// for it, it is performed at once; behind a replay it is refused.
    ///
    /// - Returns: whether the next frame of the client can be read.
    private mutating func perform(
        _ calls: [RPCCall], from start: Int, _ host: inout CenterHost, _ outbox: inout Outbox
    ) -> Bool {
        guard let batch else { return true }
        host.promises.batch = batch
        defer { host.promises.batch = nil }
        var sequel = Sequel.none
        var isBegun = false
        for place in start..<calls.count {  // Share: calls
            if place > start { host.fanOut(&outbox) }
            let mustWait =
                place > start
                ? outbox.turnIsFull && !outbox.life.isStopping : mustWait(for: calls[place], outbox)
            if mustWait, !isCut {
                deliveryBound = host.deliveryBound
                batch.wait(for: host.promises.awaitedTicket)
                if host.postponed.add(self, from: place, &outbox) { return false }
                isCut = hasReplayed
            }
            outbox.content.removeAll(keepingCapacity: true)
            switch perform(calls[place], &host, &outbox) {
            case .done(let next):
                if case .client = next { sequel = next }
                batch.append(outbox.content)
            case .later: batch.noteWaiting()
            case .begun: isBegun = true
            }
        }
        batch.end()
        batch.wait(for: host.promises.awaitedTicket)
        host.promises.awaitedTicket = 0
        if !batch.isComplete, !isBegun { outbox.letGoOn(batch.reply) }
        host.promises.deliver(batch, sequel, &outbox)
        host.fanOut(&outbox)
        return !isBegun
    }

    /// Whether the first call of a frame waits for a turn with room for its answer.
    private func mustWait(for call: RPCCall, _ outbox: borrowing Outbox) -> Bool {
        if hasWaited { return false }
        guard case .request(_, let name, _) = call, let method = CallMethod(name),
            method.mayAnswerMuch
        else { return false }
        return outbox.largeAnswersMustWait
    }

    /// Performs one call; the answer, if any, goes to the content of the outbox.
    private mutating func perform(
        _ call: RPCCall, _ host: inout CenterHost, _ outbox: inout Outbox
    ) -> CallStep {
        switch call {
        case .response(let id, let content, let isError):
            acknowledge(id, content, isError: isError, &host, &outbox)
        case .invalid(let id, let code, let detail):
            if let id { RPC.append(error: code, detail: detail, id: id, to: &outbox.content) }
        case .notification(let method, let params):
            guard let method = CallMethod(method) else { break }
            self.call = nil
            return perform(method, params, &host, &outbox)
        case .request(let id, let method, let params):
            guard let method = CallMethod(method) else {
                RPC.append(error: .methodNotFound, id: id, to: &outbox.content)
                break
            }
            self.call = id
            return perform(method, params, &host, &outbox)
        }
        return .done(.none)
    }

    /// Performs a method, and appends its result or its problem.
    private mutating func perform(
        _ method: CallMethod, _ params: Range<Int>?, _ host: inout CenterHost,
        _ outbox: inout Outbox
    ) -> CallStep {
        self.method = method
        do throws(Problem) {
            if outbox.life.isSealed { throw Problem.isStopping }
            if let problem = host.logProblem { throw problem }
            if isCut { throw Problem.tooManyReplays }
            if outbox.configuration.hasRates { try charge(&outbox) }
            if outbox.log.level == .trace { tell(nil, outbox.log) }
            beginResult(&outbox)
            guard let ending = try carryOut(method, params, &host, &outbox) else { return .begun }
            let batch = batch
            return endResult(ending, batch?.appendMissing(), &host, &outbox)
        } catch {
            refuse(error, &outbox)
            return .done(.none)
        }
    }

    @inline(__always)
    func beginResult(_ outbox: inout Outbox) {
        if let id = call { RPC.beginResult(id: id, to: &outbox.content) }
    }

    @inline(__always)
    private mutating func endResult(
        _ ending: Ending, _ place: @autoclosure () -> CallPlace?, _ host: inout CenterHost,
        _ outbox: inout Outbox
    ) -> CallStep {
        switch ending {
        case .answer(let answer):
            if call == nil {
                // A JSON-RPC notification has no answer (JSON-RPC 2.0 §4.1).
                outbox.content.removeAll(keepingCapacity: true)
            } else {
                RPC.endResult(to: &outbox.content)
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
                submission.reply, form, submission.sight, call: id, place: place(), &outbox)
            return .later
        case .later: return .later
        }
    }

    /// Appends the problem of a call, if the call is answered.
    func refuse(_ problem: Problem, _ outbox: inout Outbox) {
        outbox.noteRefusal(problem)
        if outbox.log.level <= .debug { tell(problem, outbox.log) }
        outbox.content.removeAll(keepingCapacity: true)
        if let id = call { RPC.append(problem: problem, id: id, to: &outbox.content) }
    }

    /// Finishes a call that has ended some turns after it began.
    mutating func finish(
        _ ending: Ending, _ place: CallPlace?, _ host: inout CenterHost, _ outbox: inout Outbox
    ) {
        guard case .done(let sequel) = endResult(ending, place, &host, &outbox) else {
            outbox.letGoOn(submission.reply)
            guard let batch else { return }
            batch.noteWaiting()
            return host.promises.deliver(batch, .none, &outbox)
        }
        guard let place else {
            return host.promises.deliver(
                Answer(contentType: .json, sequel: sequel), submission.reply, &outbox)
        }
        place.batch.fill(place.number, with: outbox.content, ticket: host.promises.awaitedTicket)
        host.promises.deliver(place.batch, sequel, &outbox)
    }

    /// Counts a call for its address and its caller.
    private func charge(_ outbox: inout Outbox) throws(Problem) {
        guard let address = submission.address else { return }
        let rates = outbox.shared.askers.rates
        do throws(RateTables.Refusal) {
            try rates.take(of: address, at: outbox.loop.now.nanoseconds)
            try rates.take(1, of: submission.caller, at: address, outbox.loop.now.nanoseconds)
        } catch {
            outbox.counters.rateRefused += 1
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
