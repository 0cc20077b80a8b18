import BelfryBytes
public import BelfryCenter
internal import BelfryJSON

// Asks over HTTP, and the answers to all of them.
extension RequestReader {
    /// Reads an ask: the content is the userInfo, as in a post to a channel.
    ///
    /// Address and selector come percent-decoded from the path; the query has the options.
    /// - Throws: malformed-json, content-too-large or invalid-fields.
    public func ask(
        object: [UInt8], selector: [UInt8], query: [QueryParameter], content: Span<UInt8>
    ) throws(Problem) -> AskRequest {
        var fields = FieldReader(limits: limits)
        let userInfo = try wholeUserInfo(content, &fields)
        if let fault = TextRule.faultOfName(object.span, limits: limits) {
            fields.faults.add(.parameter("object"), fault)
        }
        if let fault = TextRule.faultOfSelector(selector, limits: limits) {
            fields.faults.add(.parameter("selector"), fault)
        }
        var ask = AskFields()
        if !query.isEmpty {
            var reader = QueryReader(limits: limits, faults: fields.faults)
            for parameter in query {
                guard let option = reader.key(of: parameter, in: AskFields.parameters) else {
                    continue
                }
                try ask.read(option, from: &reader, in: parameter.value.span)
            }
            fields.faults = reader.faults
        }
        try fields.faults.check()
        return AskRequest(
            content: PostFields.content(
                name: selector, object: object, userInfo: userInfo, of: content),
            causedBy: ask.causedBy, fallback: ask.fallback, isOnce: ask.isOnce,
            timeToLive: ask.timeToLive, options: ask.options)
    }

    /// Reads what an observer answers over HTTP: the content is any JSON.
    ///
    /// With `outcome=refused` it is the error, which may be absent; with `outcome=passed` it is not
    /// looked at. An answer may have a `reason`.
    /// - Throws: malformed-json or invalid-fields.
    public func response(
        query: [QueryParameter], content: Span<UInt8>
    ) throws(Problem) -> Response {
        var (isRefused, isPassed) = (false, false)
        var reason: [UInt8]?
        var reader = QueryReader(limits: limits)
        for parameter in query {
            switch reader.key(of: parameter, in: Self.responseTable) {
            case .outcome:
                isRefused = parameter.value.elementsEqual("refused".utf8)
                isPassed = parameter.value.elementsEqual("passed".utf8)
                if !isRefused, !isPassed { reader.addFault("must be refused or passed") }
            case .reason:
                reason = parameter.value
                if let fault = TextRule.faultOfReason(parameter.value) { reader.addFault(fault) }
            case nil: continue
            }
        }
        if reason != nil, isRefused || isPassed {
            reader.addFault("is for an answer; a refusal has its error as content")
        }
        try reader.faults.check()
        if isPassed { return .passed(Self.passed) }
        if isRefused, isBlank(content) { return .refusal(Self.null) }
        let json = content.extracting(try wholeValue(content))
        return isRefused ? .refusal(RPC.refusal(error: json)) : answer(json, reason: reason)
    }

    /// Reads what an observer answers over JSON-RPC: the result or the error of a response.
    ///
    /// The error -32601 hands on. The member `data` beside a result may have a `reason`.
    ///
    /// - Parameter byteRoom: how many bytes of results the rows of receipts have room for.
    public func response(
        content: Range<Int>, isError: Bool, dataStart: Int = 0, byteRoom: Int,
        in message: Span<UInt8>
    ) -> Response {
        let json = message.extracting(content)
        if !isError {
            return answer(
                json, canKeep: json.count <= byteRoom,
                reason: dataStart == 0 ? nil : RPC.reason(in: message, at: dataStart))
        }
        let error = RPC.refusal(error: json)
        return RPC.handsOn(error: json) ? .passed(error) : .refusal(error)
    }

    private enum ResponseKey: String, CaseIterable { case outcome, reason }
    private static let responseTable = JSONKeyTable(ResponseKey.allCases)

    private static let null = [UInt8]("null".utf8)
    /// The response over JSON-RPC that passes an ask on.
    private static let passed = RPC.refusal(
        code: .methodNotFound, RPCErrorCode.methodNotFound.message)

    /// An answer as it was sent; one that is too large or too deep refuses an ask (rule R7).
    private func answer(
        _ json: Span<UInt8>, canKeep: Bool = true, reason: [UInt8]? = nil
    ) -> Response {
        // Valid JSON of four bytes with this start is null, which is how mostly is acknowledged.
        if json.count == 4, json[0] == UInt8(ascii: "n") {
            return .result(Self.null, reason: reason)
        }
        if json.count > limits.answerByteLimit {
            let text =
                "The answer has \(json.count) bytes, over the limit of \(limits.answerByteLimit)."
            return .oversized(error: RPC.refusal(code: .problem, text))
        }
        // Deeper nesting needs two brackets for each level.
        if json.count > 2 * limits.answerDepthLimit, !isFlat(json) {
            let text = "The answer nests deeper than \(limits.answerDepthLimit) levels."
            return .oversized(error: RPC.refusal(code: .problem, text))
        }
        return .result([UInt8](copying: json), canKeep: canKeep, reason: reason)
    }

    private func isFlat(_ json: Span<UInt8>) -> Bool {
        var scanner = JSONScanner(depthLimit: limits.answerDepthLimit)
        do throws(JSONError) {
            _ = try scanner.skipValue(in: json)
            return true
        } catch {
            return false
        }
    }

    /// The range of the value that is the whole content, of any kind.
    private func wholeValue(_ content: Span<UInt8>) throws(Problem) -> Range<Int> {
        var scanner = JSONScanner(depthLimit: FieldReader.greatestDepth)
        do throws(JSONError) {
            let range = try scanner.skipValue(in: content)
            try scanner.finish(in: content)
            return range
        } catch {
            throw .malformed(error, byteCount: content.count, wanted: Problem.anyJSON)
        }
    }
}
