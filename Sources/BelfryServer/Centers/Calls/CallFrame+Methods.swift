import BelfryCenter
import BelfryWire

// The methods and their operations.

extension CallFrame {
    /// Performs the method of a call.
    ///
    /// - Returns: nil where its command is not applied yet.
    mutating func carryOut(
        _ method: CallMethod, _ params: Range<Int>?, _ answer: inout Answer,
        _ host: inout CenterHost, _ context: inout LoopContext
    ) throws(Problem) -> Ending? {
        let reader = host.requestReader
        let client = client.number
        switch method {
        case .addObserver:
            let request = try reader.addObserver(params: params, in: text.span)
            if request.since != nil { hasReplayed = true }
            return try carryOut(
                AddObserver(
                    request, client: client, session: self.client.session,
                    isAmongOthers: batch != nil && !isAlone), &answer, &host, &context)
        case .removeObserver: return try removeObserver(params, reader, &answer, &host, &context)
        case .post: return try post(params, reader, &answer, &host, &context)
        case .ask:
            let request = try reader.ask(params: params, in: text.span)
            return try carryOut(
                MakeAsk(request, wishes(of: request, params), client: client), &answer, &host,
                &context)
        case .withdraw:
            let id = try reader.withdraw(params: params, in: text.span)
            return try carryOut(WithdrawAsk(id: id, isCall: true), &answer, &host, &context)
        case .setValue:
            let request = try reader.setValue(params: params, in: text.span)
            return try carryOut(
                WriteValue(request: request, client: client), &answer, &host, &context)
        case .mergeValue:
            let request = try reader.mergeValue(params: params, in: text.span)
            return try carryOut(
                WriteValue(request: request, client: client), &answer, &host, &context)
        case .removeValue:
            let request = try reader.removeValue(params: params, in: text.span)
            return try carryOut(
                WriteValue(request: request, client: client), &answer, &host, &context)
        case .value: return try value(params, reader, &answer, &host, &context)
        case .dequeue:
            let request = try reader.dequeue(params: params, in: text.span)
            return try carryOut(Dequeue(request: request, isCall: true), &answer, &host, &context)
        case .setSuspended:
            let isSuspended = try reader.setSuspended(params: params, in: text.span)
            return try carryOut(
                SetSuspended(isSuspended: isSuspended, client: client, asker: .client), &answer,
                &host, &context)
        case .resume: return try resume(params, reader, &answer, &host, &context)
        case .observers:
            try batch?.boundLooks()
            let request = try reader.observers(params: params, in: text.span)
            try host.look(
                .listing(.observers(request.query)), &answer, submission, &context)
            return .answered
        case .explain:
            try batch?.boundLooks()
            let request = try reader.explain(params: params, in: text.span)
            try host.look(.listing(.explain(request)), &answer, submission, &context)
            return .answered
        case .enterMode:
            let request = try reader.enterMode(params: params, in: text.span)
            return try carryOut(EnterMode(request, client: client), &answer, &host, &context)
        case .leaveMode:
            let token = try reader.leaveMode(params: params, in: text.span)
            let secret = Secret(number: token.number, secret: token.secret)
            return try carryOut(LeaveMode(secret: secret, isCall: true), &answer, &host, &context)
        case .ping:
            try reader.ping(params: params, in: text.span)
            answer.content.append(contentsOf: "{}".utf8)
            return .answered
        }
    }

    /// Posts a notification.
    @inline(__always)
    private mutating func post(
        _ params: Range<Int>?, _ reader: RequestReader, _ answer: inout Answer,
        _ host: inout CenterHost, _ context: inout LoopContext
    ) throws(Problem) -> Ending? {
        let request = try reader.post(params: params, in: text.span)
        // A JSON-RPC notification has no answer to wait for.
        let seconds = call == nil ? 0 : request.waitSeconds
        let wishes = PostWishes(
            wait: seconds.map { Int64($0 * 1_000_000_000) },
            key: request.idempotencyKey.map { key($0, of: .post, params: params) })
        let form: ReceiptForm = request.reportsObservers ? .observers : []
        let operation = MakePost(
            request: request.post, wishes: wishes, form: form,
            isAmongOthers: batch != nil && !isAlone, client: client.number)
        return try carryOut(operation, &answer, &host, &context)
    }

    /// Removes observers by a filter, or one by its token or its id.
    private mutating func removeObserver(
        _ params: Range<Int>?, _ reader: RequestReader, _ answer: inout Answer,
        _ host: inout CenterHost, _ context: inout LoopContext
    ) throws(Problem) -> Ending? {
        let client = client.number
        switch try reader.removeObserver(params: params, in: text.span) {
        case .filter(let filter):
            let operation = RemoveObservers(client: client, filter: filter)
            return try carryOut(operation, &answer, &host, &context)
        case .token(let token):
            let secret = Secret(number: token.number, secret: token.secret)
            return try carryOut(
                RemoveObserver(.token(secret, client: client)), &answer, &host, &context)
        case .observer(let serial):
            return try carryOut(
                RemoveObserver(.own(serial, client: client)), &answer, &host, &context)
        }
    }

    /// Reads a value, and answers with it at once.
    private mutating func value(
        _ params: Range<Int>?, _ reader: RequestReader, _ answer: inout Answer,
        _ host: inout CenterHost, _ context: inout LoopContext
    ) throws(Problem) -> Ending? {
        try batch?.boundLooks()
        let place = try reader.valuePlace(params: params, in: text.span)
        let present = try host.presentValue(at: place, for: &answer, submission).present
        Shape.append(value: present, to: &answer.content)
        return .answered
    }

    /// Resumes a session, in a message of its own.
    private mutating func resume(
        _ params: Range<Int>?, _ reader: RequestReader, _ answer: inout Answer,
        _ host: inout CenterHost, _ context: inout LoopContext
    ) throws(Problem) -> Ending? {
        let request = try reader.resume(params: params, in: text.span)
        guard isAlone else {
            throw Problem(
                .invalidFields,
                "A resume must be alone in its message; send other calls after its answer.")
        }
        return try carryOut(Resume(request, newcomer: client.number), &answer, &host, &context)
    }

    /// Begins the operation of a call, and ends it where its command was applied at once.
    private mutating func carryOut<Called: Operation>(
        _ operation: consuming Called, _ answer: inout Answer, _ host: inout CenterHost,
        _ context: inout LoopContext
    ) throws(Problem) -> Ending? {
        do throws(Problem) {
            try operation.begin(&host, submission, &context)
            if host.applied.isUnspread {
                return try host.end(operation, &answer, submission, &context)
            }
        } catch {
            guard host.mayBeBehind(error) else { throw error }
            host.awaitLog(&context)
        }
        keep(operation, &host)
        return nil
    }

    @inline(never)
    private func keep(_ operation: some Operation, _ host: inout CenterHost) {
        host.keep(operation, submission, self, batch?.appendMissing())
    }

    /// The preferences of an ask by a call; with `ttl` the ask outlives the wait.
    private func wishes(of request: AskRequest, _ params: Range<Int>?) -> AskWishes {
        AskWishes(
            wait: request.waitSeconds.map { Int64($0 * 1_000_000_000) },
            outlivesAsker: request.timeToLive != nil,
            key: request.idempotencyKey.map { key($0, of: .ask, params: params) })
    }

    /// The idempotency key of a call: its params are the request.
    private func key(_ key: [UInt8], of method: CallMethod, params: Range<Int>?) -> (
        text: [UInt8], requestHash: SecretHash
    ) {
        let request = Array("\(method.rawValue)\n".utf8) + text[params ?? 0..<0]
        return (key, SecretHash(of: request))
    }

    /// Takes a response as the answer to a delivery; one with an unknown id is ignored.
    func acknowledge(
        _ id: [UInt8], _ content: Range<Int>, isError: Bool, dataStart: Int,
        _ host: inout CenterHost, _ context: inout LoopContext
    ) {
        guard let delivery = RPC.delivery(ofID: id.span),
            let position = host.centers.position(of: submission.center)
        else { return }
        let response = host.requestReader.response(
            content: content, isError: isError, dataStart: dataStart,
            byteRoom: host.kept.askByteRoom(context), in: text.span)
        // A lost acknowledgement only causes a redelivery: it need not wait for the store.
        host.tell(
            .acknowledge(client: client.number, delivery, response.known(in: host.centers)),
            to: position, &context)
    }
}
