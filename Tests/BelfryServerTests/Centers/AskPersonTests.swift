import BelfryWire
import Testing

@testable import BelfryAccess
@testable import BelfryServer

@Suite("Asks that people answer: who, why, and what they see (rules R21 to R23)")
struct AskPersonTests {
    /// A broker in which Ann and Bob have a key each, and anonymous callers may do the same.
    private static func stage(loopCount: Int = 1) throws -> AskStage {
        var keys = Keys()
        let grants = #"[{"verbs":["post","observe","respond","ask","inspect"]}]"#
        keys.add("a", principal: "ann", grants)
        keys.add("b", principal: "Jürgen %", grants)
        let keyring = try keys.keyring()
        return try AskStage(loopCount: loopCount) {
            $0.keyring = keyring
            $0.anonymousGrants = .loopbackDefault
        }
    }

    private static let async = "Prefer: respond-async"

    @Test("R22: the answer and its fate name the principal of the answerer, and the reason")
    func answeredBy() throws {
        let stage = try Self.stage()
        let ann = try stage.broker.webSocket(fields: [Keys.field("a")])
        try stage.respond(ann, "w", ["a"])
        let asking = try stage.begin("w", "a")
        try stage.reply(ann, #""result":true,"data":{"reason":"It is tested."}"#)
        let answer = try #require(try asking.read()).json
        #expect(answer["answeredBy"] == "ann")
        #expect(answer["reason"] == "It is tested.")
        let fate = try stage.broker.get("/v1/notifications/\(answer["id"].text ?? "?")").json
        #expect(fate["answeredBy"] == "ann" && fate["reason"] == "It is tested.")
    }

    @Test("R22: an anonymous answerer is null; without a reason the member is absent")
    func anonymous() throws {
        let stage = try Self.stage()
        try stage.respond(stage.d, "w", ["a"])
        let asking = try stage.begin("w", "a")
        try stage.answer(stage.d, "1")
        let text = try #require(try asking.read()).text
        #expect(text.contains(#""by":"responder","answeredBy":null,"observer":"#))
        #expect(!text.contains("reason"))
        #expect(Shape.anonymous == Caller.anonymousPrincipal)
    }

    @Test("R22: by PUT the caller answers, not who registered; reason is a parameter")
    func byRequest() throws {
        let stage = try Self.stage()
        let token = try stage.broker.request(
            "POST", "/v1/observers", AskStage.registration("w", ["a"]), fields: [Keys.field("a")]
        ).json["token"].text
        let location = try AskFateTests.ask(stage)
        func answer(_ query: String, _ fields: [String] = []) throws -> Response {
            try stage.broker.request(
                "PUT", "\(location)/answer\(query)", "true",
                fields: ["Belfry-Token: \(token ?? "?")"] + fields)
        }
        let long = String(repeating: "x", count: 1_025)
        #expect(try answer("?reason=\(long)").status == 422)
        #expect(try answer("?reason=").status == 422)
        #expect(try answer("?reason=a&outcome=refused").status == 422)
        #expect(try answer("?reason=\(long.dropLast())").status == 204)
        let fate = try stage.broker.get(location).json
        #expect(fate["answeredBy"] == .null)
        #expect(fate["reason"].text == String(long.dropLast()))
    }

    @Test("R22: a reason over JSON-RPC is cut at 1 KiB, and other data has none")
    func reasonOfCall() throws {
        let stage = try Self.stage()
        try stage.respond(stage.d, "w", ["a"])
        let long = String(repeating: "ü", count: 600)
        for (data, reason) in [
            (#"{"reason":"\#(long)"}"#, String(long.prefix(512))), (#"{"reason":7}"#, nil),
            ("[1]", nil), (#"{"more":{"reason":"x"}}"#, nil),
        ] {
            let asking = try stage.begin("w", "a")
            try stage.reply(stage.d, #""result":1,"data":\#(data)"#)
            #expect(try asking.read()?.json["reason"].text == reason)
        }
    }

    @Test("bare: the answer is the content, and the rest is in fields")
    func bare() throws {
        let stage = try Self.stage()
        let peer = try stage.broker.webSocket(fields: [Keys.field("b")])
        try stage.respond(peer, "w", ["a"])
        let asking = try stage.begin("w", "a", "bare=true")
        try stage.answer(peer, #"{"n":1}"#)
        let answer = try #require(try asking.read())
        #expect(answer.text == #"{"n":1}"#)
        #expect(answer.field("belfry-answer-by") == "responder")
        #expect(answer.field("belfry-answered-by") == "J%C3%BCrgen%20%25")
        #expect(answer.field("belfry-notification")?.count == 26)
        let fallback = try stage.ask("nobody", "a", "bare=true&default=%22no%22")
        #expect(fallback.status == 200 && fallback.text == #""no""#)
        #expect(fallback.field("belfry-answer-by") == "default")
        #expect(fallback.field("belfry-answered-by") == nil)
        #expect(try stage.ask("nobody", "a", "bare=true").status == 503)
        #expect(try stage.ask("w", "a", "bare=1").status == 422)
        let later = try stage.ask("w", "a", "bare=true&ttl=9", fields: [Self.async])
        #expect(later.status == 202 && later.json["outcome"] == "asked")
    }

    @Test("R23: present goes to the responder and into the list, over both protocols")
    func present() throws {
        let stage = try Self.stage()
        try stage.respond(stage.d, "w", ["a"])
        let present =
            #"{"title":"Deploy?","message":"4f2c","choices":[{"label":"Yes","value":true},"#
            + #"{"label":"No","value":null}]}"#
        let asked = try stage.asker.result(
            "ask", #"{"object":"w","selector":"a","ttl":60,"present":\#(present)}"#)
        #expect(asked["outcome"] == "asked")
        let shown = try #require(try stage.asks(stage.d).first)
        #expect(shown["params"]["present"]["choices"][1]["label"] == "No")
        let row = try stage.broker.get("/v1/asks").json["asks"][0]
        #expect(row["present"]["title"] == "Deploy?")
        let escaped = #"%7B%22title%22:%0A%22T%22%7D"#
        let later = try stage.ask("w", "a", "present=\(escaped)&ttl=9", fields: [Self.async])
        #expect(later.status == 202)
        #expect(try stage.asks(stage.d).first?["params"]["present"]["title"] == "T")
    }

    @Test(
        "R23: another form of present is refused, with its place",
        arguments: [
            ("1", "#/present", "must be an object, not a number"),
            (#"{"text":"x"}"#, "#/present", "is not a known field"),
            (#"{"title":7}"#, "#/present/title", "must be a string, not a number"),
            (#"{"choices":{}}"#, "#/present/choices", "must be an array"),
            (#"{"choices":[]}"#, "#/present/choices", "must have 1 to 8 choices"),
            (#"{"choices":[{"label":"a"}]}"#, "#/present/choices/0/value", "is required"),
            (#"{"choices":[{"value":1}]}"#, "#/present/choices/0/label", "is required"),
            (
                #"{"title":"\#(String(repeating: "x", count: 8_181))"}"#, "#/present",
                "must have at most 8192 bytes"
            ),
        ])
    func faultyPresent(present: String, place: String, detail: String) throws {
        let stage = try Self.stage()
        try stage.respond(stage.d, "w", ["a"])
        let problem = try stage.asker.problem(
            "ask", #"{"object":"w","selector":"a","present":\#(present)}"#)
        #expect(problem["status"] == 422)
        let error = problem["errors"][0]
        #expect(error["pointer"].text?.hasPrefix(place) == true, "\(error)")
        #expect(error["detail"].text == detail, "\(error)")
    }

    @Test("R23: eight choices, and 8 KiB, are let in")
    func largestPresent() throws {
        let stage = try Self.stage()
        try stage.respond(stage.d, "w", ["a"])
        let choices = (1...8).map { #"{"label":"\#($0)","value":\#($0)}"# }.joined(separator: ",")
        let head = #"{"choices":[\#(choices)],"title":""#
        let present = head + String(repeating: "x", count: 8_192 - head.utf8.count - 2) + #""}"#
        let asked = try stage.asker.result(
            "ask", #"{"object":"w","selector":"a","ttl":60,"present":\#(present)}"#)
        #expect(asked["outcome"] == "asked")
    }

    @Test("R21: ifNobody=wait keeps a stored ask for the first responder", arguments: [1, 2])
    func ifNobody(loopCount: Int) throws {
        let stage = try Self.stage(loopCount: loopCount)
        #expect(try stage.ask("w", "a", "ifNobody=wait").status == 422)
        #expect(try stage.ask("w", "a", "ifNobody=no&ttl=9", fields: [Self.async]).status == 422)
        let problem = try stage.asker.problem(
            "ask", #"{"object":"w","selector":"a","ifNobody":"wait"}"#)
        #expect(problem["errors"][0]["detail"] == "requires ttl")
        let location = try AskFateTests.ask(stage, "ifNobody=wait&ttl=60")
        let row = try stage.broker.get("/v1/asks").json["asks"][0]
        #expect(row["state"] == "held" && !row.has("observer"))
        try stage.respond(stage.d, "w", ["a"])
        try stage.answer(stage.d, "1")
        #expect(try stage.broker.get(location).json["answer"] == 1)
        let refused = try stage.ask("w2", "a", "ifNobody=refuse&ttl=9", fields: [Self.async])
        #expect(refused.status == 503)
    }
}
