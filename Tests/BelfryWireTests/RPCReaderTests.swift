import BelfryWire
import Testing

@Suite("RPCReader (JSON-RPC 2.0)")
struct RPCReaderTests {
    private let reader = RPCReader()

    private func message(_ body: String) -> RPCMessage {
        let body = bytes(body)
        return reader.message(in: body.span)
    }

    /// A call in short: its kind, its id, its method and its params.
    private func calls(_ body: String) -> [String] {
        message(body).calls.map { call in
            func part(_ range: Range<Int>?) -> String {
                range.map { text([UInt8](bytes(body)[$0])) } ?? "none"
            }
            switch call {
            case .request(let id, let method, let params):
                return "request \(text(id)) \(text(method)) \(part(params))"
            case .notification(let method, let params):
                return "notification \(text(method)) \(part(params))"
            case .response(let id, let content, let isError, let dataStart):
                let about = dataStart == 0 ? "" : " about \(dataStart)"
                return "\(isError ? "error" : "result") \(text(id)) \(part(content))\(about)"
            case .invalid(let id, let code, _):
                return "\(code.rawValue) \(id.map { text($0) } ?? "unanswered")"
            }
        }
    }

    @Test(
        "the examples of the specification",
        arguments: [
            (
                #"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#,
                ["-32602 1"], false
            ),
            (
                #"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23}, "id": 3}"#,
                [#"request 3 subtract {"subtrahend": 23}"#], false
            ),
            (
                #"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#,
                ["-32602 unanswered"], false
            ),
            (#"{"jsonrpc": "2.0", "method": "foobar"}"#, ["notification foobar none"], false),
            (
                #"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#,
                [#"request "1" foobar none"#], false
            ),
            (
                #"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#,
                ["-32700 null"], false
            ),
            (#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, ["-32600 null"], false),
            (
                #"[{"jsonrpc":"2.0","method":"sum","params":[1],"id":"1"},{"jsonrpc":"2.0","me"#,
                ["-32700 null"], false
            ),
            ("[]", ["-32600 null"], false),
            ("[1]", ["-32600 null"], true),
            ("[1,2,3]", ["-32600 null", "-32600 null", "-32600 null"], true),
            (
                #"[{"jsonrpc":"2.0","method":"a","id":"1"},{"jsonrpc":"2.0","method":"b"},"#
                    + #"{"foo":"boo"},{"jsonrpc":"2.0","method":"c","id":9}]"#,
                [#"request "1" a none"#, "notification b none", "-32600 null", "request 9 c none"],
                true
            ),
        ])
    func examples(body: String, expected: [String], isBatch: Bool) {
        #expect(calls(body) == expected)
        #expect(message(body).isBatch == isBatch)
    }

    @Test(
        "an id is repeated as its bytes",
        arguments: [#""\u0061\ud800""#, "12345678901234567890123", "1.50", "-0", "null", #""""#])
    func ids(id: String) {
        #expect(
            calls("{\"jsonrpc\":\"2.0\",\"id\": \(id) ,\"method\":\"x\"}") == [
                "request \(id) x none"
            ])
    }

    @Test("an id of another kind is invalid", arguments: ["{}", "[1]", "true", "false"])
    func wrongIDs(id: String) {
        #expect(calls("{\"id\":\(id),\"jsonrpc\":\"2.0\",\"method\":\"x\"}") == ["-32600 null"])
    }

    @Test(
        "what is neither a call nor an answer is invalid, with its id when it has one",
        arguments: [
            (#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, "-32600 1"),
            (#"{"id":1,"method":"x"}"#, "-32600 1"),
            (#"{"jsonrpc":2.0,"id":1,"method":"x"}"#, "-32600 1"),
            (#"{"jsonrpc":"2.0","id":1}"#, "-32600 1"), ("{}", "-32600 null"), ("7", "-32600 null"),
            (#"{"jsonrpc":"2.0","id":1,"method":null}"#, "-32600 1"),
            (#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, "-32600 1"),
            (#"{"jsonrpc":"2.0","id":1,"id":1,"method":"x"}"#, "-32600 null"),
            (#"{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}"#, "-32600 1"),
            (#"{"jsonrpc":"2.0","id":1,"method":"x","result":1}"#, "-32600 1"),
            (#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#, "-32600 1"),
            (#"{"jsonrpc":"2.0","result":1}"#, "-32600 null"),
            (#"{"jsonrpc":"2.0","id":1,"method":"x","params":null}"#, "-32602 1"),
            (#"{"jsonrpc":"2.0","id":1,"method":"x","params":"p"}"#, "-32602 1"),
        ])
    func invalid(body: String, expected: String) {
        #expect(calls(body) == [expected])
    }

    @Test(
        "the version is a text, however it is written",
        arguments: [
            (#""2.0""#, true), (#""\u0032.0""#, true), (#""2\u002e\u0030""#, true),
            (#""2.1""#, false), (#""2x0""#, false), (#""3.0""#, false), (#""2.00""#, false),
            (#""""#, false), (#""\ud800""#, false), ("12.01", false), ("2.0", false),
            ("[2.0]", false), ("false", false), (#"["2.0"]"#, false),
        ])
    func version(text: String, isGood: Bool) {
        let expected = isGood ? "request 1 x none" : "-32600 1"
        #expect(calls("{\"id\":1,\"jsonrpc\": \(text) ,\"method\":\"x\"}") == [expected])
    }

    @Test("answers to our requests are told apart from calls, and unknown members pass")
    func responses() {
        #expect(calls(#"{"jsonrpc":"2.0","id":7,"result": null}"#) == ["result 7 null"])
        let error = #"{"error":{"code":1},"jsonrpc":"2.0","id":"a","trace":[1],"\udc00":2}"#
        #expect(calls(error) == [#"error "a" {"code":1}"#])
    }

    @Test("a parse error tells its place")
    func place() {
        let call = message("{\"jsonrpc\":}").calls.first
        let expected = RPCCall.invalid(
            id: bytes("null"), code: .parseError,
            detail: "The message is not valid JSON: unexpected byte at offset 11.")
        #expect(call == expected)
        #expect(calls("") == ["-32700 null"])
        #expect(calls("{} {}") == ["-32700 null"])
    }

    @Test("a batch has at most 1,000 calls")
    func border() {
        func batch(_ count: Int) -> String {
            "[" + Array(repeating: "1", count: count).joined(separator: ",") + "]"
        }
        #expect(message(batch(1_000)).calls.count == 1_000)
        let tooLong = message(batch(1_001))
        #expect(!tooLong.isBatch)
        #expect(calls(batch(1_001)) == ["-32600 null"])
        #expect(calls(batch(1_001) + "x") == ["-32700 null"])
    }

    @Test("params nest at most 128 deep")
    func depth() {
        func body(_ depth: Int) -> String {
            let open = String(repeating: "{\"a\":", count: depth - 1)
            return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":\(open){}"
                + String(repeating: "}", count: depth)
        }
        #expect(calls(body(128))[0].hasPrefix("request"))
        #expect(calls(body(129)) == ["-32700 null"])
    }
}
