import BelfryCenter
import BelfryWire
import Testing

@Suite("RequestReader.response: answers to asks (R7)")
struct AskResponseTests {
    private let reader = RequestReader()

    private func put(
        _ content: String, _ pairs: [(String, String)] = []
    ) throws(Problem) -> Response {
        let content = bytes(content)
        return try reader.response(query: query(pairs), content: content.span)
    }

    /// Reads a message of JSON-RPC.
    private func response(_ message: String, byteRoom: Int = .max) throws -> Response {
        let message = bytes(message)
        let call = try #require(RPCReader().message(in: message.span).calls.first)
        guard case .response(_, let content, let isError, let dataStart) = call else {
            throw Problem(.malformedRequest, "no response")
        }
        return reader.response(
            content: content, isError: isError, dataStart: dataStart, byteRoom: byteRoom,
            in: message.span)
    }

    @Test("the rows of receipts keep results as long as there is room for their bytes")
    func room() throws {
        let message = #"{"jsonrpc":"2.0","id":"o1:1","result":[1]}"#
        #expect(try response(message, byteRoom: 3) == .result(bytes("[1]"), canKeep: true))
        #expect(try response(message, byteRoom: 2) == .result(bytes("[1]"), canKeep: false))
    }

    private func result(_ json: String) throws -> Response {
        try response(#"{"jsonrpc":"2.0","id":"o1:1","result": \#(json) }"#)
    }

    @Test(
        "an answer is any JSON, and reaches the asker as it was sent",
        arguments: [
            "null", "false", "true", "0", "1e0", "\"\"", "[ 1 ,\n2]", #"{ "a" : "\ud800" }"#,
        ])
    func answers(json: String) throws {
        #expect(try put(" \(json)\n") == .result(bytes(json)))
        #expect(try result(json) == .result(bytes(json)))
    }

    @Test("an answer has at most 256 KiB; a longer one counts as a refusal")
    func size() throws {
        let longest = "\"\(String(repeating: "x", count: 262_142))\""
        #expect(try put(longest) == .result(bytes(longest)))
        #expect(try result(longest) == .result(bytes(longest)))
        let refusal = Response.oversized(
            error: bytes(
                #"{"code":-32000,"message":"The answer has 262145 bytes, "#
                    + #"over the limit of 262144."}"#
            ))
        let tooLong = "\"x" + longest.dropFirst()
        #expect(try put(tooLong) == refusal)
        #expect(try result(tooLong) == refusal)
    }

    @Test("an answer nests at most 64 deep; a deeper one counts as a refusal")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try put(nested(64)) == .result(bytes(nested(64))))
        #expect(try result(nested(64)) == .result(bytes(nested(64))))
        let refusal = Response.oversized(
            error: bytes(#"{"code":-32000,"message":"The answer nests deeper than 64 levels."}"#))
        for depth in [65, 127] {
            #expect(try put(nested(depth)) == refusal)
            #expect(try result(nested(depth)) == refusal)
        }
    }

    @Test("an error is a refusal, and is kept in at most 1 KiB")
    func refusals() throws {
        let error = #"{ "code":1,"message":"no" }"#
        #expect(try put(error, [("outcome", "refused")]) == .refusal(bytes(error)))
        #expect(
            try response(#"{"jsonrpc":"2.0","id":"o1:1","error":\#(error)}"#)
                == .refusal(bytes(error)))
        #expect(try put(#""busy""#, [("outcome", "refused")]) == .refusal(bytes(#""busy""#)))
        let long = #"{"code":7,"message":"\#(String(repeating: "x", count: 2_000))"}"#
        let kept = try #require(put(long, [("outcome", "refused")]).refusal)
        #expect(kept.count == 1_024)
        #expect(try response(#"{"jsonrpc":"2.0","id":"o1:1","error":\#(long)}"#) == .refusal(kept))
    }

    @Test("over HTTP a refusal needs no error", arguments: ["", " \n"])
    func noError(content: String) throws {
        #expect(try put(content, [("outcome", "refused")]) == .refusal(bytes("null")))
    }

    @Test(
        "the error -32601 hands on, with the error as it was sent",
        arguments: [
            #"{"code":-32601,"message":"not me"}"#, #"{"message":"","code":-32601,"data":{}}"#,
        ])
    func passed(error: String) throws {
        #expect(
            try response(#"{"jsonrpc":"2.0","id":"o1:1","error":\#(error)}"#)
                == .passed(bytes(error)))
        #expect(try put(error, [("outcome", "refused")]) == .refusal(bytes(error)))
    }

    @Test(
        "another error does not", arguments: ["-32600", "-32602", "32601", "null", "\"-32601\""])
    func notPassed(code: String) throws {
        let error = #"{"code":\#(code),"message":"not me"}"#
        #expect(
            try response(#"{"jsonrpc":"2.0","id":"o1:1","error":\#(error)}"#)
                == .refusal(bytes(error)))
    }

    @Test("over HTTP outcome=passed hands on, whatever the content", arguments: ["", "{}", "x"])
    func passedOverHTTP(content: String) throws {
        #expect(
            try put(content, [("outcome", "passed")])
                == .passed(bytes(#"{"code":-32601,"message":"Method not found"}"#)))
    }

    @Test(
        "a content that is not JSON is 400", arguments: ["", " ", "yes", "1 2", "{\"a\":}", "[1"])
    func malformed(content: String) {
        #expect(problem { () throws(Problem) in try put(content) }?.kind == .malformedJSON)
        if content.allSatisfy(\.isWhitespace) { return }
        let refused = problem { () throws(Problem) in try put(content, [("outcome", "refused")]) }
        #expect(refused?.kind == .malformedJSON)
    }

    @Test("a fault of the query is told")
    func faults() {
        func faults(_ pairs: [(String, String)]) -> [String]? {
            problem { () throws(Problem) in try put("1", pairs) }?.faultTexts
        }
        #expect(faults([("outcome", "answered")]) == ["?outcome must be refused or passed"])
        #expect(faults([("outcome", "")]) == ["?outcome must be refused or passed"])
        #expect(
            faults([("outcome", "passed"), ("outcome", "passed")])
                == ["?outcome must not be repeated"])
        #expect(faults([("retryAfter", "1")]) == ["?retryAfter is not a known parameter"])
    }
}
