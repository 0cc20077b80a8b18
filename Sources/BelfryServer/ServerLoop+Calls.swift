import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWebSocket
import BelfryWire

// JSON-RPC calls of a client; all calls of one frame are one callout (rule Q10).

extension ServerLoop {
    /// Reads the calls of a text message, and performs them where the client's center lives.
    mutating func receiveCalls(_ id: ConnectionID) {
        guard let connection = connection(id) else { return }
        let text = reader.message
        submit(
            Submission(
                center: connection.center,
                request: .calls(
                    text: text,
                    CallingClient(number: connection.client, session: connection.session)),
                caller: anonymous,
                reply: Reply(loop: number, connection: id, form: .webSocket)))
    }

    /// Performs the calls of one frame in their order, and answers them in one frame.
    mutating func performCalls(_ text: [UInt8], client: CallingClient, _ submission: Submission) {
        let message = rpcReader.message(in: text.span)
        guard message.isBatch else {
            if let call = message.calls.first {
                perform(call, in: text, client: client, submission)
                deliver(.json, submission.reply)
                // What the replay ring has for a new observer comes after its registration.
                fanOut()
            }
            return
        }
        var answers: [UInt8] = []
        for call in message.calls {
            answerContent.removeAll(keepingCapacity: true)
            perform(call, in: text, client: client, submission)
            fanOut()
            guard !answerContent.isEmpty else { continue }
            answers.append(UInt8(ascii: answers.isEmpty ? "[" : ","))
            answers.append(contentsOf: answerContent)
        }
        if !answers.isEmpty { answers.append(UInt8(ascii: "]")) }
        swap(&answers, &answerContent)
        deliver(.json, submission.reply)
    }

    /// Performs one call; its answer goes to `answerContent`, which stays empty if there is none.
    private mutating func perform(
        _ call: RPCCall, in text: [UInt8], client: CallingClient, _ submission: Submission
    ) {
        switch call {
        case .response:
            break  // Clients are asked nothing yet; a response with an unknown id is ignored.
        case .invalid(let id, let code, let detail):
            if let id { RPC.append(error: code, detail: detail, id: id, to: &answerContent) }
        case .notification(let method, let params):
            do throws(Problem) {
                guard let method = Method(method) else { return }
                try perform(method, params, in: text, client: client, submission)
            } catch {
                // Nobody is told: a JSON-RPC notification has no answer (JSON-RPC 2.0 §4.1).
                counters.requestsRefused += 1
            }
            answerContent.removeAll(keepingCapacity: true)
        case .request(let id, let method, let params):
            guard let method = Method(method) else {
                RPC.append(error: .methodNotFound, id: id, to: &answerContent)
                return
            }
            do throws(Problem) {
                RPC.beginResult(id: id, to: &answerContent)
                try perform(method, params, in: text, client: client, submission)
                RPC.endResult(to: &answerContent)
            } catch {
                counters.requestsRefused += 1
                answerContent.removeAll(keepingCapacity: true)
                RPC.append(problem: error, id: id, to: &answerContent)
            }
        }
    }

    /// What a client can call.
    enum Method: String, CaseIterable {
        case addObserver
        case removeObserver
        case post
        case observers
        case explain

        init?(_ name: [UInt8]) {
            self.init(rawValue: String(decoding: name, as: UTF8.self))
        }
    }

    /// Performs a method, and appends its result.
    private mutating func perform(
        _ method: Method, _ params: Range<Int>?, in text: [UInt8], client: CallingClient,
        _ submission: Submission
    ) throws(Problem) {
        switch method {
        case .addObserver:
            let request = try requestReader.addObserver(params: params, in: text.span)
            let (row, token) = try register(request, client: client.number, submission)
            Shape.append(
                registered: row, token: token, session: client.session, center: submission.center,
                to: &answerContent)
        case .removeObserver:
            let request = try requestReader.removeObserver(params: params, in: text.span)
            let count = try remove(request, client: client.number, center: submission.center)
            Shape.append(removedCount: count, to: &answerContent)
        case .post:
            let request = try requestReader.post(params: params, in: text.span)
            try applyPost(request.post, caller: submission.caller, center: submission.center)
            fanOut()
            appendReceipts(isBatch: false, reportsObservers: request.reportsObservers)
        case .observers:
            let request = try requestReader.observers(params: params, in: text.span)
            try list(.observers(query(of: request.query, state: request.state)), submission)
        case .explain:
            let request = try requestReader.explain(params: params, in: text.span)
            try list(.explain(name: request.name, object: request.object), submission)
        }
    }

    private mutating func list(
        _ request: CenterRequest, _ submission: Submission
    ) throws(Problem) {
        let listing = Submission(
            center: submission.center, request: request, caller: submission.caller,
            reply: submission.reply)
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

extension Problem {
    /// What is said of an observer that is not there, or that the caller may not know of.
    static let noObserver = Problem(.notFound, "There is no such observer.")
}
