import Testing

@testable import BelfryClient

@Suite("AskAnswer and the request of an ask (Protocol.md section 12)")
struct AskAnswerTests {
    private func answer(_ json: String) throws -> AskAnswer {
        try AskAnswer(json: Array(json.utf8))
    }

    @Test("who has answered, and which addresses were asked")
    func sources() throws {
        let answered = try answer(
            #"{"id":"n1","answer":{"w": 5},"by":"responder","observer":"o17","path":["a","b"]}"#)
        #expect(answered.text == #"{"w": 5}"#)
        #expect(answered.source == .responder(observer: "o17"))
        #expect(answered.path == ["a", "b"])
        let fallback = try answer(
            #"{"id":"n1","answer":null,"by":"default","reason":"no-answer","path":["a"]}"#)
        #expect(fallback.text == "null")
        #expect(fallback.source == .fallback(reason: "no-answer"))
        #expect(try answer(#"{"id":"n1","outcome":"asked"}"#).source == .open)
        #expect(try answer(#"{"id":"n1","state":"asked","path":[]}"#).source == .open)
        #expect(try answer(#"{"id":"n1","state":"withdrawn","path":[]}"#).source == .withdrawn)
        let fate = try answer(
            #"{"id":"n1","state":"answered","answer":1,"by":"responder","observer":"o1","path":[]}"#
        )
        #expect(fate.source == .responder(observer: "o1"))
        #expect(fate.answeredBy == nil && fate.reason == nil)
        let signed = try answer(
            #"{"id":"n1","answer":1,"by":"responder","answeredBy":"ann","reason":"late"}"#)
        #expect(signed.answeredBy == "ann" && signed.reason == "late")
        #expect(throws: ClientError.notUnderstood) { try answer(#"{"id":"n1","by":"responder"}"#) }
        #expect(throws: ClientError.notUnderstood) { try answer(#"{"id":"n1","state":"posted"}"#) }
    }

    @Test("a fate that is a failure is thrown with its problem")
    func failure() throws {
        let problem = #"{"type":"https://belfry.dev/problems/no-answer","status":504}"#
        let error = #expect(throws: ClientError.self) {
            try answer(#"{"id":"n1","state":"failed","problem":\#(problem)}"#)
        }
        guard case .refused(let refusal) = error else {
            Issue.record("\(error.map { "\($0)" } ?? "no error")")
            return
        }
        #expect(refusal.status == 504)
        #expect(refusal.slug == "no-answer")
    }

    @Test("address and selector are segments of the path, and all options go out")
    func request() throws {
        let url = try BrokerURL("http://127.0.0.1:1")
        var options = AskOptions()
        options.fallback = #""none""#
        options.wait = .milliseconds(1_500)
        options.ttl = .seconds(60)
        options.isOnce = true
        options.causedBy = "n0"
        options.idempotencyKey = "k"
        options.ifNobody = .wait
        let request = try HTTPRequest.ask(
            "a/b", "s t", userInfo: UserInfo(json: #"{"n":1}"#), options)
        var bytes: [UInt8] = []
        request.append(url, to: &bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(
            text.hasPrefix(
                "POST /v1/responders/a%2Fb/s%20t?default=%22none%22&once=true&ttl=60.0&causedBy=n0"
                    + "&ifNobody=wait "))
        #expect(text.contains("\r\nPrefer: respond-async, wait=2\r\n"))
        #expect(text.contains("\r\nIdempotency-Key: k\r\n"))
        #expect(text.hasSuffix(#"{"n":1}"#))
        options.idempotencyKey = "a b"
        #expect(throws: ClientError.invalidIdempotencyKey) {
            try HTTPRequest.ask("a", "s", options)
        }
    }
}
