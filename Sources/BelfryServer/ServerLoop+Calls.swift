import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWebSocket
import BelfryWire

// JSON-RPC calls of a client; all calls of one frame are one callout (rule Q10).

extension ServerLoop {
    /// Reads the calls of a text message, and performs them where the client's center lives.
    mutating func receiveCalls(_ id: ConnectionID) {
        guard connections.has(id) else { return }
        let text = reader.message
        submit(
            Submission(
                center: connections[id].center,
                request: .calls(
                    text: text,
                    CallingClient(
                        number: connections[id].client, session: connections[id].session)),
                caller: connections[id].caller ?? anonymous,
                reply: Reply(loop: number, connection: id, form: .webSocket),
                address: askerAddress(of: id, connections[id].address)))
    }

    /// Performs the calls of one frame in their order, and answers them in one frame.
    mutating func performCalls(_ text: [UInt8], client: CallingClient, _ submission: Submission) {
        let message = rpcReader.message(in: text.span)
        var frame = CallFrame(text: text, client: client, submission: submission)
        guard message.isBatch else {
            if let call = message.calls.first, let sequel = perform(call, &frame) {
                var answer = Answer.json
                answer.sequel = sequel
                deliver(answer, submission.reply)
            }
            // What the replay ring has for a new observer, and what was held for a client that goes
            // on, comes after its answer.
            fanOut()
            return
        }
        frame.batch = CallBatch(reply: submission.reply)
        frame.isAlone = message.calls.count == 1
        perform(message.calls, of: &frame, from: 0)
    }

    /// Goes on with the calls of a batch that was left to this turn.
    mutating func performBatch(_ frame: CallFrame, from place: Int) {
        var frame = frame
        calloutDeliveryCount = frame.deliveryCount
        perform(rpcReader.message(in: frame.text.span).calls, of: &frame, from: place)
    }

    /// Performs the calls of a batch from one on.
    ///
    /// Behind a replay the rest is left to another turn when this one has had its time; where there is no
    /// room for it, it is refused.
    private mutating func perform(
        _ calls: [RPCCall], of frame: inout CallFrame, from start: Int
    ) {
        guard let batch = frame.batch else { return }
        var sequel = Sequel.none
        for place in start..<calls.count {
            if place > start {
                fanOut()
                if frame.hasReplayed, !frame.isCut, !stop.isStopping, turnIsFull {
                    frame.deliveryCount = calloutDeliveryCount
                    batch.wait(for: promises.awaitedTicket)
                    if postpone(frame, from: place) { return }
                    frame.isCut = true
                }
            }
            answerContent.removeAll(keepingCapacity: true)
            guard let next = perform(calls[place], &frame) else { continue }
            if case .client = next { sequel = next }
            batch.append(answerContent)
        }
        batch.end()
        batch.wait(for: promises.awaitedTicket)
        promises.awaitedTicket = 0
        if batch.isComplete {
            deliver(batch, sequel)
        } else {
            letGoOn(batch.reply)
        }
        fanOut()
    }

    /// Sends the answers of a batch, if the last of them is there.
    mutating func deliver(_ batch: CallBatch, _ sequel: Sequel = .none) {
        guard batch.isComplete else { return }
        answerContent.removeAll(keepingCapacity: answerContent.capacity <= 1 << 20)
        batch.append(to: &answerContent)
        promises.awaitedTicket = batch.ticket > promises.committedTicket ? batch.ticket : 0
        var answer = Answer.json
        answer.sequel = sequel
        deliver(answer, batch.reply)
    }

    /// Performs one call; its answer goes to `answerContent`, which stays empty if there is none.
    ///
    /// - Returns: what becomes of the connection; nil when the answer comes later.
    private mutating func perform(_ call: RPCCall, _ frame: inout CallFrame) -> Sequel? {
        switch call {
        case .response(let id, let content, let isError):
            acknowledge(id, error: isError ? content : nil, frame)
        case .invalid(let id, let code, let detail):
            if let id { RPC.append(error: code, detail: detail, id: id, to: &answerContent) }
        case .notification(let method, let params):
            guard let method = Method(method) else { return Sequel.none }
            do throws(Problem) {
                if stop.isSealed || frame.isCut { return Sequel.none }
                if hasRates { try chargeCall(frame) }
                if log.level == .trace { tell(method, nil, frame) }
                frame.call = nil
                let sequel = try perform(method, params, &frame)
                answerContent.removeAll(keepingCapacity: true)
                return sequel
            } catch {
                // Nobody is told: a JSON-RPC notification has no answer (JSON-RPC 2.0 §4.1).
                noteRefusal(error)
                if log.level <= .debug { tell(method, error, frame) }
            }
            answerContent.removeAll(keepingCapacity: true)
        case .request(let id, let method, let params):
            guard let method = Method(method) else {
                RPC.append(error: .methodNotFound, id: id, to: &answerContent)
                return Sequel.none
            }
            do throws(Problem) {
                if stop.isSealed { throw Problem.isStopping }
                if frame.isCut { throw Problem.tooManyReplays }
                if hasRates { try chargeCall(frame) }
                if log.level == .trace { tell(method, nil, frame) }
                frame.call = id
                RPC.beginResult(id: id, to: &answerContent)
                guard let sequel = try perform(method, params, &frame) else { return nil }
                RPC.endResult(to: &answerContent)
                return sequel
            } catch {
                noteRefusal(error)
                if log.level <= .debug { tell(method, error, frame) }
                answerContent.removeAll(keepingCapacity: true)
                RPC.append(problem: error, id: id, to: &answerContent)
            }
        }
        return Sequel.none
    }

    /// What a client can call.
    enum Method: String, CaseIterable {
        case addObserver
        case removeObserver
        case post
        case dequeue
        case setSuspended
        case resume
        case observers
        case explain
        case enterMode
        case leaveMode

        init?(_ name: [UInt8]) {
            self.init(rawValue: String(decoding: name, as: UTF8.self))
        }
    }

    /// Performs a method, and appends its result; nil if the answer comes later.
    private mutating func perform(
        _ method: Method, _ params: Range<Int>?, _ frame: inout CallFrame
    ) throws(Problem) -> Sequel? {
        let submission = frame.submission
        let text = frame.text
        switch method {
        case .addObserver:
            let request = try requestReader.addObserver(params: params, in: text.span)
            if request.since != nil { frame.hasReplayed = true }
            let (row, token) = try register(request, client: frame.client.number, submission)
            Shape.append(
                registered: row, token: token, session: frame.client.session,
                center: submission.center, to: &answerContent)
        case .removeObserver:
            let request = try requestReader.removeObserver(params: params, in: text.span)
            let count = try remove(
                request, client: frame.client.number, center: submission.center)
            Shape.append(removedCount: count, to: &answerContent)
        case .post:
            return try post(params, frame)
        case .dequeue:
            let request = try requestReader.dequeue(params: params, in: text.span)
            let count = try dequeue(request, submission)
            Shape.append(removedCount: count, to: &answerContent)
        case .setSuspended:
            let isSuspended = try requestReader.setSuspended(params: params, in: text.span)
            try setSuspended(isSuspended, client: frame.client.number, submission)
            Shape.append(isSuspended: isSuspended, to: &answerContent)
        case .resume:
            let request = try requestReader.resume(params: params, in: text.span)
            return try resume(request, &frame)
        case .observers:
            try boundLooks(of: frame.batch)
            let request = try requestReader.observers(params: params, in: text.span)
            try list(.observers(request.query), submission)
        case .explain:
            try boundLooks(of: frame.batch)
            let request = try requestReader.explain(params: params, in: text.span)
            try list(.explain(request), submission)
        case .enterMode:
            let request = try requestReader.enterMode(params: params, in: text.span)
            try enterMode(request, client: frame.client.number, submission)
        case .leaveMode:
            let token = try requestReader.leaveMode(params: params, in: text.span)
            try leaveMode(Secret(number: token.number, secret: token.secret), submission)
            answerContent.append(contentsOf: "null".utf8)
        }
        return Sequel.none
    }

    private mutating func post(
        _ params: Range<Int>?, _ frame: CallFrame
    ) throws(Problem) -> Sequel? {
        let request = try requestReader.post(params: params, in: frame.text.span)
        let form: ReceiptForm = request.reportsObservers ? .observers : []
        // Nobody waits for the answer to a JSON-RPC notification.
        let seconds = frame.call == nil ? 0 : request.waitSeconds
        let wishes = PostWishes(
            wait: seconds.map { Int64($0 * 1_000_000_000) },
            key: request.idempotencyKey.map { Self.key($0, params: params, in: frame.text) })
        if frame.batch != nil, !frame.isAlone {
            try boundDeliveries(of: [request.post], center: frame.submission.center)
        }
        let command = try applyPost(request.post, wishes, form, frame.submission)
        fanOut()
        switch effects.outcome {
        case .waiting:
            // A repetition of a post that is waited for waits with it, even if nobody is to be told.
            guard let call = frame.call else { return Sequel.none }
            let place = frame.batch?.appendMissing()
            park(command, frame.submission.reply, form, call: call, place: place)
            return nil
        case .replayed(let form):
            appendReceipts(effects.receipts, effects.reports, ReceiptForm(rawValue: form))
        case .done, .registered, .removed, .resumed, .dequeued, .refused:
            appendReceipts(effects.receipts, effects.reports, form)
        }
        return Sequel.none
    }

    private mutating func list(
        _ request: CenterRequest, _ submission: Submission
    ) throws(Problem) {
        let listing = Submission(
            center: submission.center, request: request, caller: submission.caller,
            reply: submission.reply, address: submission.address)
        _ = try look(listing)
    }

    /// Removes what a client asks for: by token anybody's, otherwise its own.
    private mutating func remove(
        _ request: RemoveRequest, client: UInt64, center name: [UInt8]
    ) throws(Problem) -> Int {
        guard let position = centers.position(of: name) else { throw Problem.noObserver }
        let number: UInt64
        switch request {
        case .filter(let filterName, let object):
            submitCommand(
                .removeObservers(client: client, name: filterName, object: object), to: position)
            try checkOutcome()
            guard case .removed(let count) = effects.outcome else { return 0 }
            return count
        case .token(let token):
            number = token.number
            let row = centers[position].observer(number)
            let hash = row?.tokenHash ?? centers[position].tombstone(number)?.tokenHash
            guard let hash, let secret = token.secret, SecretHash(of: secret).matches(hash) else {
                throw Problem.noObserver
            }
        case .observer(let serial):
            number = serial
            guard centers[position].observer(number)?.client == client else {
                throw Problem.noObserver
            }
        }
        try removeObserver(number, by: .client(client), center: name)
        return 1
    }
}

/// The calls of one frame while they are performed.
struct CallFrame {
    let text: [UInt8]
    /// Who calls; `resume` makes it another client.
    var client: CallingClient
    let submission: Submission
    /// The batch that the calls belong to; nil for a call that stands for itself.
    var batch: CallBatch?
    /// Whether no other call is in the frame.
    var isAlone = true
    /// The id of the call that is performed; nil for one that is not answered.
    var call: [UInt8]?
    /// Whether a call has asked for what the replay ring has.
    var hasReplayed = false
    /// Whether there was no room to leave the calls that follow to another turn.
    var isCut = false
    /// How often its posts may be delivered, about, as far as it has come.
    var deliveryCount = 0
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
