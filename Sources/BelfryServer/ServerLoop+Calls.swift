import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWire

// JSON-RPC calls of a client; all calls of one frame are one callout (rule Q10).

extension ServerLoop {
    /// Reads the calls of a text message, and performs them where the client's center lives.
    mutating func receiveCalls(_ id: ConnectionID) {
        guard let connection = connection(id) else { return }
        let message = RPCReader.read(reader.message)
        submit(
            Submission(
                center: connection.center, request: .rpc(message, client: connection.client),
                caller: anonymous,
                reply: Reply(loop: number, connection: id, form: .webSocket)))
    }

    /// Performs the calls of one frame in their order, and answers them in one frame.
    mutating func performCalls(_ message: RPCMessage, client: UInt64, _ submission: Submission) {
        var answers: [UInt8] = []
        var answerCount = 0
        for call in message.calls {
            answerContent.removeAll(keepingCapacity: true)
            perform(call, client: client, submission)
            guard !answerContent.isEmpty else { continue }
            if message.isBatch { answers.append(UInt8(ascii: answerCount == 0 ? "[" : ",")) }
            answers.append(contentsOf: answerContent)
            answerCount += 1
            // What follows a registration comes after its answer.
            if !message.isBatch {
                deliver(.json, submission.reply)
                fanOutReplay(call)
                return
            }
            fanOutReplay(call)
        }
        if answerCount > 0 { answers.append(UInt8(ascii: "]")) }
        swap(&answers, &answerContent)
        deliver(.json, submission.reply)
    }

    private mutating func fanOutReplay(_ call: RPCCall) {
        if case .request(_, let method, _) = call, method.elementsEqual("addObserver".utf8) {
            fanOut()
        }
    }

    /// Performs one call; its answer goes to `answerContent`, which stays empty for a notification.
    private mutating func perform(
        _ call: RPCCall, client: UInt64, _ submission: Submission
    ) {
        switch call {
        case .response:
            break  // Nothing is asked of clients yet; a response with an unknown id is ignored.
        case .invalid(let id, let error):
            WireWriter.append(rpcError: error, id: id, to: &answerContent)
        case .notification(let method, let params):
            effects.reset()
            _ = try? result(of: method, params, client: client, submission)
            answerContent.removeAll(keepingCapacity: true)
        case .request(let id, let method, let params):
            effects.reset()
            do throws(RPCFailure) {
                WireWriter.beginResult(id: id, to: &answerContent)
                try result(of: method, params, client: client, submission)
                WireWriter.endResult(to: &answerContent)
            } catch {
                answerContent.removeAll(keepingCapacity: true)
                WireWriter.append(rpcFailure: error, id: id, to: &answerContent)
            }
        }
    }
}

// MARK: - Methods

extension ServerLoop {
    /// Performs a method, and appends its result.
    private mutating func result(
        of method: [UInt8], _ params: [UInt8]?, client: UInt64, _ submission: Submission
    ) throws(RPCFailure) {
        do throws(Problem) {
            switch String(decoding: method, as: UTF8.self) {
            case "addObserver":
                try callAddObserver(params, client: client, submission)
            case "removeObserver":
                try callRemoveObserver(params, client: client, submission)
            case "post":
                try callPost(params, submission)
            case "observers":
                try callListing(.observers(try RPCParams.observers(params)), submission)
            case "explain":
                let (name, object) = try RPCParams.explain(params, requestReader)
                try callListing(.explain(name: name, object: object), submission)
            default:
                throw RPCFailure.unknownMethod
            }
        } catch {
            throw RPCFailure.problem(error)
        }
    }
}
