import BelfryCenter
import BelfryWire

// JSON-RPC calls of a client; all calls of one frame are one callout (rule Q10).

extension CenterHost {
    /// Performs the calls of one frame in their order, and answers them in one frame.
    ///
    /// - Returns: whether the next frame of the client can be read.
    mutating func performCalls(
        _ text: [UInt8], client: CallingClient, _ submission: Submission, _ outbox: inout Outbox
    ) -> Bool {
        let message = rpcReader.message(in: text.span)
        var frame = CallFrame(text: text, client: client, submission: submission)
        guard message.isBatch else {
            if let call = message.calls.first {
                switch perform(call, &frame, &outbox) {
                case .done(let sequel):
                    deliver(
                        Answer(contentType: .json, sequel: sequel), submission.reply, &outbox)
                case .later: break
                case .begun: return false
                }
            }
            // What the replay ring has for a new observer, and what was held for a client that goes
            // on, comes after its answer.
            fanOut(&outbox)
            return true
        }
        frame.batch = CallBatch(reply: submission.reply)
        frame.isAlone = message.calls.count == 1
        return perform(message.calls, of: &frame, from: 0, &outbox)
    }

    /// Goes on with the calls of a batch that was left to this turn.
    mutating func performBatch(_ frame: CallFrame, from place: Int, _ outbox: inout Outbox) {
        var frame = frame
        calloutDeliveryCount = frame.deliveryCount
        _ = perform(rpcReader.message(in: frame.text.span).calls, of: &frame, from: place, &outbox)
    }

    /// Performs the calls of a batch from one on.
    ///
    /// Behind a replay the rest is left to another turn when this one has had its time; where there is no
    /// room for it, it is refused.
    ///
    /// - Returns: whether the next frame of the client can be read.
    private mutating func perform(
        _ calls: [RPCCall], of frame: inout CallFrame, from start: Int, _ outbox: inout Outbox
    ) -> Bool {
        guard let batch = frame.batch else { return true }
        var sequel = Sequel.none
        var isBegun = false
        for place in start..<calls.count {
            if place > start {
                fanOut(&outbox)
                if frame.hasReplayed, !frame.isCut, !outbox.life.isStopping, outbox.turnIsFull {
                    frame.deliveryCount = calloutDeliveryCount
                    batch.wait(for: promises.awaitedTicket)
                    if postpone(frame, from: place, &outbox) { return false }
                    frame.isCut = true
                }
            }
            outbox.content.removeAll(keepingCapacity: true)
            switch perform(calls[place], &frame, &outbox) {
            case .done(let next):
                if case .client = next { sequel = next }
                batch.append(outbox.content)
            case .later: break
            case .begun: isBegun = true
            }
        }
        batch.end()
        batch.wait(for: promises.awaitedTicket)
        promises.awaitedTicket = 0
        if batch.isComplete {
            deliver(batch, sequel, &outbox)
        } else if !isBegun {
            outbox.letGoOn(batch.reply)
        }
        fanOut(&outbox)
        return !isBegun
    }

    /// Sends the answers of a batch, if the last of them is there.
    mutating func deliver(
        _ batch: CallBatch, _ sequel: Sequel, _ outbox: inout Outbox
    ) {
        guard batch.isComplete else { return }
        outbox.content.removeAll(keepingCapacity: outbox.content.capacity <= 1 << 20)
        batch.append(to: &outbox.content)
        promises.awaitedTicket = batch.ticket > promises.committedTicket ? batch.ticket : 0
        deliver(Answer(contentType: .json, sequel: sequel), batch.reply, &outbox)
    }

    /// Performs one call; its answer goes to the content of the outbox, which stays empty if there is none.
    private mutating func perform(
        _ call: RPCCall, _ frame: inout CallFrame, _ outbox: inout Outbox
    ) -> CallStep {
        switch call {
        case .response(let id, let content, let isError):
            acknowledge(id, error: isError ? content : nil, frame, &outbox)
        case .invalid(let id, let code, let detail):
            if let id { RPC.append(error: code, detail: detail, id: id, to: &outbox.content) }
        case .notification(let method, let params):
            guard let method = CallMethod(method) else { break }
            frame.call = nil
            return perform(method, params, &frame, &outbox)
        case .request(let id, let method, let params):
            guard let method = CallMethod(method) else {
                RPC.append(error: .methodNotFound, id: id, to: &outbox.content)
                break
            }
            frame.call = id
            return perform(method, params, &frame, &outbox)
        }
        return .done(.none)
    }

    /// Performs a method, and appends its result or why it is refused.
    private mutating func perform(
        _ method: CallMethod, _ params: Range<Int>?, _ frame: inout CallFrame,
        _ outbox: inout Outbox
    ) -> CallStep {
        frame.method = method
        do throws(Problem) {
            if outbox.life.isSealed { throw Problem.isStopping }
            if frame.isCut { throw Problem.tooManyReplays }
            if outbox.configuration.hasRates { try chargeCall(frame, &outbox) }
            if outbox.log.level == .trace { Self.tell(nil, frame, in: outbox.log) }
            beginResult(of: frame, &outbox)
            guard let ending = try carryOut(method, params, &frame, &outbox) else { return .begun }
            let batch = frame.batch
            return endResult(ending, of: &frame, batch?.appendMissing(), &outbox)
        } catch {
            refuse(error, frame, &outbox)
            return .done(.none)
        }
    }

    @inline(__always)
    func beginResult(of frame: CallFrame, _ outbox: inout Outbox) {
        if let id = frame.call { RPC.beginResult(id: id, to: &outbox.content) }
    }

    @inline(__always)
    private mutating func endResult(
        _ ending: Ending, of frame: inout CallFrame, _ place: @autoclosure () -> CallPlace?,
        _ outbox: inout Outbox
    ) -> CallStep {
        switch ending {
        case .answer(let answer):
            if frame.call == nil {
                // Nobody is told: a JSON-RPC notification has no answer (JSON-RPC 2.0 §4.1).
                outbox.content.removeAll(keepingCapacity: true)
            } else {
                RPC.endResult(to: &outbox.content)
            }
            guard case .client(let id, let session, _, _) = answer.sequel else {
                return .done(.none)
            }
            frame.client = CallingClient(number: id, session: session)
            return .done(answer.sequel)
        case .written: return .done(.none)
        case .waiting(let form):
            // A repetition of a post that is waited for waits with it, even if nobody is to be told.
            guard let id = frame.call else { return .done(.none) }
            park(frame.submission.reply, form, call: id, place: place(), &outbox)
            return .later
        case .later: return .later
        }
    }

    /// Appends why a call is refused, if it is answered.
    func refuse(_ problem: Problem, _ frame: CallFrame, _ outbox: inout Outbox) {
        outbox.noteRefusal(problem)
        if outbox.log.level <= .debug { Self.tell(problem, frame, in: outbox.log) }
        outbox.content.removeAll(keepingCapacity: true)
        if let id = frame.call { RPC.append(problem: problem, id: id, to: &outbox.content) }
    }

    /// A call has ended some turns after it began.
    mutating func finish(
        _ ending: Ending, of frame: CallFrame, _ place: CallPlace?, _ outbox: inout Outbox
    ) {
        var frame = frame
        guard case .done(let sequel) = endResult(ending, of: &frame, place, &outbox) else {
            return outbox.letGoOn(frame.submission.reply)
        }
        guard let place else {
            return deliver(
                Answer(contentType: .json, sequel: sequel), frame.submission.reply, &outbox)
        }
        place.batch.fill(place.number, with: outbox.content, ticket: promises.awaitedTicket)
        deliver(place.batch, sequel, &outbox)
    }

    /// Does what a call asks for.
    ///
    /// - Returns: nil where its command was not applied yet.
    private mutating func carryOut(
        _ method: CallMethod, _ params: Range<Int>?, _ frame: inout CallFrame,
        _ outbox: inout Outbox
    ) throws(Problem) -> Ending? {
        let text = frame.text
        let client = frame.client.number
        switch method {
        case .addObserver:
            let request = try requestReader.addObserver(params: params, in: text.span)
            if request.since != nil { frame.hasReplayed = true }
            return try carryOut(
                AddObserver(request, client: client, session: frame.client.session), frame, &outbox)
        case .removeObserver:
            switch try requestReader.removeObserver(params: params, in: text.span) {
            case .filter(let name, let object):
                let operation = RemoveObservers(client: client, name: name, object: object)
                return try carryOut(operation, frame, &outbox)
            case .token(let token):
                let secret = Secret(number: token.number, secret: token.secret)
                return try carryOut(
                    RemoveObserver(.token(secret, client: client)), frame, &outbox)
            case .observer(let serial):
                return try carryOut(RemoveObserver(.own(serial, client: client)), frame, &outbox)
            }
        case .post:
            let request = try requestReader.post(params: params, in: text.span)
            // Nobody waits for the answer to a JSON-RPC notification.
            let seconds = frame.call == nil ? 0 : request.waitSeconds
            let wishes = PostWishes(
                wait: seconds.map { Int64($0 * 1_000_000_000) },
                key: request.idempotencyKey.map { Self.key($0, params: params, in: text) })
            let form: ReceiptForm = request.reportsObservers ? .observers : []
            let operation = MakePost(
                request: request.post, wishes: wishes, form: form,
                isAmongOthers: frame.batch != nil && !frame.isAlone)
            return try carryOut(operation, frame, &outbox)
        case .dequeue:
            let request = try requestReader.dequeue(params: params, in: text.span)
            return try carryOut(Dequeue(request: request, isCall: true), frame, &outbox)
        case .setSuspended:
            let isSuspended = try requestReader.setSuspended(params: params, in: text.span)
            return try carryOut(
                SetSuspended(isSuspended: isSuspended, client: client, asker: .client), frame,
                &outbox)
        case .resume:
            let request = try requestReader.resume(params: params, in: text.span)
            guard frame.isAlone else {
                throw Problem(
                    .invalidFields,
                    "A resume is alone in its message: send other calls after its answer.")
            }
            return try carryOut(Resume(request, newcomer: client), frame, &outbox)
        case .observers:
            try boundLooks(of: frame.batch)
            let request = try requestReader.observers(params: params, in: text.span)
            return .answer(try look(.observers(request.query), frame.submission, &outbox))
        case .explain:
            try boundLooks(of: frame.batch)
            let request = try requestReader.explain(params: params, in: text.span)
            return .answer(try look(.explain(request), frame.submission, &outbox))
        case .enterMode:
            let request = try requestReader.enterMode(params: params, in: text.span)
            return try carryOut(EnterMode(request, client: client), frame, &outbox)
        case .leaveMode:
            let token = try requestReader.leaveMode(params: params, in: text.span)
            let secret = Secret(number: token.number, secret: token.secret)
            return try carryOut(LeaveMode(secret: secret, isCall: true), frame, &outbox)
        }
    }

    /// Begins what a call asks for, and ends it where its command was applied at once.
    private mutating func carryOut<Called: Operation>(
        _ operation: consuming Called, _ frame: CallFrame, _ outbox: inout Outbox
    ) throws(Problem) -> Ending? {
        try operation.begin(&self, frame.submission, &outbox)
        if applied.isUnspread { return try end(operation, frame.submission, &outbox) }
        keepCall(operation, frame)
        return nil
    }

    @inline(never)
    private mutating func keepCall(_ operation: some Operation, _ frame: CallFrame) {
        keep(operation, frame.submission, frame, frame.batch?.appendMissing())
    }

    /// Tells of a call: each at `trace` before it is performed, and one that is refused at `debug`.
    private static func tell(
        _ problem: Problem?, _ frame: CallFrame, in log: ServerLog
    ) {
        let client = "c\(frame.client.number)"
        if let problem {
            log.write(
                .debug, "a call was refused", ("method", frame.method.rawValue),
                ("type", problem.kind.slug), ("client", client))
        } else {
            log.write(.trace, "a call", ("method", frame.method.rawValue), ("client", client))
        }
    }
}

extension Problem {
    /// What is said of an observer that is not there, or that the caller may not know of.
    static let noObserver = Problem(.notFound, "There is no such observer.")
    /// What is said where so much was replayed that the rest of a batch cannot wait for its turn.
    static let tooManyReplays = Problem(
        .overloaded,
        "Too many batches wait for what the replay ring has; call this again, in smaller batches.")
    /// What is said of everything that is asked too late.
    static let isStopping = Problem(.draining, "The broker is stopping.")
}
