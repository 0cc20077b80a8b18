import BelfryCenter
import Testing

@testable import BelfryWire

@Suite("RPC: acknowledging observers")
struct AcknowledgingTests {
    @Test("a delivery to an acknowledging observer is a request that names it")
    func request() {
        var bench = Bench()
        let notification = bench.post("a", userInfo: "{}")
        let params = written {
            Shape.append(
                notification: notification, isRedelivered: true, observer: 17, to: &$0)
        }
        #expect(params.contains(#""postedAt":"2026-11-21T08:00:00.000Z","observer":"o17","#))
        let request = written {
            RPC.append(
                request: notification, observer: 17, selector: bytes("in\"put:"),
                isRedelivered: true, to: &$0)
        }
        #expect(
            request
                == #"{"jsonrpc":"2.0","id":"o17:1","method":"in\"put:","params":\#(params)}"#)
    }

    @Test("its response comes back with the id, whatever the client's escapes")
    func response() throws {
        let answers = [
            (#"{"jsonrpc":"2.0","id":"o17:1842","result":null}"#, false),
            (#"{"result":{},"id":"\u006f17\u003a1842","jsonrpc":"2.0"}"#, false),
            (#"{"jsonrpc":"2.0","id":"o17:1842","error":{"code":1,"message":""}}"#, true),
        ]
        for (answer, wasRefused) in answers {
            let text = bytes(answer)
            let message = RPCReader().message(in: text.span)
            guard case .response(let id, _, let isError, _)? = message.calls.first else {
                Issue.record("no response: \(answer)")
                continue
            }
            let delivery = RPC.delivery(ofID: id.span)
            #expect(delivery?.observer == 17)
            #expect(delivery?.sequence == 1_842)
            #expect(isError == wasRefused)
        }
    }

    @Test(
        "an id comes back as it went; that of an action names the observer that has the target",
        arguments: [
            (DeliveryName(observer: 0, sequence: 0), "o0:0"),
            (DeliveryName(observer: 17, sequence: 1_842), "o17:1842"),
            (DeliveryName(observer: 3, sequence: 1_851, row: 21), "o3:1851:o21"),
            (
                DeliveryName(observer: .max, sequence: .max, row: .max),
                "o\(UInt64.max):\(UInt64.max):o\(UInt64.max)"
            ),
        ])
    func identifier(delivery: DeliveryName, expected: String) {
        var id: [UInt8] = []
        RPC.appendDeliveryID(delivery, to: &id)
        #expect(text(id) == "\"\(expected)\"")
        #expect(RPC.delivery(ofID: id.span) == delivery)
    }

    @Test(
        "what was never given is nil",
        arguments: [
            "null", "17", "\"\"", "\"o17\"", "\"o17:\"", "\":1\"", "\"c17:1\"", "\"o17.x:1\"",
            "\"o17:01\"", "\"o17:-1\"", "\"o17:1:1\"", "\"o17:18446744073709551616\"",
            "\"o17:1 \"", #""\u006f17""#, #""\ud800""#, "\"", "",
        ])
    func unknown(id: String) {
        let id = bytes(id)
        #expect(RPC.delivery(ofID: id.span) == nil)
    }

    private func refusal(_ json: String) -> String {
        let json = bytes(json)
        return text(RPC.refusal(error: json.span))
    }

    @Test("an error of at most 1 KiB is kept as it came")
    func short() {
        let small = #"{ "message" : "no\ud800", "code":1e0,"data":[{}]}"#
        #expect(refusal(small) == small)
        #expect(refusal("null") == "null")
        let largest = #"{"code":1,"message":""# + String(repeating: "x", count: 1_024 - 23) + #""}"#
        #expect(largest.utf8.count == 1_024)
        #expect(refusal(largest) == largest)
        let cut = refusal(largest.replacing("\"}", with: "x\"}"))
        #expect(cut.utf8.count == 1_024)
        #expect(cut == largest)
    }

    @Test(
        "a longer one has its code, and as much of its message as fits",
        arguments: ["x", "é", "𝄞", "\\\"", "\\u0001", "\\n", "\\ud834\\udd1e"])
    func long(piece: String) throws {
        let message = String(repeating: piece, count: 2_000)
        let cut = refusal(#"{"data":[1],"message":"\#(message)","code":-32601}"#)
        #expect(cut.hasPrefix(#"{"code":-32601,"message":""#))
        #expect(cut.hasSuffix(#""}"#))
        // A piece more, of six bytes at most, would not have fitted.
        #expect((1_024 - 6 - 6...1_024).contains(cut.utf8.count), "\(cut.utf8.count)")
        #expect(isJSON(cut))
        #expect(refusal(cut) == cut)
    }

    @Test("what has no code and no message to tell becomes an error that says nothing")
    func strange() {
        let long = String(repeating: "x", count: 2_000)
        let nothing = #"{"code":0,"message":""}"#
        for json in [
            "\"\(long)\"", "[\"\(long)\"]", #"{"data":"\#(long)"}"#,
            #"{"code":"\#(long)","message":[]}"#, #"{"\ud800":"\#(long)","code":1}"#,
            #"{"code":1.5,"message":"\ud800\#(long)"}"#,
        ] {
            #expect(refusal(json) == nothing, "\(json.prefix(40))")
        }
        let code = #"{"code":7,"message":null,"data":"\#(long)"}"#
        #expect(refusal(code) == #"{"code":7,"message":""}"#)
    }

    private func isJSON(_ json: String) -> Bool {
        let message = bytes(json)
        let call = RPCReader().message(in: message.span).calls.first
        if case .invalid(_, .parseError, _)? = call { return false }
        return true
    }
}
